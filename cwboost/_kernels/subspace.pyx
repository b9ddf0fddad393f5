"""Derivatives of the loss of the restricted master along a few directions."""

import numpy as np

from cython.parallel cimport prange
from libc.stdint cimport int64_t

cdef extern from "fcd_subspace.h" nogil:
    const int CWB_MOST_DIRECTIONS, CWB_DIRECTION_SUMS
    void cwb_direction_sums(
        const double*, const double* const*, int, int64_t, int64_t, const int64_t*, int64_t,
        double*) noexcept

MOST_DIRECTIONS = CWB_MOST_DIRECTIONS


def derivatives(const double[:, ::1] R, list scores, const int64_t[::1] starts, int n_threads):
    """First and second derivatives of the sum of the pair weights.

    Parameters
    ----------
    R : ndarray of shape (n_classes, stride), dtype float64
        Signed weights at ``scores[0]``.
    scores : list of 2 to MOST_DIRECTIONS + 1 ndarrays like R
        Direction k leads from ``scores[k + 1]`` to ``scores[k]``.
    starts : ndarray of shape (n_classes + 1,), dtype int64
        First example of each class, and their number.
    n_threads : int
        The result does not depend on it: classes are summed one by one.

    Returns
    -------
    gradient : ndarray of shape (n_directions,)
    hessian : ndarray of shape (n_directions, n_directions)
    """
    cdef int n = <int> len(scores) - 1
    cdef int64_t c, K = R.shape[0], stride = R.shape[1]
    cdef double[:, ::1] sums = np.zeros((K, 16))
    cdef const double[:, ::1] view
    cdef const double* at[4]
    cdef const double* weights = &R[0, 0]
    cdef const int64_t* start = &starts[0]
    cdef double* out = &sums[0, 0]
    if not 1 <= n <= CWB_MOST_DIRECTIONS or starts.shape[0] != K + 1 or starts[K] > stride:
        raise ValueError(f"expected 2 to {CWB_MOST_DIRECTIONS + 1} arrays of scores")
    for k in range(n + 1):
        view = scores[k]
        if view.shape[0] != K or view.shape[1] != stride:
            raise ValueError(f"expected scores of shape {(K, stride)}")
        at[k] = &view[0, 0]
    for c in prange(K, nogil=True, num_threads=n_threads, schedule="static"):
        cwb_direction_sums(weights, at, n, stride, c, start, K, out + 16 * c)
    total = np.zeros(CWB_DIRECTION_SUMS)
    for c in range(K):
        total += sums[c, :CWB_DIRECTION_SUMS]
    hessian = np.zeros((n, n))
    upper = np.triu_indices(n)
    hessian[upper] = hessian.T[upper] = total[n : n + len(upper[0])]
    return total[:n], hessian
