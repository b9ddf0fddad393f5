"""Means of two groups of examples: those of positive and those of negative weight.

Sums run over the examples in their order, so that they have the same bits on every processor.
"""

from libc.stdint cimport int64_t

import numpy as np

from cwboost._kernels.common.aligned import aligned_zeros
from cwboost._kernels.common.cpu cimport instruction_set
from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "projections/means.h" nogil:
    enum:
        CWB_MEANS_ROWS
    ctypedef struct cwb_means_kernels:
        void (*add)(const double *x, int64_t n_features, const double *weights, int64_t width,
                    int64_t n_rows, double *sums) noexcept nogil
    const cwb_means_kernels *cwb_means_tables[]

cdef const cwb_means_kernels *kernels = cwb_means_tables[instruction_set()]


def group_weights(const double[:, :] weights, const int64_t[::1] rows):
    """Scale positive and negative weights of each target to the sums 1 and -1.

    Parameters
    ----------
    weights : ndarray of shape (n_targets, n_samples), dtype float64
    rows : ndarray of shape (n_rows,), dtype int64
        Indices of the examples, in [0, n_samples).

    Returns
    -------
    ndarray of shape (n_rows, n_targets), dtype float64
        Zeros for a target without weights of both signs. Cost: two passes over the weights.
    """
    cdef double[:, ::1] masses = group_masses(weights, rows)
    cdef int64_t n = rows.shape[0]
    scaled = np.zeros((n, weights.shape[0]))
    cdef double[:, ::1] out = scaled
    if n and weights.shape[0]:
        scale_weights(weights, rows, 0, n, masses, &out[0, 0], out.shape[1])
    return scaled


def group_differences(const feature_t[:, :] X, const double[:, :] weights,
                      const int64_t[::1] rows, const int64_t[::1] features):
    """Return the means of the features in the group of positive weight less those in the other.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), dtype uint8, float32 or float64
    weights : ndarray of shape (n_targets, n_samples), dtype float64
    rows : ndarray of shape (n_rows,), dtype int64
        Indices of the examples that count, in [0, n_samples).
    features : ndarray of shape (n_chosen,), dtype int64
        Indices in [0, n_features).

    Returns
    -------
    ndarray of shape (n_targets, n_chosen), dtype float32
        Zeros for a target without weights of both signs; infinite or NaN if the feature is. Cost:
        two passes over the weights, and ``n_rows * n_chosen * n_targets`` multiplications.
    """
    cdef int64_t n = rows.shape[0], k = features.shape[0], n_targets = weights.shape[0]
    cdef int64_t width = (n_targets + 7) // 8 * 8, start = 0, count, i, f
    cdef double[:, ::1] masses = group_masses(weights, rows)
    if X.shape[0] != weights.shape[1]:
        raise ValueError(f"X must have {weights.shape[1]} rows, got {X.shape[0]}")
    for f in range(k):
        if not 0 <= features[f] < X.shape[1]:
            raise ValueError(f"features must be in [0, {X.shape[1]}), got {features[f]}")
    if k == 0 or n_targets == 0:
        return np.zeros((n_targets, k), dtype=np.float32)
    cdef const char *first = <const char *> &X[0, 0] if X.shape[0] else NULL
    cdef const char *row
    cdef int64_t column_step = X.strides[1]
    differences = np.empty((n_targets, k), dtype=np.float32)
    cdef float[:, ::1] out = differences
    cdef double[:, ::1] sums = aligned_zeros((k, width))
    cdef double[:, ::1] tile = aligned_zeros((CWB_MEANS_ROWS, width))
    cdef double[:, ::1] x = aligned_zeros((CWB_MEANS_ROWS, k))
    with nogil:
        while start < n:
            count = min(<int64_t> CWB_MEANS_ROWS, n - start)
            scale_weights(weights, rows, start, count, masses, &tile[0, 0], width)
            for i in range(count):
                row = first + rows[start + i] * X.strides[0]
                for f in range(k):
                    x[i, f] = <double> (<const feature_t *> (row + features[f] * column_step))[0]
            kernels.add(&x[0, 0], k, &tile[0, 0], width, count, &sums[0, 0])
            start += count
        for i in range(n_targets):
            for f in range(k):
                out[i, f] = <float> sums[f, i]
    return differences


cdef double[:, ::1] group_masses(const double[:, :] weights, const int64_t[::1] rows):
    """Return the masses of both groups of each target, (n_targets, 2); check the rows."""
    cdef int64_t n = rows.shape[0], i, t
    cdef double positive, negative, weight
    cdef double[:, ::1] masses = np.empty((weights.shape[0], 2))
    for i in range(n):
        if not 0 <= rows[i] < weights.shape[1]:
            raise ValueError(f"rows must be in [0, {weights.shape[1]}), got {rows[i]}")
    with nogil:
        for t in range(weights.shape[0]):
            positive = negative = 0.0
            for i in range(n):
                weight = weights[t, rows[i]]
                # Without branches, which weights of mixed signs would mispredict.
                positive = positive + (weight if weight > 0.0 else 0.0)
                negative = negative - (0.0 if weight > 0.0 else weight)
            masses[t, 0], masses[t, 1] = positive, negative
    return masses


cdef void scale_weights(
    const double[:, :] weights, const int64_t[::1] rows, int64_t start, int64_t count,
    const double[:, ::1] masses, double *out, int64_t width
) noexcept nogil:
    """Write the weights of some of the rows over the mass of their group, a row per example."""
    cdef int64_t i, t
    cdef double weight
    for t in range(weights.shape[0]):
        if not (masses[t, 0] > 0.0 and masses[t, 1] > 0.0):
            continue
        for i in range(count):
            weight = weights[t, rows[start + i]]
            out[i * width + t] = weight / masses[t, not weight > 0.0]
