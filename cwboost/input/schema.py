"""The input schema: what `fit` learns of the columns of X, and how later matrices are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _get_feature_names,
)

from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.discovery import check_capabilities
from cwboost.families.sealing.sample import read_only
from cwboost.input.categories import (
    by_frequency,
    count_categories,
    encode,
    in_order_of,
    warn_of_many_levels,
)
from cwboost.input.columns import as_columns
from cwboost.kernels import canonical
from cwboost.target_statistics import TargetStatistics


@dataclass(frozen=True, eq=False, kw_only=True)
class InputSchema:
    """Names, number and categories of the columns of X.

    The capabilities of the family decide which matrices it can read. `categories` are those of each
    categorical column, by its place, most frequent first.
    """

    family: WeakLearnerFamily
    categorical_features: Any
    n_features: int
    names: np.ndarray | None
    categories: Mapping[int, np.ndarray]

    @classmethod
    def learn(cls, X, weight, family, categorical_features, known=None) -> InputSchema:
        """Return the schema of the columns of training, whose rows have a `weight`, None for ones.

        `known` are the categories of a model that training goes on from, whose order is kept.
        """
        counted = count_categories(X, categorical_features, weight)
        warn_of_many_levels(X, counted, categorical_features)
        learned = {place: by_frequency(*counts) for place, counts in counted.items()}
        return cls(
            family=family,
            categorical_features=categorical_features,
            n_features=X.shape[1],
            names=_get_feature_names(nw.to_native(X, pass_through=True)),
            categories=in_order_of(known or {}, learned),
        )

    def encode(self, X, kind: type):
        """Return X as a matrix of numbers that the family can read, with codes for categories.

        Errors of names and number of the columns name the class `kind`.
        """
        X = read_columns(X)
        self._check(nw.to_native(X, pass_through=True), kind)
        X = encode(X, self.categories, self.categorical_features)
        if sparse.issparse(X):
            check_capabilities(self.family, is_sparse=True)
        check_missing(X, self.family)
        return X

    def _check(self, X, kind: type) -> None:
        """Let scikit-learn check names and number of the columns, for a fitted one of a class."""
        fitted = kind.__new__(kind)
        vars(fitted).update(self.attributes())
        _check_feature_names(fitted, X, reset=False)
        _check_n_features(fitted, X, reset=False)

    @property
    def feature_names(self) -> list[str]:
        """Names of all columns; "feature 3" and the like if X had none."""
        if self.names is None:
            return [f"feature {f}" for f in range(self.n_features)]
        return [str(name) for name in self.names]

    @property
    def categorical(self) -> np.ndarray | None:
        """True for the columns of categories, bool of shape (n_features,); None if none are."""
        places = list(self.categories)
        return read_only(np.isin(np.arange(self.n_features), places)) if places else None

    def with_statistics(self, statistics: TargetStatistics) -> InputSchema:
        """Return the schema of the features with statistics in place of codes."""
        first = np.searchsorted(statistics.column, range(self.n_features)).tolist()
        kept = self.categories.keys() - set(statistics.places.tolist())
        names = statistics.names(self.feature_names)
        return replace(
            self,
            n_features=len(statistics.column),
            names=None if self.names is None else np.array(names, dtype=object),
            categories={first[place]: self.categories[place] for place in sorted(kept)},
        )

    @property
    def n_categories(self) -> np.ndarray:
        """Number of categories of each column, 0 of columns of numbers."""
        n_levels = np.zeros(self.n_features, dtype=np.int64)
        n_levels[list(self.categories)] = [len(known) for known in self.categories.values()]
        return n_levels

    def facts(self) -> dict[str, Any]:
        """Return what a `BindContext` has of the columns."""
        return {
            "feature_names": None if self.names is None else tuple(self.feature_names),
            "n_categories": read_only(self.n_categories) if self.categories else None,
        }

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes that hold the schema."""
        attributes: dict[str, Any] = {"n_features_in_": self.n_features}
        if self.names is not None:
            attributes["feature_names_in_"] = self.names
        if self.categories:
            attributes["categories_"] = self.categories
        return attributes


def read_columns(X):
    """Return X as `as_columns` does, a sparse matrix in canonical form."""
    # First of all: conversions write where the indices point.
    return as_columns(canonical(X) if sparse.issparse(X) and X.ndim == 2 else X)


def check_missing(X, family) -> None:
    """Raise ValueError for NaN and infinities in X, unless the family takes missing values."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f" or family.capabilities.missing_values:
        return
    # One sum looks at all values: it is finite unless one of them is not, or it overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return
    has_missing = bool(np.isnan(values).any())
    if has_missing or np.isinf(values).any():
        check_capabilities(family, contains="NaN" if has_missing else "infinity")
