"""From blocks with numbers, categories and text to matrices of numbers, the same everywhere.

Every partition lists its columns and their categories; the categories of all are those of the
model; every partition then gets them to encode its columns.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _get_feature_names

from cwboost.input.categories import (
    CATEGORY_KINDS,
    by_frequency,
    count_categories,
    encode,
)
from cwboost.input.columns import as_columns, column_label
from cwboost.kernels import canonical
from cwboost.support.weights import check_weight


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a partition."""

    role: str
    n_rows: int
    n_features: int
    names: tuple | None
    categories: dict  # of training data, by place: the sorted categories and their weights


def columns_of(chunk, categorical_features) -> Columns:
    """Return the columns of a chunk, whose X is an array, a sparse matrix or a pandas frame."""
    X, names, role = as_columns(chunk.X), _get_feature_names(chunk.X), chunk.role
    is_counted = role == "training" and X.shape[0]
    weight = check_weight(chunk.weight, X.shape[0])
    categories = count_categories(X, categorical_features, weight) if is_counted else {}
    return Columns(role, *X.shape, None if names is None else tuple(names), categories)


def check_columns(found) -> Columns:
    """Check that partitions with rows have the same columns; return those of the training data."""
    filled = {index: own for index, own in sorted(found.items()) if own.n_rows}
    first = next((index for index, own in filled.items() if own.role == "training"), None)
    if first is None:
        raise ValueError("X has no rows: all partitions are empty")
    expected = found[first]
    for index, own in filled.items():
        where = f"partition {first}" if own.role == "training" else "the training data"
        if own.n_features != expected.n_features:
            raise ValueError(
                f"partition {index}: X has {own.n_features} features, {where} has "
                f"{expected.n_features}"
            )
        if own.names != expected.names:
            raise ValueError(
                f"partition {index}: the columns of X are {own.names}, those of {where} are "
                f"{expected.names}"
            )
    return expected


def shared_categories(found) -> dict[int, np.ndarray]:
    """Return the categories of all training partitions, most frequent first, by column."""
    own = {k: found[k] for k in sorted(found) if found[k].role == "training" and found[k].n_rows}
    every = sorted({place for columns in own.values() for place in columns.categories})
    return {place: _categories_of(place, own) for place in every}


def _categories_of(place, own) -> np.ndarray:
    """Return the categories of one column of partitions."""
    kinds = {}
    for index, columns in own.items():
        name = column_label(place, columns.names)
        if place not in columns.categories:
            other = next(k for k, c in own.items() if place in c.categories)
            raise ValueError(
                f"partition {index}: X: {name} holds no categories, in partition {other} it does: "
                "give it the same dtype in all partitions"
            )
        values, _ = columns.categories[place]
        if len(values):
            kinds[index] = CATEGORY_KINDS[values.dtype.kind]
            first, expected = next(iter(kinds.items()))
            if kinds[index] != expected:
                raise ValueError(
                    f"partition {index}: X: {name} holds categories of the kind {kinds[index]}, "
                    f"those of partition {first} are of the kind {expected}"
                )
    if not kinds:
        return values
    parts = zip(*(own[index].categories[place] for index in kinds))
    values, counts = map(np.concatenate, parts)
    values, place_of = np.unique(values, return_inverse=True)
    return by_frequency(values, np.bincount(place_of, counts, minlength=len(values)))


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the blocks of every partition become matrices of numbers."""

    categorical_features: object
    categories: dict  # by column, the most frequent first

    def matrix(self, X):
        """Return a block as uint8, float32, float64, CSR or CSC, as local training reads it."""
        if sparse.issparse(X):
            X = canonical(X)
        if not X.shape[0]:
            return np.empty(X.shape)
        return encode(as_columns(X), self.categories, self.categorical_features)
