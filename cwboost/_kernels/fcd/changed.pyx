"""Which coefficients of the master differ from those that the model last recorded."""

import numpy as np

from libc.stdint cimport int64_t

__all__ = ["changed"]


def changed(const double[:, ::1] coef, const double[:, ::1] recorded, const int64_t[:, ::1] ids):
    """Return the entries of `coef` that differ from `recorded`, row after row.

    Parameters
    ----------
    coef : ndarray of shape (n_classes, width), dtype float64
    recorded : ndarray of shape (n_classes, width), dtype float64
        NaN differs from everything.
    ids : ndarray of shape (n_classes, width), dtype int64

    Returns
    -------
    places : ndarray of shape (n_changes,), dtype int64
        Indices into the flat arrays; ``ids``, ``classes`` (rows), ``values`` (of `coef`) and
        ``before`` (of `recorded`) follow, of the same length.
    """
    cdef int64_t c, j, k, n = 0, K = coef.shape[0], width = coef.shape[1]
    if not recorded.shape[0] == K == ids.shape[0] or not recorded.shape[1] == width == ids.shape[1]:
        raise ValueError(f"expected recorded coefficients and ids of shape {(K, width)}")
    for c in range(K):
        for j in range(width):
            n += coef[c, j] != recorded[c, j]
    whole, real = np.empty((3, n), dtype=np.int64), np.empty((2, n))
    cdef int64_t[:, ::1] numbers = whole
    cdef double[:, ::1] values = real
    k = 0
    for c in range(K):
        for j in range(width):
            if coef[c, j] != recorded[c, j]:
                numbers[0, k], numbers[1, k], numbers[2, k] = c * width + j, ids[c, j], c
                values[0, k], values[1, k] = coef[c, j], recorded[c, j]
                k += 1
    return whole[0], whole[1], whole[2], real[0], real[1]
