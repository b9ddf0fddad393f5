"""The inverse of a Cholesky factor with the same bits on every machine.

LAPACK sums in an order that depends on the processor and the number of threads. Here every entry
of the factor is changed by one product at a time, in ascending order of the pivots.
"""

from libc.math cimport sqrt
from libc.stdint cimport int64_t

import numpy as np


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


cdef inline void subtract(double *target, const double *row, double factor,
                          int64_t m) noexcept nogil:
    cdef int64_t j
    for j in range(m):
        target[j] = target[j] - factor * row[j]
