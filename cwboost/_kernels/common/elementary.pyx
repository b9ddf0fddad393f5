"""exp, log and softmax of arrays, and thresholds between numbers: see elementary.h, threshold.h."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from cwboost._kernels.common.arrays cimport data_of, length_of
from cwboost._kernels.common.cpu cimport cwb_set, instruction_set

cdef extern from "common/elementary.h" nogil:
    void cwb_exponentials "CWB_BEST(exponentials)"(const double *x, double *out, int64_t n)
    double cwb_log(double)

cdef extern from "common/threshold.h" nogil:
    double cwb_float32_threshold_between(double a, double b)

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


def softmax(logits):
    """Return ``exp(logits)`` of every row, scaled to sum one.

    Parameters
    ----------
    logits : ndarray of shape (n_rows, n_classes)

    Returns
    -------
    ndarray of shape (n_rows, n_classes), dtype float64
    """
    return normalised(logits, False)


def log_softmax(logits):
    """Return the logarithms of `softmax`, finite also if a probability rounds to 0.

    Parameters
    ----------
    logits : ndarray of shape (n_rows, n_classes)

    Returns
    -------
    ndarray of shape (n_rows, n_classes), dtype float64
    """
    return normalised(logits, True)


cdef normalised(logits, bint in_logs):
    """Return `softmax`, or with `in_logs` its logarithms."""
    found = np.array(logits, dtype=np.float64, order="C")
    cdef double[:, ::1] rest = found, power = np.empty_like(found) if in_logs else found
    cdef int64_t r, c, n = rest.shape[0], K = rest.shape[1]
    cdef double of_row
    with nogil:
        for r in range(n):
            of_row = -INFINITY
            for c in range(K):
                of_row = max(of_row, rest[r, c])
            for c in range(K):
                rest[r, c] -= of_row
        if n and K:
            cwb_exponentials(&rest[0, 0], &power[0, 0], n * K)
        for r in range(n):
            of_row = 0.0
            for c in range(K):
                of_row += power[r, c]
            if in_logs:
                of_row = cwb_log(of_row)
                for c in range(K):
                    rest[r, c] -= of_row
            else:
                for c in range(K):
                    power[r, c] /= of_row
    return found


cdef enum:
    TOGETHER = 64  # examples taken at a time: their exponentials are vectors


def softmax_likelihood(double scale, const double[:, ::1] differences, const double[::1] weight):
    """Return the negative log-likelihood under softmax, and two derivatives in the log of a scale.

    Parameters
    ----------
    scale : float
    differences : ndarray of shape (n_classes, n), dtype float64
        Scores of each example, less that of its own class; `scale` times these are finite.
    weight : ndarray of shape (n,), dtype float64

    Returns
    -------
    loss, first, second : float
        Sums over the examples, in their order.
    """
    cdef int64_t K = differences.shape[0], n = differences.shape[1], start = 0, m, c, i
    cdef double loss = 0.0, first = 0.0, second = 0.0, share, w
    cdef double[TOGETHER] largest, total, mean, square
    cdef double[:, ::1] logits = np.empty((K, TOGETHER)), powers = np.empty((K, TOGETHER))
    with nogil:
        while start < n:
            m = min(<int64_t> TOGETHER, n - start)
            for i in range(m):
                largest[i] = total[i] = mean[i] = square[i] = 0.0
            for c in range(K):
                for i in range(m):
                    logits[c, i] = scale * differences[c, start + i]
                    largest[i] = max(largest[i], logits[c, i])
            for c in range(K):
                for i in range(m):
                    powers[c, i] = logits[c, i] - largest[i]
                cwb_exponentials(&powers[c, 0], &powers[c, 0], m)
                for i in range(m):
                    share = powers[c, i] * logits[c, i]
                    total[i] += powers[c, i]
                    mean[i] += share
                    square[i] += share * logits[c, i]
            for i in range(m):
                w, share = weight[start + i], mean[i] / total[i]
                loss += w * (largest[i] + cwb_log(total[i]))
                first += w * share
                second += w * (square[i] / total[i] - share * share)
            start += m
    return loss, first, first + second


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
