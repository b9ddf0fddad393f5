"""Exact sums of weights per bin, feature and target over one partition; see bin_sums.h.

Every thread adds a range of examples into sums of its own. Sums of integers are exact, so the
result has the same bits at any number of threads and in any partitioning of the examples.
"""

import numpy as np

from cython.parallel cimport prange
from libc.stdint cimport int64_t, uint8_t

from cwboost._kernels.common.aligned import aligned_zeros

from cwboost._kernels.common.cpu cimport instruction_set

cdef extern from "partitions/bin_sums.h" nogil:
    const int CWB_LINE, CWB_MOST_TARGETS, CWB_BLOCK_ROWS
    ctypedef struct cwb_targets:
        const double* r
        int64_t stride
        const double* scales
        int n_targets, lanes, more
    ctypedef struct cwb_codes:
        const uint8_t* codes
        int64_t code_stride, n_features
        const int64_t* starts
    ctypedef struct cwb_bin_sums:
        double* sums
        double* squares
        double* rows
    ctypedef struct cwb_bin_sum_kernels:
        void (*bin_sums)(
            const cwb_targets*, const cwb_codes*, int64_t, int64_t,
            const cwb_bin_sums*) noexcept nogil
    const cwb_bin_sum_kernels* const cwb_bin_sum_tables[]

cdef extern from "common/threshold.h" nogil:
    double cwb_float32_threshold_between(double a, double b)

cdef const cwb_bin_sum_kernels* kernels = cwb_bin_sum_tables[instruction_set()]

# Below this number of additions a second thread costs more than it saves.
cdef int64_t PARALLEL_ADDITIONS = 1_000_000


def bin_sums(const double[:, :] weights, const double[::1] scales, const uint8_t[:, ::1] codes,
             const int64_t[::1] starts, int n_threads=1):
    """Return the sums of `BinnedMatrix.sums` for at least one feature and example.

    The codes of feature f, (n_features, n_samples), are below ``starts[f + 1] - starts[f]``.
    """
    cdef int64_t n_targets = weights.shape[0], first = 0, last
    if codes.shape[1] != weights.shape[1] or scales.shape[0] != n_targets:
        raise ValueError(f"expected weights of {codes.shape[1]} examples for {len(scales)} scales, "
                         f"got shape {np.shape(weights)}")
    if weights.shape[1] > 1 and weights.strides[1] != sizeof(double):
        raise ValueError("expected weights with a contiguous last axis")
    groups = []
    while first < n_targets:
        last = n_targets if n_targets - first <= CWB_MOST_TARGETS else first + CWB_LINE
        groups.append(some_targets(weights, scales, first, last, codes, starts, n_threads))
        first = last
    if len(groups) == 1:
        return groups[0]
    return np.hstack([sums for sums, _ in groups]), np.hstack([squares for _, squares in groups])


cdef object some_targets(const double[:, :] weights, const double[::1] scales, int64_t first,
                         int64_t last, const uint8_t[:, ::1] codes, const int64_t[::1] starts,
                         int n_threads):
    cdef cwb_targets w
    cdef cwb_codes c
    cdef int64_t n = weights.shape[1], n_codes = starts[starts.shape[0] - 1], task, n_tasks
    w.r, w.stride = &weights[first, 0], weights.strides[0] // <int64_t> sizeof(double)
    w.scales, w.n_targets = &scales[first], <int> (last - first)
    w.lanes = 2 if w.n_targets <= 2 else 4 if w.n_targets <= 4 else 8
    w.more = 0 if w.n_targets <= 8 else 2 if w.n_targets <= 10 else 4
    cdef int64_t size = n_codes * (w.lanes + w.more)
    c.codes, c.code_stride, c.n_features = &codes[0, 0], codes.shape[1], codes.shape[0]
    c.starts = &starts[0]
    n_tasks = n_threads if n * c.n_features * (w.lanes + w.more) >= PARALLEL_ADDITIONS else 1
    # Of every task its sums, then its squares, then its rows: each from the start of a line.
    cdef int64_t squares = (size + 7) // 8 * 8, rows = squares + (w.n_targets + 7) // 8 * 8
    parts = aligned_zeros((n_tasks, rows + CWB_BLOCK_ROWS * (w.lanes + w.more)))
    cdef double[:, ::1] view = parts
    cdef double* own = &view[0, 0]
    cdef int64_t stride = view.shape[1]
    for task in prange(n_tasks, nogil=True, num_threads=<int> n_tasks, schedule="static",
                       chunksize=1):
        add_range(&w, &c, n * task // n_tasks, n * (task + 1) // n_tasks, own + task * stride,
                  squares, rows)
    whole = parts[0] if n_tasks == 1 else parts[:, :rows].sum(axis=0)
    first_lanes = whole[: n_codes * w.lanes].reshape(n_codes, w.lanes)
    rest = whole[n_codes * w.lanes : size].reshape(n_codes, w.more)
    sums = np.hstack([first_lanes[:, : w.n_targets], rest[:, : w.n_targets - w.lanes]])
    return sums, whole[squares : squares + w.n_targets].copy()


cdef void add_range(const cwb_targets* w, const cwb_codes* c, int64_t start, int64_t end,
                    double* own, int64_t squares, int64_t rows) noexcept nogil:
    cdef cwb_bin_sums out
    out.sums, out.squares, out.rows = own, own + squares, own + rows
    kernels.bin_sums(w, c, start, end, &out)


def thresholds_between(const double[::1] low, const double[::1] high):
    """Return thresholds halfway between pairs of values, float32 numbers where there is one.

    Parameters
    ----------
    low, high : ndarray of shape (n,), dtype float64
        ``low <= high``.

    Returns
    -------
    ndarray of shape (n,), dtype float64
        ``low <= threshold < high`` if these differ, and the same for their roundings to float32.
    """
    cdef Py_ssize_t k
    if low.shape[0] != high.shape[0]:
        raise ValueError("expected as many lower as upper values")
    found = np.empty(low.shape[0])
    cdef double[::1] out = found
    for k in range(low.shape[0]):
        out[k] = cwb_float32_threshold_between(low[k], high[k])
    return found
