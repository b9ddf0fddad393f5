"""Bins of features: of a matrix, or of all partitions from their sketches."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cwboost._kernels.common.elementary import thresholds_between
from cwboost._kernels.trees.binning import group_values
from cwboost.kernels.sketch import joined, values_of_features


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins of features: bin b holds the values above those of bin b - 1, up to ``highest``.

    A feature with at most `max_bins` distinct values (NaN counts as one) has one bin per value;
    other features have bins of about equal counts.

    Parameters
    ----------
    n_bins : ndarray of shape (n_features,), dtype int32
        Number of bins of values; the code ``n_bins[f]`` stands for NaN.
    bin_start : ndarray of shape (n_features + 1,), dtype int64
    lowest, highest : ndarray, dtype float64
        Smallest and largest value of bin ``b`` of feature ``f``, at ``bin_start[f] + b``. If not
        all values are known, `lowest` is the largest value of the bin below.
    exact : ndarray of shape (n_features,), dtype bool
        True if the bins were formed from all distinct values.
    has_nan : ndarray of shape (n_features,), dtype bool
    """

    n_bins: np.ndarray
    bin_start: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    exact: np.ndarray
    has_nan: np.ndarray

    @classmethod
    def of(cls, X, max_bins: int, n_threads: int = 1) -> Bins:
        """Return the bins of a matrix.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
        max_bins : int
            2 to 256.
        n_threads : int, default=1
        """
        spans, has_nan = [], []
        for values, counts in values_of_features(X, n_threads):
            has_nan.append(int(counts.sum()) < X.shape[0])
            spans.append(group_values(values, counts, max_bins - has_nan[-1]))
        exact = np.ones(len(spans), dtype=bool)
        return cls._of_spans(spans, exact, np.array(has_nan, dtype=bool))

    @classmethod
    def from_sketches(cls, sketches, max_bins: int) -> Bins:
        """Merge the sketches of all partitions into bins of about equal counts.

        The result does not depend on the order of the sketches; from exact ones it is that of `of`.

        Parameters
        ----------
        sketches : list of FeatureSketch
        max_bins : int
            2 to 256.
        """
        has_nan = np.any([s.has_nan for s in sketches], axis=0)
        exact = np.all([s.exact for s in sketches], axis=0)
        spans = []
        for f, (lost, is_exact) in enumerate(zip(has_nan, exact)):
            low, high = group_values(*_merged(sketches, f), max_bins - lost)
            if not is_exact:
                low[1:] = high[:-1]
            spans.append((low, high))
        return cls._of_spans(spans, exact, has_nan)

    @classmethod
    def _of_spans(cls, spans, exact, has_nan) -> Bins:
        n_bins = np.array([len(low) for low, _ in spans], dtype=np.int32)
        unused = [np.zeros(1)]  # gives a valid address even if no feature has a bin
        return cls(
            n_bins,
            np.concatenate([[0], np.cumsum(n_bins)]).astype(np.int64),
            joined([low for low, _ in spans] + unused, np.float64),
            joined([high for _, high in spans] + unused, np.float64),
            exact,
            has_nan,
        )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_bins)

    @property
    def usable(self) -> np.ndarray:
        """Indices of the features that are not constant, dtype int32."""
        return np.flatnonzero(self.n_bins + self.has_nan > 1).astype(np.int32)

    def open_above(self) -> Bins:
        """Return bins whose last one takes whatever is above it, if not all values are known."""
        highest, last = self.highest.copy(), self.bin_start[1:] - 1
        highest[last[~self.exact & (self.n_bins > 0)]] = np.inf
        return replace(self, highest=highest)

    def thresholds(self, features, bins) -> np.ndarray:
        """Return a threshold above each of `bins`, numbers of bins of `features` of equal length.

        Halfway between their values if these are all known, else the largest value of the lower.
        """
        at = self.bin_start[features] + bins
        low, high = self.highest[at], self.lowest[np.minimum(at + 1, len(self.lowest) - 1)]
        return thresholds_between(low, np.maximum(low, high))

    def bins_below(self, features, thresholds) -> np.ndarray:
        """Return how many bins of each of `features` lie at or below its entry of `thresholds`."""
        found = np.empty(len(features), dtype=np.int64)
        order = np.argsort(features, kind="stable")
        each, starts = np.unique(features[order], return_index=True)
        for f, own in zip(each.tolist(), np.split(order, starts[1:])):
            highest = self.highest[self.bin_start[f] : self.bin_start[f + 1]]
            found[own] = np.searchsorted(highest, thresholds[own], side="right")
        return found


def _merged(sketches, f: int):
    """Return the values of a feature in all sketches, and their counts."""
    spans = [slice(s.starts[f], s.starts[f + 1]) for s in sketches]
    values = joined([s.values[span] for s, span in zip(sketches, spans)], np.float64)
    counts = joined([s.counts[span] for s, span in zip(sketches, spans)], np.int64)
    values, place = np.unique(values, return_inverse=True)
    counts = np.bincount(place, weights=counts, minlength=len(values)).astype(np.int64)
    return values, counts
