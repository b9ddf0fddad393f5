"""exp and log of arrays: see elementary.h."""

import numpy as np

from libc.stdint cimport int64_t

from cwboost._kernels.common.arrays cimport data_of, length_of
from cwboost._kernels.common.cpu cimport cwb_set, instruction_set

cdef extern from "common/elementary.h" nogil:
    void cwb_exponentials "CWB_BEST(exponentials)"(const double *x, double *out, int64_t n)
    double cwb_log(double)

cwb_set = instruction_set()


def exp(x):
    """Return exp(x), with the same bits on every processor, unlike NumPy's.

    Parameters
    ----------
    x : float or array-like

    Returns
    -------
    float or ndarray of the same shape, dtype float64
        To two units in the last place; infinity above 700, zero below -700.
    """
    cdef double number
    if isinstance(x, float):
        number = x
        cwb_exponentials(&number, &number, 1)
        return number
    x = np.require(x, np.float64, "CA")
    out = np.empty(x.shape)
    cdef const double *values = <const double *> data_of(x)
    cdef double *found = <double *> data_of(out)
    cdef int64_t n = length_of(x)
    with nogil:
        cwb_exponentials(values, found, n)
    return out[()]


def log(x):
    """Return the natural logarithm of x, with the same bits on every processor, unlike NumPy's.

    Parameters
    ----------
    x : float or array-like

    Returns
    -------
    float or ndarray of the same shape, dtype float64
        To two units in the last place; minus infinity of 0, NaN of negative numbers, no warning.
    """
    if isinstance(x, float):
        return cwb_log(x)
    x = np.require(x, np.float64, "CA")
    out = np.empty(x.shape)
    cdef const double *values = <const double *> data_of(x)
    cdef double *found = <double *> data_of(out)
    cdef int64_t i, n = length_of(x)
    with nogil:
        for i in range(n):
            found[i] = cwb_log(values[i])
    return out[()]
