"""Features as finite numbers: gaps filled and marked, categories as indicators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_LEVELS = 30
"""Largest number of categories per column that have an indicator: the most frequent ones."""

LIMIT = 2.0**120
"""Numbers from here on count as missing, as infinities do, so that no later step overflows."""

ROWS_AT_ONCE = 2**14
"""Number of rows copied at a time, in search of gaps or for their scores."""

FILL_BITS = 40
"""Bits of the means that fill gaps, which do not depend on the order of a sum."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """The map of a row of features to a row of finite numbers.

    First come the numeric columns, in which gaps (NaN, infinities) are filled; then one indicator
    per numeric column with gaps in training; then one indicator per category. A category without
    an indicator, a missing or an unknown one, has zeros only.
    """

    numeric: np.ndarray  # the numeric columns, ascending
    fill: np.ndarray  # what replaces a gap of each
    gaps: np.ndarray  # places in `numeric` of the columns with gaps, ascending
    level_column: np.ndarray  # column of each category that has an indicator
    level_code: np.ndarray

    @classmethod
    def of(cls, X, rows, categorical, sample) -> Expansion:
        """Return the expansion of some rows of X, whose gaps the means of a sample of them fill."""
        is_category = np.zeros(X.shape[1], dtype=bool) if categorical is None else categorical
        numeric, has_gaps = np.flatnonzero(~is_category), np.zeros(X.shape[1], dtype=bool)
        for part in np.array_split(rows, 1 + len(rows) // ROWS_AT_ONCE):
            has_gaps |= ~_known(X[part]).all(axis=0)
        columns, codes = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for j in np.flatnonzero(is_category):
            column = X[rows, j]
            counts = np.bincount(column[np.isfinite(column)].astype(np.int64))
            frequent = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
            codes.append(np.sort(frequent[counts[frequent] > 0]))
            columns.append(np.full(len(codes[-1]), j))
        return cls(
            numeric,
            _means(X[sample][:, numeric]),
            np.flatnonzero(has_gaps[numeric]),
            np.concatenate(columns),
            np.concatenate(codes),
        )

    def __len__(self):
        return len(self.numeric) + len(self.gaps) + len(self.level_code)

    @property
    def origin(self) -> np.ndarray:
        """The column of X that each expanded feature is made of."""
        return np.concatenate([self.numeric, self.numeric[self.gaps], self.level_column])

    def __call__(self, X) -> np.ndarray:
        """Return the expanded features of the rows of X; X itself if nothing changes."""
        values = X if len(self.numeric) == X.shape[1] else X[:, self.numeric]
        lost = ~_known(values)
        if lost.any():
            values = np.where(lost, self.fill, values)
        if len(self) == X.shape[1] == len(self.numeric):
            return values
        levels = X[:, self.level_column] == self.level_code
        return np.concatenate([values, lost[:, self.gaps], levels], axis=1, dtype=np.float64)


def _known(X) -> np.ndarray:
    return np.abs(X) < LIMIT


def _means(X) -> np.ndarray:
    """Return the rounded means of the known values of each column; 0 if there are none."""
    known = _known(X)
    total = np.where(known, X, 0.0).sum(axis=0, dtype=np.float64)
    fraction, exponent = np.frexp(total / np.maximum(known.sum(axis=0), 1))
    return np.ldexp(np.rint(np.ldexp(fraction, FILL_BITS)), exponent - FILL_BITS)
