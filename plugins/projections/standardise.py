"""Centre and spread of features, dense and sparse, robust to constants, infinities and overflow."""

import numpy as np
from scipy import sparse

from cwboost.kernels import canonical_csc

BLOCK = 2**22
"""Number of entries of a dense matrix taken at a time, which bounds the memory beyond X."""


def moments(X):
    """Return number, mean, standard deviation and largest magnitude of finite entries per column.

    X is dense or sparse; the result has the shape (4, n_features).
    """
    n_samples, n_features = X.shape
    if sparse.issparse(X):
        X = canonical_csc(X)
        return _moments(X.data, np.diff(X.indptr), n_samples)
    width = max(1, BLOCK // n_samples)
    blocks = (X[:, at : at + width].T for at in range(0, n_features, width))
    return np.hstack([_moments(B.ravel(), np.full(len(B), n_samples), n_samples) for B in blocks])


def _moments(values, stored, n_samples):
    """Return the moments of columns whose stored values come one after the other."""
    values, finite = values.astype(np.float64), np.isfinite(values)
    values[~finite] = 0
    occupied = np.flatnonzero(stored)
    first = (np.cumsum(stored) - stored)[occupied]

    def of_columns(ufunc, values):
        found = np.zeros(len(stored))
        found[occupied] = ufunc.reduceat(values, first)
        return found

    number = n_samples - of_columns(np.add, np.where(finite, 0.0, 1.0))
    count, size = np.maximum(1, number), of_columns(np.maximum, np.abs(values))
    unit = _power_above(size)
    values /= np.repeat(unit, stored)  # below 1, so that squares do not overflow
    mean = of_columns(np.add, values) / count
    squares = of_columns(np.add, np.square(values - np.repeat(mean, stored)) * finite)
    squares += (n_samples - stored) * np.square(mean)
    return np.stack([number, mean * unit, np.sqrt(squares / count) * unit, size])


def centre_and_scale(parts):
    """Return a centre for each feature, and one over its standard deviation.

    `parts` are the `moments` of matrices that together hold the examples. Both are 0 for a feature
    that does not vary. Otherwise the scale is rounded to 12 bits and the centre to a sixteenth of a
    standard deviation, so that they have the same bits however the sums were taken: dense and
    sparse copies of the data give the same projections.
    """
    number, mean, deviation, size = np.stack(parts, axis=1)
    size = size.max(axis=0)
    unit, count = _power_above(size), np.maximum(1, number.sum(axis=0))
    mean, deviation = mean / unit, deviation / unit
    of_all = (number * mean).sum(axis=0) / count
    squares = number * (np.square(deviation) + np.square(mean - of_all))
    return _rounded(of_all * unit, np.sqrt(squares.sum(axis=0) / count) * unit, size)


def _power_above(size):
    """Return the power of two above each size, within the range of float64."""
    return np.ldexp(1.0, np.clip(np.frexp(size)[1], -1000, 1000))


def _rounded(mean, deviation, size):
    # A deviation below this is the rounding error of equal values.
    varies = (deviation > 1e-13 * size) & (deviation > 1e-140)
    fraction, exponent = np.frexp(1 / np.where(varies, deviation, 1))
    scale = np.where(varies, np.ldexp(np.round(fraction * 4096) / 4096, exponent), 0)
    step = np.where(varies, deviation, 0)
    fraction, exponent = np.frexp(step)
    step = np.ldexp(np.round(fraction * 16) / 256, exponent)
    centre = np.where(varies, np.round(mean / np.where(varies, step, 1)) * step, 0)
    return centre, scale
