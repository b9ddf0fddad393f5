"""Gains of learners of one comparison each beyond those of chance (cwboost/kernels/chance.py)."""

from libc.math cimport fabs
from libc.stdint cimport int64_t

from cwboost._kernels.common.arrays cimport (
    FLOAT32, FLOAT64, as_vector, data_of, length_of, new_vector, vector)

__all__ = ["fractions_beyond_chance"]


def fractions_beyond_chance(edges, sums, norms, deviations):
    """Return ``1 - by_chance / edges``; 0 for an edge that is an error of rounding.

    By chance, a learner has the mean over the deviations u of ``max(|sum|, u norm)``, with the sum
    and the norm of the weights of its target.
    """
    edges, sums, norms = (as_vector(edges, FLOAT64), as_vector(sums, FLOAT64),
                          as_vector(norms, FLOAT64))
    cdef int64_t k, j, n = length_of(edges), n_deviations = length_of(deviations)
    if length_of(sums) != n or length_of(norms) != n:
        raise ValueError(f"sums and norms must have {n} entries, got {len(sums)} and {len(norms)}")
    fractions = new_vector(n, FLOAT32)
    cdef float *out = <float *> data_of(fractions)
    cdef const double *u = <const double *> vector(deviations, FLOAT64, n_deviations)
    cdef double size, norm, by_chance, edge
    for k in range(n):
        size, norm = fabs((<const double *> data_of(sums))[k]), (<const double *> data_of(norms))[k]
        by_chance, edge = 0.0, n_deviations * (<const double *> data_of(edges))[k]
        for j in range(n_deviations):
            by_chance += max(size, u[j] * norm)
        out[k] = <float> (1.0 - by_chance / edge) if by_chance < 1e30 * edge else 0.0
    return fractions
