"""Symmetric positive definite systems with the same bits on every machine.

LAPACK sums in an order that depends on the processor and the number of threads. Here every entry
of the factor is changed by one product at a time, in ascending order of the pivots.
"""

from libc.math cimport sqrt
from libc.stdint cimport int64_t

import numpy as np


def solve_with_ridge(const double[:, :] S, const double[:, :] B, double ridge,
                     const int64_t[:] places=None):
    """Return the solution of ``(S + ridge I) Z = B``, (d, m); see `cwboost.kernels.ridge_solve`."""
    cdef int64_t d = B.shape[0], m = B.shape[1], i, j
    cdef bint all_places = places is None
    if S.shape[0] != S.shape[1] or (S.shape[0] if all_places else places.shape[0]) != d:
        raise ValueError(f"S must be square and B have as many rows, got {d} rows")
    for i in range(0 if all_places else d):
        if not 0 <= places[i] < S.shape[0]:
            raise ValueError(f"places must be in [0, {S.shape[0]}), got {places[i]}")
    solution = np.empty((d, m))
    cdef double[:, ::1] factor = np.empty((d, d))
    cdef double[:, ::1] Z = solution
    cdef double unknown = 0.0
    while True:
        for i in range(d):
            for j in range(i, d):
                factor[i, j] = S[i, j] if all_places else S[places[i], places[j]]
                unknown += factor[i, j] - factor[i, j]
            factor[i, i] += ridge
            for j in range(m):
                Z[i, j] = B[i, j]
                unknown += Z[i, j] - Z[i, j]
        if unknown != 0.0:
            raise ValueError("S and B must be finite")
        if solve_in_place(factor, Z):
            return solution
        ridge *= 2


cdef bint solve_in_place(double[:, ::1] A, double[:, ::1] B):
    """Overwrite B with the solution of ``A Z = B`` by Cholesky's method, and A with the factor.

    A, (d, d), is symmetric and positive definite; only its upper triangle is read. B is (d, m).
    Cost: d**3 / 6 + d**2 m multiplications and additions.

    Return False, with B undefined, if a pivot is not positive.
    """
    cdef int64_t d = A.shape[0], m = B.shape[1], p, i, j
    cdef double factor
    cdef double *pivot_row
    cdef double *row
    if d == 0 or m == 0:
        return True
    cdef bint positive = True
    with nogil:
        for p in range(d):
            pivot_row = &A[p, 0]
            if not pivot_row[p] > 0.0:
                positive = False
                break
            factor = 1.0 / sqrt(pivot_row[p])
            for j in range(p, d):
                pivot_row[j] = pivot_row[j] * factor
            for j in range(m):
                B[p, j] = B[p, j] * factor
            for i in range(p + 1, d):
                factor = pivot_row[i]
                row = &A[i, 0]
                for j in range(i, d):
                    row[j] = row[j] - factor * pivot_row[j]
                subtract(&B[i, 0], &B[p, 0], factor, m)
        if positive:
            for p in range(d - 1, -1, -1):
                pivot_row = &A[p, 0]
                for i in range(p + 1, d):
                    subtract(&B[p, 0], &B[i, 0], pivot_row[i], m)
                factor = 1.0 / pivot_row[p]
                for j in range(m):
                    B[p, j] = B[p, j] * factor
    return positive


cdef inline void subtract(double *target, const double *row, double factor,
                          int64_t m) noexcept nogil:
    cdef int64_t j
    for j in range(m):
        target[j] = target[j] - factor * row[j]


def inverse_factor(const double[:, :] A):
    """Return B, lower triangular, with ``B A B' = I``: the inverse of the Cholesky factor of A.

    A, (d, d), is symmetric; only its upper triangle is read. Cost: d**3 / 3 multiplications and
    additions. None if a pivot is not positive.
    """
    cdef int64_t d = A.shape[0], p, i, j
    cdef double scale
    cdef bint positive = True
    if A.shape[1] != d:
        raise ValueError(f"A must be square, got shape ({d}, {A.shape[1]})")
    result = np.zeros((d, d))
    cdef double[:, ::1] B = result
    cdef double[:, ::1] left = np.array(A)
    with nogil:
        for p in range(d):
            B[p, p] = 1.0
        for p in range(d):
            # A pivot that is NaN is not positive either.
            if not left[p, p] > 0.0:
                positive = False
                break
            scale = 1.0 / sqrt(left[p, p])
            for j in range(p, d):
                left[p, j] = left[p, j] * scale
            for j in range(p + 1):
                B[p, j] = B[p, j] * scale
            for i in range(p + 1, d):
                subtract(&left[i, i], &left[p, i], left[p, i], d - i)
                subtract(&B[i, 0], &B[p, 0], left[p, i], p + 1)
    return result if positive else None
