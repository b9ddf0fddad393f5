"""Derivatives of the loss of the restricted master along a few directions."""

import numpy as np

from cython.parallel cimport prange
from libc.math cimport isfinite, sqrt
from libc.stdint cimport int64_t

from cwboost._kernels.common.cpu cimport cwb_set, instruction_set

cdef extern from "fcd/subspace.h" nogil:
    enum:
        CWB_MOST_DIRECTIONS
    ctypedef struct cwb_directions:
        const double* R
        const double** scores
        int64_t stride, n_classes
        const int64_t* starts
        int n
    void cwb_direction_sums "CWB_BEST(direction_sums)"(
        const cwb_directions*, int64_t c, double* out)
    void cwb_advance "CWB_BEST(advance)"(
        double* present, const double** scores, int n, const double* steps, int64_t size)

cwb_set = instruction_set()

MOST_DIRECTIONS = CWB_MOST_DIRECTIONS

# Added to the diagonal of a curvature scaled to ones there.
cdef double RIDGE = 1e-10


cdef int locate(list scores, const double** at) except -1:
    """Return the number of directions between these scores; write their addresses to `at`."""
    cdef int k
    cdef const double[:, ::1] view
    for k in range(<int> len(scores)):
        view = scores[k]
        at[k] = &view[0, 0]
    return <int> len(scores) - 1


def derivatives(const double[:, ::1] R, list scores, const int64_t[::1] starts, int n_threads):
    """Return first and second derivatives of the sum of the pair weights, vector and matrix.

    R has the signed weights at ``scores[0]``, and direction k, up to MOST_DIRECTIONS, leads from
    ``scores[k + 1]`` to ``scores[k]``. `starts` has the first example of each class, and their
    number. The classes are added in order, so that `n_threads` does not matter.
    """
    cdef int64_t c, k, other, at_sum, K = R.shape[0]
    cdef double[:, ::1] sums = np.zeros((K, 16))
    cdef const double* at[CWB_MOST_DIRECTIONS + 1]
    cdef int n = locate(scores, at)
    cdef cwb_directions directions
    cdef double* out = &sums[0, 0]
    directions.R, directions.scores, directions.n = &R[0, 0], at, n
    directions.stride, directions.n_classes, directions.starts = R.shape[1], K, &starts[0]
    for c in prange(K, nogil=True, num_threads=n_threads, schedule="static"):
        cwb_direction_sums(&directions, c, out + 16 * c)
    slope, curvature = np.zeros(n), np.zeros((n, n))
    cdef double[::1] first = slope
    cdef double[:, ::1] second = curvature
    for c in range(K):
        at_sum = n
        for k in range(n):
            first[k] += sums[c, k]
            for other in range(k, n):
                second[k, other] += sums[c, at_sum]
                at_sum += 1
    for k in range(n):
        for other in range(k):
            second[k, other] = second[other, k]
    return slope, curvature


def advance(list scores, const double[::1] steps):
    """Move ``scores[0]``, in place, by `steps` along the directions between the scores.

    The scores have rows of whole vectors.
    """
    cdef double[:, ::1] present = scores[0]
    cdef const double* at[CWB_MOST_DIRECTIONS + 1]
    cdef int n = locate(scores, at)
    cwb_advance(&present[0, 0], at, n, &steps[0], present.shape[0] * present.shape[1])


def newton_step(const double[::1] slope, const double[:, ::1] curvature):
    """Return the minimiser of the quadratic model with these derivatives.

    It is zero along directions without curvature, and zero if it is not finite. Moves may be
    nearly parallel, so the diagonal is enlarged beyond the effect of rounding.
    """
    cdef int64_t i, j, k, n = slope.shape[0]
    cdef double scale[CWB_MOST_DIRECTIONS]
    cdef double a[CWB_MOST_DIRECTIONS][CWB_MOST_DIRECTIONS]
    cdef double x[CWB_MOST_DIRECTIONS]
    if not 1 <= n <= CWB_MOST_DIRECTIONS:
        raise ValueError(f"slope must have 1 to {CWB_MOST_DIRECTIONS} entries, got {n}")
    for i in range(n):
        scale[i] = 1.0 / sqrt(curvature[i, i]) if curvature[i, i] > 0.0 else 0.0
        x[i] = -slope[i] * scale[i]
        for j in range(i + 1):
            a[i][j] = curvature[i, j] * scale[i] * scale[j]
        a[i][i] = 1.0 + RIDGE
    # Cholesky's decomposition in place, then both triangles solved.
    for j in range(n):
        for k in range(j):
            a[j][j] -= a[j][k] * a[j][k]
        a[j][j] = sqrt(a[j][j])
        for i in range(j + 1, n):
            for k in range(j):
                a[i][j] -= a[i][k] * a[j][k]
            a[i][j] /= a[j][j]
        for k in range(j):
            x[j] -= a[j][k] * x[k]
        x[j] /= a[j][j]
    for j in range(n - 1, -1, -1):
        for k in range(j + 1, n):
            x[j] -= a[k][j] * x[k]
        x[j] /= a[j][j]
    step = np.zeros(n)
    for i in range(n):
        if not isfinite(x[i] * scale[i]):
            return np.zeros(n)
        step[i] = x[i] * scale[i]
    return step
