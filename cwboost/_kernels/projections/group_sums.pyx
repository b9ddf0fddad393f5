"""Sums over two groups of examples: those of positive and those of negative weight.

Sums run over the examples in their order, so that they have the same bits on every processor.
"""

from cython.parallel cimport prange
from libc.stdint cimport int64_t, uint8_t

import numpy as np

from cwboost._kernels.common.aligned import aligned_zeros
from cwboost._kernels.common.cpu cimport instruction_set
from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "projections/means.h" nogil:
    enum:
        CWB_MEANS_ROWS
    ctypedef struct cwb_means_kernels:
        void (*add)(const double *x, int64_t n_features, const double *weights, int64_t width,
                    int64_t n_rows, double *sums) noexcept nogil
    const cwb_means_kernels *cwb_means_tables[]

cdef const cwb_means_kernels *kernels = cwb_means_tables[instruction_set()]

cdef enum:
    CHUNK = 32768  # rows whose sums are formed apart, on any number of threads


def group_sums(const feature_t[:, :] X, const double[:, :] weights, const int64_t[::1] features,
               int n_threads):
    """Return the masses of both groups of all targets, and the weighted sums of features.

    Rows without weights are left out.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), dtype uint8, float32 or float64
    weights : ndarray of shape (n_targets, n_samples), dtype float64
    features : ndarray of shape (n_chosen,), dtype int64
        Indices in [0, n_features).
    n_threads : int

    Returns
    -------
    masses : ndarray of shape (2 * n_targets,), dtype float64
        Of the positive weights of each target, then of the negative ones.
    sums : ndarray of shape (2 * n_targets, n_chosen), dtype float64
        Of the products with these magnitudes, added in the order of the rows within chunks of
        32,768, whose sums are added in their order. Cost: ``2 n_rows n_chosen n_targets``
        multiplications.
    """
    cdef int64_t n = X.shape[0], k = features.shape[0], n_targets = weights.shape[0], c
    cdef int64_t n_chunks = (n + CHUNK - 1) // CHUNK, width = (2 * n_targets + 7) // 8 * 8
    check_fit(n, X.shape[1], weights.shape[1], features)
    # The masses are sums of a further feature that is one.
    slots = aligned_zeros((n_chunks * (k + 1), width))
    cdef double[:, ::1] sums = slots
    cdef double[:, ::1] tiles = aligned_zeros((n_threads * CWB_MEANS_ROWS, width))
    cdef double[:, ::1] x = aligned_zeros((n_threads * CWB_MEANS_ROWS, k + 1))
    for c in prange(n_chunks if n_targets else 0, nogil=True, num_threads=n_threads,
                    schedule="dynamic"):
        sum_chunk(X, weights, features, c * CHUNK, tiles, x, &sums[c * (k + 1), 0])
    found = np.zeros((k + 1, width))
    for chunk in slots.reshape(n_chunks, k + 1, width):
        found += chunk
    found = found[:, :2 * n_targets].T.copy()
    return found[:, k], found[:, :k]


cdef void sum_chunk(
    const feature_t[:, :] X, const double[:, :] weights, const int64_t[::1] features,
    int64_t first, double[:, ::1] tiles, double[:, ::1] all_x, double *sums
) noexcept nogil:
    """Add up the rows of a chunk that have weights."""
    cdef int64_t own = omp_get_thread_num() * CWB_MEANS_ROWS, k = features.shape[0]
    cdef int64_t start = first, n_targets = weights.shape[0], width = tiles.shape[1]
    cdef int64_t end = min(first + CHUNK, X.shape[0]), size, count, i, t, f
    cdef int64_t[CWB_MEANS_ROWS] rows
    cdef uint8_t[CWB_MEANS_ROWS] used
    cdef double *tile = &tiles[own, 0]
    cdef double *x = &all_x[own, 0]
    cdef double weight
    while start < end:
        size, count = min(<int64_t> CWB_MEANS_ROWS, end - start), 0
        for i in range(size):
            used[i] = 0
        for t in range(n_targets):
            for i in range(size):
                used[i] |= weights[t, start + i] != 0.0
        for i in range(size):
            rows[count] = start + i
            count += used[i]
        for t in range(n_targets):
            for i in range(count):
                weight = weights[t, rows[i]]
                tile[i * width + t] = weight if weight > 0.0 else 0.0
                tile[i * width + n_targets + t] = 0.0 if weight > 0.0 else -weight
        for i in range(count):
            for f in range(k):
                x[i * (k + 1) + f] = <double> X[rows[i], features[f]]
            x[i * (k + 1) + k] = 1.0
        kernels.add(x, k + 1, tile, width, count, sums)
        start += size


cdef check_fit(int64_t n_rows, int64_t n_features, int64_t n_samples, const int64_t[::1] features):
    """Check the shape of X and the features."""
    cdef int64_t f
    if n_rows != n_samples:
        raise ValueError(f"X must have {n_samples} rows, got {n_rows}")
    for f in range(features.shape[0]):
        if not 0 <= features[f] < n_features:
            raise ValueError(f"features must be in [0, {n_features}), got {features[f]}")
