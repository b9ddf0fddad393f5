"""Binning of features: at most 256 bins, exact for features with at most 256 distinct values.

Bin b of a feature holds the values in [lowest[b], highest[b]], with highest[b] < lowest[b + 1];
the codes of a feature are 0 ... n_bins - 1 in order of value, and n_bins is "missing".
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t

from cwboost._kernels.common.cpu cimport instruction_set
from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "trees/binning.h" nogil:
    enum:
        CWB_BOUNDS
    ctypedef struct cwb_binning_kernels:
        void (*codes)(const double*, int64_t, const double*, int, uint8_t*) noexcept nogil
    const cwb_binning_kernels* const cwb_binning_tables[]

cdef const cwb_binning_kernels* kernels = cwb_binning_tables[instruction_set()]


cdef int64_t group_column(
    const double *values, const int64_t *counts, int64_t n, int64_t max_bins, double *lowest,
    double *highest
) noexcept nogil:
    """Bin one feature; returns the number of bins."""
    cdef int64_t i, n_bins = 0, placed = 0, left = 0, bins_left = max_bins
    cdef bint exact = n <= max_bins, close
    for i in range(n):
        left += counts[i]
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
    return n_bins


def group_values(const double[::1] values, const int64_t[::1] counts,
                 const int64_t[::1] starts, const int64_t[::1] max_bins,
                 double[::1] lowest, double[::1] highest, int32_t[::1] n_bins):
    """Merge neighbouring distinct values of features into bins of about equal counts.

    A bin is closed when it holds its share of the examples not yet placed, or when the next value
    alone fills a share, so that a frequent value gets its own bin. If there are at most as many
    values as bins, every value is a bin.

    Parameters
    ----------
    values : memoryview of shape (n_values,), dtype float64
        Distinct values of each feature, ascending, feature after feature.
    counts : memoryview of shape (n_values,), dtype int64
    starts : memoryview of shape (n_features + 1,), dtype int64
        Begin of the values of each feature.
    max_bins : memoryview of shape (n_features,), dtype int64
        At least 1 each.
    lowest, highest : memoryviews of shape (n_values,), dtype float64
        Filled from ``starts[f]`` on with the smallest and largest value of each bin.
    n_bins : memoryview of shape (n_features,), dtype int32
        Filled.
    """
    cdef Py_ssize_t f
    if values.shape[0] == 0:
        n_bins[:] = 0
        return
    for f in range(n_bins.shape[0]):
        n_bins[f] = <int32_t> group_column(
            &values[0] + starts[f], &counts[0] + starts[f], starts[f + 1] - starts[f],
            max_bins[f], &lowest[0] + starts[f], &highest[0] + starts[f])


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
        kernels.codes(value, m, bounds, <int> n_bins, codes + first)


def encode_columns(const feature_t[:, :] columns, const double[::1] highest,
                   const int64_t[::1] bin_start, uint8_t[:, ::1] codes, int n_threads):
    """Write the codes of dense features, one row per feature.

    Parameters
    ----------
    columns : memoryview of shape (n_features, n_rows), dtype uint8, float32 or float64
        With any strides: a matrix need not be copied.
    highest : memoryview, dtype float64
        Largest value of every bin, feature after feature.
    bin_start : memoryview of shape (n_features + 1,), dtype int64
        Begin of the bins of each feature in `highest`.
    codes : memoryview of shape (n_features, n_rows), dtype uint8
        Filled.
    n_threads : int
    """
    cdef int64_t n_features = columns.shape[0], n_rows = columns.shape[1], task, f, first
    cdef int64_t step = columns.strides[1] // <int64_t> sizeof(feature_t)
    cdef int64_t n_tasks = n_features * ((n_rows + ROWS - 1) // ROWS)
    for task in prange(n_tasks, nogil=True, num_threads=n_threads, schedule="static"):
        f, first = task % n_features, task // n_features * ROWS
        codes_of(&columns[f, first], step, min(<int64_t> ROWS, n_rows - first),
                 &highest[0] + bin_start[f], bin_start[f + 1] - bin_start[f], &codes[f, first])


def copy_columns(const feature_t[:, :] columns, feature_t[:, ::1] out):
    """Copy columns of a matrix so that each is contiguous.

    Parameters
    ----------
    columns : memoryview of shape (n_features, n_rows), dtype uint8, float32 or float64
        With any strides.
    out : memoryview of the same shape and dtype
        Filled.
    """
    cdef int64_t n_features = columns.shape[0], n_rows = columns.shape[1]
    cdef int64_t first, last, f, i
    if out.shape[0] != n_features or out.shape[1] != n_rows:
        raise ValueError("out must have the shape of the columns")
    for first in range(0, n_rows, ROWS):
        last = min(n_rows, first + ROWS)
        for f in range(n_features):
            for i in range(first, last):
                out[f, i] = columns[f, i]


def encode_entries(const double[::1] values, const int64_t[::1] indptr,
                   const double[::1] highest, const int64_t[::1] bin_start,
                   uint8_t[::1] codes, int n_threads):
    """Write codes of the stored entries of a sparse matrix by column; see `encode_columns`."""
    cdef Py_ssize_t f, n_features = indptr.shape[0] - 1
    if values.shape[0] == 0:
        return
    for f in prange(n_features, nogil=True, num_threads=n_threads, schedule="static"):
        codes_of(&values[0] + indptr[f], 1, indptr[f + 1] - indptr[f],
                 &highest[0] + bin_start[f], bin_start[f + 1] - bin_start[f],
                 &codes[0] + indptr[f])
