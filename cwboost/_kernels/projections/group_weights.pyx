"""Weights of the examples in the means of two groups: those of positive and of negative weight."""

from libc.stdint cimport int64_t

import numpy as np


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
        Zeros for a target without weights of both signs. Sums run over the rows in their order,
        so that they have the same bits on every processor. Cost: two passes over the weights.
    """
    cdef int64_t n = rows.shape[0], n_targets = weights.shape[0], i, t
    cdef double positive, negative, weight
    scaled = np.zeros((n, n_targets))
    cdef double[:, ::1] out = scaled
    for i in range(n):
        if not 0 <= rows[i] < weights.shape[1]:
            raise ValueError(f"rows must be in [0, {weights.shape[1]}), got {rows[i]}")
    with nogil:
        for t in range(n_targets):
            positive = negative = 0.0
            for i in range(n):
                weight = weights[t, rows[i]]
                if weight > 0.0:
                    positive = positive + weight
                else:
                    negative = negative - weight
            if not (positive > 0.0 and negative > 0.0):
                continue
            for i in range(n):
                weight = weights[t, rows[i]]
                out[i, t] = weight / (positive if weight > 0.0 else negative)
    return scaled
