"""The best roots of trees of depth 2, all pairs of features in one pass; see pairs.h."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

import numpy as np

from cwboost._kernels.common.cpu cimport cwb_set, instruction_set
from cwboost._kernels.common.openmp cimport omp_get_thread_num

cdef extern from "trees/pairs.h" nogil:
    ctypedef struct cwb_coarse:
        const uint8_t *codes
        int64_t n_bins, n_codes
    ctypedef struct cwb_roots:
        double *edge
        int32_t *child
    int64_t cwb_n_splits(const cwb_coarse *f)
    void cwb_pair_sums "CWB_BEST(pair_sums)"(
        const cwb_coarse *outer, const cwb_coarse *inner, const double *rows, int64_t n,
        int64_t lanes, int64_t stride, double *sums)
    void cwb_try_child "CWB_BEST(try_child)"(
        const double *sums, int64_t n_child, int64_t n_root, int64_t lanes, int64_t stride,
        double *both, int32_t place, cwb_roots known)
    void cwb_turn_sums "CWB_BEST(turn_sums)"(
        const double *sums, int64_t n_outer, int64_t n_inner, int64_t lanes, int64_t stride,
        int64_t turned_stride, double *turned)

cwb_set = instruction_set()
MOST_LANES = 8


def best_roots(const uint8_t[:, ::1] codes, const int64_t[::1] n_bins, const int64_t[::1] n_codes,
               const double[:, ::1] rows, const int32_t[:, ::1] pairs, int n_threads):
    """Return the largest edge of either side of every root, and the child that has it.

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_rows), dtype uint8
        Below ``n_codes[f]``.
    n_bins, n_codes : ndarray of shape (n_features,), dtype int64
        Bins of values, at least one, and codes: one more for missing values, if there are any.
    rows : ndarray of shape (n_rows, n_lanes), dtype float64
        Weights of 1, 2, 4 or 8 targets, whole numbers.
    pairs : ndarray of shape (n_pairs, 2), dtype int32
        Features that may follow each other, in either order; each pair once.
    n_threads : int
        At least one.

    Returns
    -------
    edges : ndarray of shape (2 * n_splits * n_lanes,), dtype float64
        By feature, side, split and lane; -1 without a child. Splits of a feature are those above
        each of its bins with missing values on the right, then, if there are any, on the left.
    children : ndarray of the same shape, dtype int32
    """
    cdef int64_t d = codes.shape[0], n = codes.shape[1], lanes = rows.shape[1], f, k, t, i, most
    cdef int64_t n_pairs = pairs.shape[0], n_all, table_size
    if lanes not in (1, 2, 4, 8) or rows.shape[0] != n:
        raise ValueError(f"rows must have the shape (n_rows, 1, 2, 4 or 8), got {rows.shape[1]}")
    if n_bins.shape[0] != d or n_codes.shape[0] != d or n == 0 or d == 0:
        raise ValueError("codes, n_bins and n_codes do not fit together")
    cdef cwb_coarse *features = <cwb_coarse *> malloc(d * sizeof(cwb_coarse))
    starts = np.zeros(d + 1, dtype=np.int64)
    cdef int64_t[::1] start = starts
    for f in range(d):
        features[f] = cwb_coarse(&codes[f, 0], n_bins[f], n_codes[f])
        start[f + 1] = start[f] + 2 * lanes * cwb_n_splits(features + f)
    n_all, most = start[d], 0
    for f in range(d):
        most = max(most, cwb_n_splits(features + f))
    table_size = most * stride_of(most, lanes)
    edges = np.full((n_threads, n_all), -1.0)
    children = np.full((n_threads, n_all), d, dtype=np.int32)
    space = np.empty((n_threads, 2 * table_size + 8 * most))
    cdef double[:, ::1] edge = edges, room = space
    cdef int32_t[:, ::1] child = children
    for k in prange(n_pairs, nogil=True, schedule="dynamic", num_threads=n_threads):
        t = omp_get_thread_num()
        try_pair(features, pairs[k, 0], pairs[k, 1], &rows[0, 0], n, lanes, table_size,
                 &room[t, 0], &edge[t, 0], &child[t, 0], &start[0])
    free(features)
    # The largest edge, then the first child: the order of the pairs does not count.
    for t in range(1, n_threads):
        for i in range(n_all):
            if edge[t, i] > edge[0, i] or edge[t, i] == edge[0, i] and child[t, i] < child[0, i]:
                edge[0, i], child[0, i] = edge[t, i], child[t, i]
    return edges[0], children[0]


cdef int64_t stride_of(int64_t n_splits, int64_t lanes) noexcept nogil:
    """Return from where to where rows of sums go: by eights."""
    return (n_splits * lanes + 7) // 8 * 8


cdef void try_pair(const cwb_coarse *features, int32_t f, int32_t g, const double *rows, int64_t n,
                   int64_t lanes, int64_t table_size, double *room, double *edge, int32_t *child,
                   const int64_t *start) noexcept nogil:
    """Let each of two features be the child of the other."""
    cdef double *turned = room + table_size
    cdef double *both = turned + table_size
    cdef int64_t n_f = cwb_n_splits(features + f), n_g = cwb_n_splits(features + g)
    cdef int64_t stride = stride_of(n_f, lanes), turned_stride = stride_of(n_g, lanes)
    cwb_pair_sums(features + g, features + f, rows, n, lanes, stride, room)
    cwb_try_child(room, n_g, n_f, lanes, stride, both, g,
                  cwb_roots(edge + start[f], child + start[f]))
    if f != g:
        cwb_turn_sums(room, n_g, n_f, lanes, stride, turned_stride, turned)
        cwb_try_child(turned, n_f, n_g, lanes, turned_stride, both, f,
                      cwb_roots(edge + start[g], child + start[g]))
