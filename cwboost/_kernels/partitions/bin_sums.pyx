"""Exact sums of weights per bin, feature and target over one partition; see bin_sums.h.

Every thread adds a range of examples into sums of its own. Sums of integers are exact, so the
result has the same bits at any number of threads and in any partitioning of the examples.
"""

import numpy as np

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t

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
        void (*rounded)(const cwb_targets*, int64_t, int64_t, double*) noexcept nogil
        void (*squares)(const cwb_targets*, int64_t, int64_t, double*) noexcept nogil
    const cwb_bin_sum_kernels* const cwb_bin_sum_tables[]

cdef extern from "common/threshold.h" nogil:
    double cwb_float32_threshold_between(double a, double b)

cdef const cwb_bin_sum_kernels* kernels = cwb_bin_sum_tables[instruction_set()]

# Below this number of additions a second thread costs more than it saves.
cdef int64_t PARALLEL_ADDITIONS = 1_000_000


def bin_sums(const double[:, :] weights, const double[::1] scales, const uint8_t[:, ::1] codes,
             const int64_t[::1] starts, int n_threads=1):
    """Return the sums of rounded weights in every bin of dense features, and their squares.

    Parameters
    ----------
    weights : ndarray of shape (n_targets, n_samples), dtype float64, last axis contiguous
    scales : ndarray of shape (n_targets,), dtype float64
        A weight r of target t counts as ``round(r * scales[t])``; the absolute values of these
        sum to less than 2**53.
    codes : ndarray of shape (n_features, n_samples), dtype uint8
        Code of every example, below ``starts[f + 1] - starts[f]``.
    starts : ndarray of shape (n_features + 1,), dtype int64
    n_threads : int, default=1

    Returns
    -------
    sums : ndarray of shape (starts[-1], n_targets), dtype float64
        Integers.
    squares : ndarray of shape (n_targets,), dtype float64
        What `coarse_squares` returns.
    """
    cdef int64_t n = weights.shape[1], n_targets = weights.shape[0], first = 0, last
    cdef int64_t n_codes = starts[starts.shape[0] - 1]
    if codes.shape[1] != n or starts.shape[0] != codes.shape[0] + 1:
        raise ValueError("expected codes of shape (n_features, n_samples) and their starts")
    check(weights, scales)
    if n == 0 or codes.shape[0] == 0 or n_targets == 0:
        return np.zeros((n_codes, n_targets)), coarse_squares(weights, scales)
    groups = []
    while first < n_targets:
        last = n_targets if n_targets - first <= CWB_MOST_TARGETS else first + CWB_LINE
        groups.append(some_targets(weights, scales, first, last, codes, starts, n_threads))
        first = last
    if len(groups) == 1:
        return groups[0]
    return np.hstack([sums for sums, _ in groups]), np.hstack([squares for _, squares in groups])


cdef int check(const double[:, :] weights, const double[::1] scales) except -1:
    if scales.shape[0] != weights.shape[0]:
        raise ValueError(f"expected {weights.shape[0]} scales, got {scales.shape[0]}")
    if weights.shape[1] > 1 and weights.strides[1] != sizeof(double):
        raise ValueError("expected weights with a contiguous last axis")
    return 0


cdef cwb_targets targets_of(const double[:, :] weights, const double[::1] scales, int64_t first,
                            int64_t last) noexcept:
    cdef cwb_targets w
    w.r = &weights[first, 0]
    w.stride = weights.strides[0] // <int64_t> sizeof(double)
    w.scales = &scales[first]
    w.n_targets = <int> (last - first)
    w.lanes = 2 if w.n_targets <= 2 else 4 if w.n_targets <= 4 else 8
    w.more = 0 if w.n_targets <= 8 else 2 if w.n_targets <= 10 else 4
    return w


cdef object some_targets(const double[:, :] weights, const double[::1] scales, int64_t first,
                         int64_t last, const uint8_t[:, ::1] codes, const int64_t[::1] starts,
                         int n_threads):
    cdef cwb_targets w = targets_of(weights, scales, first, last)
    cdef cwb_codes c
    cdef int64_t n = weights.shape[1], n_codes = starts[starts.shape[0] - 1], task, n_tasks
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


def entry_sums(const double[:, :] weights, const double[::1] scales, const int64_t[::1] indptr,
               const int32_t[::1] rows, const uint8_t[::1] codes, const int64_t[::1] starts,
               const uint8_t[::1] default_code):
    """Return the same for features with listed entries; all other examples have a default code.

    Parameters
    ----------
    weights, scales, starts
        As for `bin_sums`.
    indptr : ndarray of shape (n_features + 1,), dtype int64
    rows : ndarray of shape (n_entries,), dtype int32
    codes : ndarray of shape (n_entries,), dtype uint8
        The examples with another code than the default one, and their codes.
    default_code : ndarray of shape (n_features,), dtype uint8

    Returns
    -------
    ndarray of shape (starts[-1], n_targets), dtype float64
    """
    cdef int64_t n = weights.shape[1], n_targets = weights.shape[0], f, e, t, lanes
    cdef int64_t n_features = starts.shape[0] - 1
    cdef cwb_targets w
    cdef double[:, ::1] all_rows, sums
    cdef double[::1] rest
    if indptr.shape[0] != n_features + 1 or default_code.shape[0] != n_features:
        raise ValueError("expected the entries of every feature")
    check(weights, scales)
    total = np.zeros((starts[n_features], n_targets))
    if n == 0:
        return total
    for first in range(0, n_targets, CWB_LINE):
        last = min(n_targets, first + CWB_LINE)
        w = targets_of(weights, scales, first, last)
        lanes = w.lanes
        all_rows = np.empty((n, lanes))
        kernels.rounded(&w, 0, n, &all_rows[0, 0])
        whole = np.asarray(all_rows).sum(axis=0)
        part = np.zeros((starts[n_features], lanes))
        sums = part
        for f in range(n_features):
            rest = whole.copy()
            for e in range(indptr[f], indptr[f + 1]):
                for t in range(lanes):
                    sums[starts[f] + codes[e], t] += all_rows[rows[e], t]
                    rest[t] -= all_rows[rows[e], t]
            for t in range(lanes):
                sums[starts[f] + default_code[f], t] += rest[t]
        total[:, first:last] = part[:, : last - first]
    return total


def coarse_squares(const double[:, :] weights, const double[::1] scales):
    """Return the exact sums of squares of every target's weights, in units of 2**52 / scales**2.

    Parameters
    ----------
    weights, scales
        As for `bin_sums`.

    Returns
    -------
    ndarray of shape (n_targets,), dtype float64
        Integers: a weight r counts as the square of ``round(r * scale * 2**-26)``.
    """
    cdef cwb_targets w
    cdef int64_t n = weights.shape[1]
    check(weights, scales)
    found = np.zeros(weights.shape[0])
    cdef double[::1] out = found
    if n == 0 or weights.shape[0] == 0:
        return found
    w = targets_of(weights, scales, 0, weights.shape[0])
    with nogil:
        kernels.squares(&w, 0, n, &out[0])
    return found


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
