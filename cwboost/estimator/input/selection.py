"""The parameter `categorical_features`: which columns of X hold categories."""

from __future__ import annotations

import numpy as np

from cwboost.estimator.input.columns import dtypes_of, is_category_dtype, names_of, place_of

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
    if given.dtype.kind == "b":
        if len(given) != n_features:
            raise ValueError(
                f"categorical_features must be a mask of {n_features} bools, one per column, got "
                f"{len(given)}"
            )
        return np.flatnonzero(given)
    places = [place_of(one, names, n_features, "categorical_features") for one in given.tolist()]
    return np.unique(np.array(places, dtype=np.intp))
