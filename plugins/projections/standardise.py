"""Centre and spread of features, dense and sparse, robust to constants, infinities and overflow."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cwboost.kernels import canonical_csc

__all__ = ["centre_and_scale", "merged_moments", "moments", "rounded_frame"]

BLOCK = 2**22
"""Number of entries standardised at a time, which bounds the memory beyond X."""


def centre_and_scale(X):
    """Return a centre for each feature, and one over its standard deviation.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Infinities are left out of the moments.

    Returns
    -------
    centre, scale : ndarray of shape (n_features,), dtype float64
        Both 0 for a feature that does not vary. Otherwise the scale is rounded to 12 bits and the
        centre to a sixteenth of a standard deviation, so that they have the same bits however
        the sums were taken: dense and sparse copies of the data give the same projections.
    """
    return rounded_frame(moments(X))


def moments(X):
    """Return number, mean, standard deviation and largest magnitude of finite entries per column.

    Returns
    -------
    ndarray of shape (4, n_features), dtype float64
    """
    n_samples, n_features = X.shape
    if sparse.issparse(X):
        return np.stack(_moments_by_column(canonical_csc(X)))
    width = max(1, BLOCK // n_samples)
    parts = [np.stack(_moments(X[:, at : at + width])) for at in range(0, n_features, width)]
    return np.hstack(parts)


def merged_moments(parts):
    """Return the moments of several matrices together, from the result of `moments` for each."""
    parts = np.stack(parts)
    number, mean, deviation, size = (parts[:, k] for k in range(4))
    size = size.max(axis=0)
    unit, count = _power_above(size), np.maximum(1, number.sum(axis=0))
    mean, deviation = mean / unit, deviation / unit
    of_all = (number * mean).sum(axis=0) / count
    squares = number * (np.square(deviation) + np.square(mean - of_all))
    deviation = np.sqrt(squares.sum(axis=0) / count)
    return np.stack([number.sum(axis=0), of_all * unit, deviation * unit, size])


def rounded_frame(moments):
    """Return centre and scale of features with these moments; see `centre_and_scale`."""
    return _rounded(*moments[1:])


def _moments(X):
    X = X.astype(np.float64)
    finite = np.isfinite(X)
    X[~finite] = 0
    number = finite.sum(axis=0)
    count = np.maximum(1, number)
    size = np.abs(X).max(axis=0)
    unit = _power_above(size)
    X /= unit  # below 1, so that squares do not overflow
    mean = X.sum(axis=0) / count
    deviation = np.sqrt((np.square(X - mean) * finite).sum(axis=0) / count)
    return number, mean * unit, deviation * unit, size


def _moments_by_column(X):
    n_samples, n_features = X.shape
    column = np.repeat(np.arange(n_features), np.diff(X.indptr))
    values = X.data.astype(np.float64)
    finite = np.isfinite(values)
    infinite = np.bincount(column[~finite], minlength=n_features)
    column, values = column[finite], values[finite]
    size = np.zeros(n_features)
    np.maximum.at(size, column, np.abs(values))
    unit = _power_above(size)
    values = values / unit[column]
    count = np.maximum(1, n_samples - infinite)
    stored = np.bincount(column, minlength=n_features)
    mean = np.bincount(column, weights=values, minlength=n_features) / count
    squares = np.bincount(column, weights=np.square(values - mean[column]), minlength=n_features)
    zeros = n_samples - infinite - stored
    deviation = np.sqrt((squares + zeros * np.square(mean)) / count)
    return n_samples - infinite, mean * unit, deviation * unit, size


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
