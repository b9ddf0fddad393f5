"""The parameter `categorical_features`: which columns of X hold categories."""

from __future__ import annotations

import numpy as np

from cwboost.estimator.input.columns import dtypes_of, is_category_dtype, names_of

__all__ = ["select_categorical"]


def select_categorical(X, categorical_features) -> np.ndarray:
    """Return the places of the columns that hold categories, ascending.

    "from_dtype" selects the columns of a frame with a categorical dtype, None none, and an array a
    mask, places or names.
    """
    if categorical_features is None:
        return np.zeros(0, dtype=np.intp)
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ValueError(
                "categorical_features must be 'from_dtype', None, or a list of names, places or "
                f"bools, got {categorical_features!r}"
            )
        return np.flatnonzero([is_category_dtype(dtype) for dtype in dtypes_of(X)])
    given = np.asarray(categorical_features)
    names, n_features = names_of(X), X.shape[1]
    if given.ndim != 1:
        raise ValueError(f"categorical_features must have one dimension, got {given.ndim}")
    if given.size == 0:
        return np.zeros(0, dtype=np.intp)
    if given.dtype.kind == "b":
        return _from_mask(given, names, n_features)
    if given.dtype.kind in "iu":
        wrong = given[(given < 0) | (given >= n_features)]
        if wrong.size:
            raise ValueError(
                f"categorical_features must hold places from 0 to {n_features - 1}, got {wrong[0]}"
            )
        return np.unique(given).astype(np.intp)
    if all(isinstance(name, str) for name in given.tolist()):
        return _from_names(given.tolist(), names)
    raise TypeError(
        "categorical_features must hold only bools, only ints or only names, got "
        f"{categorical_features!r}"
    )


def _from_mask(mask, names, n_features: int) -> np.ndarray:
    if len(mask) != n_features:
        extra = ""
        if names is not None and len(mask) < n_features:
            extra = f"; it ends before column {str(names[len(mask)])!r}"
        raise ValueError(
            f"categorical_features must be a mask of {n_features} bools, one per column, got "
            f"{len(mask)}{extra}"
        )
    return np.flatnonzero(mask)


def _from_names(given: list[str], names) -> np.ndarray:
    if names is None:
        raise ValueError(
            f"categorical_features holds names, such as {given[0]!r}, but X has none: pass a frame "
            "or give the places of the columns"
        )
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(
            f"categorical_features: X has no column {unknown[0]!r}; its columns are "
            f"{', '.join(map(str, names))}"
        )
    return np.flatnonzero([name in given for name in names])
