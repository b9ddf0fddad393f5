"""Binning of features: at most 256 bins, exact for features with at most 256 distinct values.

Bin b of a feature holds the values in [lowest[b], highest[b]], with highest[b] < lowest[b + 1];
the codes of a feature are 0 ... n_bins - 1 in order of value, and n_bins is "missing".
"""

import numpy as np

from cython.parallel cimport prange
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t

from cwboost._kernels.common.cpu cimport cwb_set, instruction_set
from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "trees/binning.h" nogil:
    enum:
        CWB_BOUNDS
    void cwb_codes "CWB_BEST(codes)"(
        const double* values, int64_t n, const double* bounds, int n_bins, uint8_t* codes)

cwb_set = instruction_set()


def group_values(const double[::1] values, const int64_t[::1] counts, int64_t max_bins):
    """Merge neighbouring distinct values of a feature into bins of about equal counts.

    A bin is closed when it holds its share of the examples not yet placed, or when the next value
    alone fills a share, so that a frequent value gets its own bin. If there are at most as many
    values as bins, every value is a bin. Returns the smallest and the largest value of each bin.
    """
    cdef int64_t i, n = values.shape[0], n_bins = 0, placed = 0, bins_left = max_bins, left
    cdef bint exact = n <= max_bins, close
    low, high = np.empty(n), np.empty(n)
    cdef double[::1] lowest = low, highest = high
    left = np.sum(counts)
    for i in range(n):
        if placed == 0:
            lowest[n_bins] = values[i]
        placed += counts[i]
        close = i + 1 == n or exact
        if not close and bins_left > 1:
            close = (placed * bins_left >= left or counts[i + 1] * bins_left >= left)
        if close:
            highest[n_bins] = values[i]
            n_bins += 1
            bins_left -= 1
            left -= placed
            placed = 0
    return low[:n_bins].copy(), high[:n_bins].copy()


cdef enum:
    ROWS = 256  # rows taken at a time of all features: they stay in the first caches


cdef void codes_of(
    const feature_t *values, int64_t step, int64_t n, const double *highest, int64_t n_bins,
    uint8_t *codes
) noexcept nogil:
    """Write the first bin whose highest value is not below each value; n_bins for NaN."""
    cdef double[ROWS] value
    cdef double[CWB_BOUNDS] bounds
    cdef int64_t block, first, m, k
    for k in range(CWB_BOUNDS):
        bounds[k] = highest[k] if k < n_bins - 1 else INFINITY
    for block in range((n + ROWS - 1) // ROWS):
        first = block * ROWS
        m = min(<int64_t> ROWS, n - first)
        for k in range(m):
            value[k] = <double> values[(first + k) * step]
        cwb_codes(value, m, bounds, <int> n_bins, codes + first)


def encode_columns(const feature_t[:, :] columns, const double[::1] highest,
                   const int64_t[::1] bin_start, uint8_t[:, :] codes, int n_threads):
    """Write the codes of dense features, (n_features, n_rows), see `Bins` for their bins.

    The last axis of `codes` is contiguous.
    """
    cdef int64_t n_features = columns.shape[0], n_rows = columns.shape[1], task, f, first
    cdef int64_t step = columns.strides[1] // <int64_t> sizeof(feature_t)
    cdef int64_t n_tasks = n_features * ((n_rows + ROWS - 1) // ROWS)
    for task in prange(n_tasks, nogil=True, num_threads=n_threads, schedule="static"):
        f, first = task % n_features, task // n_features * ROWS
        codes_of(&columns[f, first], step, min(<int64_t> ROWS, n_rows - first),
                 &highest[0] + bin_start[f], bin_start[f + 1] - bin_start[f], &codes[f, first])


def encode_entries(const double[::1] values, const int64_t[::1] indptr,
                   const double[::1] highest, const int64_t[::1] bin_start,
                   uint8_t[::1] codes, int n_threads):
    """Write codes of the stored entries of a sparse matrix by column."""
    cdef Py_ssize_t f, n_features = indptr.shape[0] - 1
    if values.shape[0] == 0:
        return
    for f in prange(n_features, nogil=True, num_threads=n_threads, schedule="static"):
        codes_of(&values[0] + indptr[f], 1, indptr[f + 1] - indptr[f],
                 &highest[0] + bin_start[f], bin_start[f + 1] - bin_start[f],
                 &codes[0] + indptr[f])
