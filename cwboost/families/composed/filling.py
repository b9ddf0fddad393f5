"""Columns of numbers without gaps: what a family of derived features sees of a table."""

import numpy as np
from scipy import sparse

from cwboost.kernels import canonical_csc

TWO = 2
"""Categories of a column whose codes, 0 and 1, are as good as numbers."""


def taken_columns(name: str, n_features: int, n_categories) -> np.ndarray:
    """Return which columns of X the family of a name takes, a mask: not categories beyond two.

    `n_categories` is that of `BindContext`.
    """
    taken = np.ones(n_features, dtype=bool) if n_categories is None else n_categories <= TWO
    if not taken.any():
        raise ValueError(
            f"weak learner {name!r} takes columns of numbers, and X has none, only categories: use "
            "another weak learner, or make numbers of them, for example with "
            "sklearn.preprocessing.TargetEncoder"
        )
    return taken


def medians(X, weight, taken) -> np.ndarray:
    """Return what fills the gaps of each column, its weighted median; NaN if it is not `taken`."""
    fill = np.where(taken, 0.0, np.nan)
    full = np.flatnonzero(taken)
    if sparse.issparse(X):
        X = canonical_csc(X)
        stored = np.add.reduceat(np.append(weight[X.indices], 0.0), X.indptr[:-1])
        stored[np.diff(X.indptr) == 0] = 0
        full = np.flatnonzero(2 * stored >= weight.sum())  # the median of the others is 0
        X = X[:, full].toarray()
    else:
        X = X[:, full]
    values = np.where(np.isfinite(X), X, np.inf).astype(np.float64)
    order = np.argsort(values, axis=0, kind="stable")
    values = np.take_along_axis(values, order, axis=0)
    below = np.cumsum(np.where(np.isfinite(values), weight[order], 0.0), axis=0)
    half = np.argmax(2 * below >= below[-1:], axis=0)
    median = np.take_along_axis(values, half[None], axis=0)[0]
    fill[full] = np.where(np.isfinite(median), median, 0.0)
    return fill


def filled(X, fill):
    """Return the columns of X that have a `fill`, with it in place of NaN and infinities.

    A sparse X is by row, as `rows_of` returns it: its indices are columns.
    """
    if fill is None:
        return X
    taken = ~np.isnan(fill)
    if not taken.all():
        X, fill = X[:, taken], fill[taken]
    values = X.data if sparse.issparse(X) else X
    # One sum looks at all values: it is finite unless one of them is not, or it overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.kind != "f" or np.isfinite(values.sum()):
            return X
    known = np.isfinite(values)
    if not sparse.issparse(X):
        return np.where(known, X, fill.astype(X.dtype))
    X = X.copy()
    X.data[~known] = fill[X.indices[~known]]
    return X
