"""Target statistics: a column of categories as the shares of the classes among its rows.

Trees split shares like numbers: a threshold divides the categories in the order of what they say of
the classes. The shares of a training row must not know its label, or trees learn that instead, so
training rows are cross-fitted: those of a fold get the shares of the other folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cwboost.families.arrays import check_arrays
from cwboost.support.lazy import made_once
from cwboost.support.weights import effective_size

FEWEST_CATEGORIES = 10
"""Categories of a column that gets statistics: a few thresholds on ranks tell fewer apart."""

MOST_SHARES = 8
"""Shares per column. More classes are put together, in random halves of all, as codes of shared
trees do: every share is that of one half."""

PRIOR_ROWS = 5.0
"""Rows of ordinary weight, of the class shares of all, that count beside those of a category."""


@dataclass(frozen=True, eq=False)
class TargetStatistics:
    """The shares of classes that each category of some columns has.

    Parameters
    ----------
    n_columns : int
        Number of columns of X.
    places : ndarray of shape (n_encoded,), int64
        Columns that have statistics, ascending; the others stay as they are.
    start : ndarray of shape (n_encoded + 1,), int64
        Rows of `shares` that are those of a column: one per category, and the last for what is
        missing or unknown, the shares of all.
    shares : ndarray of shape (n, n_shares), float64
        Numbers that single precision has, so that X of both dtypes gets the same.
    """

    n_columns: int
    places: np.ndarray
    start: np.ndarray
    shares: np.ndarray

    @classmethod
    def fit(cls, X, counted, weight, prior, unit: float, n_categories) -> TargetStatistics:
        """Return the statistics of examples.

        X has codes in the columns that have `n_categories`, `counted`, (n_samples, n_shares), is
        how much of its `weight` an example counts in each share, `prior` has the shares of all, and
        `unit` is the weight of an ordinary example.
        """
        places = statistical_columns(n_categories)
        sizes = n_categories[places] + 1
        start = np.concatenate([[0], np.cumsum(sizes)])
        prior_weight = PRIOR_ROWS * unit
        shares = np.empty((start[-1], len(prior)))
        for place, first, size in zip(places, start, sizes):
            codes = _codes(X[:, place], size - 1)
            totals = np.bincount(codes, weight, minlength=size) + prior_weight
            for share, own in enumerate(counted.T):
                sums = np.bincount(codes, own, minlength=size) + prior_weight * prior[share]
                shares[first : first + size, share] = sums / totals
            shares[first + size - 1] = prior
        return cls(len(n_categories), places, start, shares.astype(np.float32).astype(np.float64))

    @made_once
    def column(self) -> np.ndarray:
        """The column of X that each feature stems from, ascending."""
        n_features = np.ones(self.n_columns, dtype=np.int64)
        n_features[self.places] = self.shares.shape[1]
        return np.repeat(np.arange(self.n_columns), n_features)

    def features(self, X) -> np.ndarray:
        """Return X with shares in place of codes, of the same dtype."""
        found = X[:, self.column]
        for place in self.places.tolist():
            shares = self.shares_of(place)
            found[:, self.column == place] = shares[_codes(X[:, place], len(shares) - 1)]
        return found

    def by_column(self, values: np.ndarray) -> np.ndarray:
        """Return sums of values, (n, n_features, ...), over the features of each column."""
        return np.add.reduceat(values, np.searchsorted(self.column, range(self.n_columns)), axis=1)

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the features, from those of the columns."""
        first = np.searchsorted(self.column, self.column)
        return [
            f"{columns[c]}: share {f - first[f] + 1}" if c in self.places else columns[c]
            for f, c in enumerate(self.column.tolist())
        ]

    def shares_of(self, column: int) -> np.ndarray | None:
        """Return the shares of a column, a row per category and the last, None if it has none."""
        at = np.searchsorted(self.places, column)
        if at == len(self.places) or self.places[at] != column:
            return None
        return self.shares[self.start[at] : self.start[at + 1]]

    def levels(self) -> dict[int, np.ndarray]:
        """Return the values of the features that are shares, one per category of their columns."""
        first = np.searchsorted(self.column, self.places).tolist()
        return {
            feature + share: values
            for feature, place in zip(first, self.places.tolist())
            for share, values in enumerate(self.shares_of(place)[:-1].T)
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what `from_arrays` needs."""
        return {"places": self.places, "start": self.start, "shares": self.shares}

    @classmethod
    def from_arrays(cls, arrays, n_columns: int, n_classes: int) -> TargetStatistics:
        """Rebuild statistics from a file; raise ValueError if an array is wrong."""
        n_shares = class_groups(n_classes).shape[1]
        shapes = {
            "places": ("int64", ("n_encoded",)),
            "start": ("int64", ("n_starts",)),
            "shares": ("float64", ("n", n_shares)),
        }
        places, start, shares = check_arrays(arrays, shapes)
        if not (len(start) == len(places) + 1 and start[0] == 0 and start[-1] == len(shares)):
            raise ValueError("start of target statistics must divide the shares by column")
        is_ascending = (np.diff(places) > 0).all() and (np.diff(start) > FEWEST_CATEGORIES).all()
        if not (len(places) and is_ascending and places[0] >= 0 and places[-1] < n_columns):
            raise ValueError("places and start of target statistics must ascend")
        if not ((shares >= 0) & (shares <= 1)).all():
            raise ValueError("shares of target statistics must be from 0 to 1")
        return cls(n_columns, places, start, shares)

    def check(self, n_categories) -> None:
        """Raise ValueError unless the statistics are those of columns of these categories."""
        if not np.array_equal(np.diff(self.start) - 1, n_categories[self.places]):
            raise ValueError("target statistics must have shares for every category")


def statistical_columns(n_categories) -> np.ndarray:
    """Return the places of the columns that have statistics, by the numbers of categories."""
    return np.flatnonzero(n_categories >= FEWEST_CATEGORIES)


def class_groups(n_classes: int) -> np.ndarray:
    """Return which classes each share counts, (n_classes, n_shares), zeros and ones.

    That of the second of two classes, of every one of some, of random halves of many.
    """
    if n_classes == 2:
        return np.array([[0.0], [1.0]])
    if n_classes <= MOST_SHARES:
        return np.eye(n_classes)
    rng = np.random.default_rng(n_classes)
    half = np.arange(n_classes) < n_classes // 2
    return np.stack([rng.permutation(half) for _ in range(MOST_SHARES)], axis=1).astype(np.float64)


def cross_fitted(
    X, y, weight, row_weight, folds, left_out, n_classes: int, n_categories
) -> tuple[TargetStatistics, np.ndarray]:
    """Return the statistics of examples, and the features of each without its label.

    Those of a fold get the statistics of the others; those `left_out`, a mask, that of all that are
    not, as new rows do. The prior is the same for all folds, or it would tell the labels of one.
    `row_weight` are the weights without those of the classes.
    """
    counted = weight[:, None] * class_groups(n_classes)[y]
    known = weight[~left_out]
    prior = counted[~left_out].sum(axis=0) / known.sum()
    unit = known.sum() / effective_size(row_weight[~left_out])

    def fit(at) -> TargetStatistics:
        return TargetStatistics.fit(X[at], counted[at], weight[at], prior, unit, n_categories)

    statistics = fit(~left_out)
    features = statistics.features(X)
    for fold in np.unique(folds[~left_out]):
        own = (folds == fold) & ~left_out
        others = ~own & ~left_out
        if others.any():
            features[own] = fit(others).features(X[own])
    return statistics, features


def _codes(column, unknown: int) -> np.ndarray:
    """Return the codes of a column as integers, `unknown` for NaN."""
    return np.where(np.isnan(column), unknown, column).astype(np.int64)
