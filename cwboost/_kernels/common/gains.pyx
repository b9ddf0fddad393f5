"""Gains of learners of one comparison each beyond those of chance (cwboost/kernels/chance.py)."""

import numpy as np

from libc.math cimport fabs
from libc.stdint cimport int64_t

__all__ = ["fractions_beyond_chance"]


def fractions_beyond_chance(const double[:] edges, const double[:] sums, const double[:] norms,
                            const double[::1] deviations):
    """Return ``1 - by_chance / edges``; 0 for an edge that is an error of rounding.

    By chance, a learner has the mean over the deviations u of ``max(|sum|, u norm)``.

    Parameters
    ----------
    edges, sums, norms : ndarrays of shape (n_learners,), dtype float64
        Edge of each learner; sum and norm of the weights of its target.
    deviations : ndarray of shape (n_deviations,), dtype float64

    Returns
    -------
    ndarray of shape (n_learners,), dtype float32
    """
    cdef int64_t k, j, n = edges.shape[0], n_deviations = deviations.shape[0]
    cdef double size, by_chance, edge
    if sums.shape[0] != n or norms.shape[0] != n:
        raise ValueError(f"expected {n} sums and norms, got {sums.shape[0]} and {norms.shape[0]}")
    fractions = np.empty(n, dtype=np.float32)
    cdef float[::1] out = fractions
    for k in range(n):
        size, by_chance, edge = fabs(sums[k]), 0.0, n_deviations * edges[k]
        for j in range(n_deviations):
            by_chance += max(size, deviations[j] * norms[k])
        out[k] = <float> (1.0 - by_chance / edge) if by_chance < 1e30 * edge else 0.0
    return fractions
