"""Thresholds between pairs of values; see threshold.h."""

import numpy as np

cdef extern from "common/threshold.h" nogil:
    double cwb_float32_threshold_between(double a, double b)


def thresholds_between(const double[::1] low, const double[::1] high):
    """Return thresholds halfway between pairs of values, float32 numbers where there is one.

    Parameters
    ----------
    low, high : ndarray of shape (n,), dtype float64
        ``low <= high``.

    Returns
    -------
    ndarray of shape (n,), dtype float64
        ``low <= threshold < high`` if these differ, and the same for their roundings to float32.
    """
    cdef Py_ssize_t k
    if low.shape[0] != high.shape[0]:
        raise ValueError(f"high must have {low.shape[0]} values, as low, got {high.shape[0]}")
    found = np.empty(low.shape[0])
    cdef double[::1] out = found
    for k in range(low.shape[0]):
        out[k] = cwb_float32_threshold_between(low[k], high[k])
    return found
