"""Bins of features that several partitions share, and one partition's examples in these bins."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from cwboost._kernels.partitions.bin_sums import (
    bin_sums,
    coarse_squares,
    code_outputs,
    entry_sums,
    thresholds_between,
)
from cwboost._kernels.trees.binning import (
    copy_columns,
    encode_columns,
    encode_entries,
    group_values,
)
from cwboost.kernels.binned_matrix import _distinct, _distinct_of_columns
from cwboost.kernels.matrices import canonical_csc, readable
from cwboost.kernels.threads import usable_threads

__all__ = ["BinnedPartition", "FeatureSketch", "SharedBins"]

_BLOCK_BYTES = 2**24  # size of a block of features while reading a dense matrix
_SKETCHED = 8192  # largest number of a partition's examples in a sketch of derived features


@dataclass(frozen=True, eq=False)
class FeatureSketch:
    """Distinct values of every feature of one partition with their counts, or quantiles of them.

    Parameters
    ----------
    values : ndarray of shape (n_entries,), dtype float64
        Ascending per feature, feature after feature; NaN is left out.
    counts : ndarray of shape (n_entries,), dtype int64
        Number of examples with this value, or above the entry before and up to this value.
    starts : ndarray of shape (n_features + 1,), dtype int64
    exact : ndarray of shape (n_features,), dtype bool
        True if the entries are all distinct values of the feature.
    has_nan : ndarray of shape (n_features,), dtype bool
    """

    values: np.ndarray
    counts: np.ndarray
    starts: np.ndarray
    exact: np.ndarray
    has_nan: np.ndarray

    @classmethod
    def of(cls, X, max_entries: int) -> FeatureSketch:
        """Return the sketch of the partition `X`, with at most `max_entries` entries per feature.

        A feature with more distinct values keeps quantiles: every example has an entry with the
        same or a greater value, and at most about 1 / max_entries of the examples lie between two.
        """
        if sp.issparse(X):
            columns = canonical_csc(X)
            entries = columns.data.astype(np.float64, copy=False)
            values, counts, starts = _distinct_of_columns(
                entries, np.diff(columns.indptr), X.shape[0]
            )
            found = (
                _quantiles(values[a:b], counts[a:b], max_entries)
                for a, b in zip(starts.tolist(), starts.tolist()[1:])
            )
        else:
            columns = _columns(readable(X))
            found = (_quantiles_of(column, max_entries) for column in columns)
        kept, n_present, exact = [], [], []
        for own, times, is_exact in found:  # one feature at a time: all together exceed X
            kept.append((own, times))
            n_present.append(int(times.sum()))
            exact.append(is_exact)
        sizes = [len(values) for values, _ in kept]
        return cls(
            _joined([values for values, _ in kept], np.float64),
            _joined([counts for _, counts in kept], np.int64),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.array(exact, dtype=bool),
            np.array(n_present, dtype=np.int64) < X.shape[0],
        )

    @classmethod
    def of_values(cls, values, max_entries: int) -> FeatureSketch:
        """Return the sketch of derived features, from at most 8,192 examples, evenly spaced.

        The values of more examples are not all known: see `SharedBins.open_above`.

        Parameters
        ----------
        values : ndarray of shape (n_samples, n_features)
        max_entries : int
        """
        n = len(values)
        if n <= _SKETCHED:
            return cls.of(values, max_entries)
        sample = values[np.arange(_SKETCHED) * n // _SKETCHED]
        exact = np.zeros(values.shape[1], dtype=bool)
        has_nan = np.isnan(values).any(axis=0)
        return replace(cls.of(sample, max_entries), exact=exact, has_nan=has_nan)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.exact)

    @property
    def n_rows(self) -> int:
        """Number of examples that have a value of the fullest feature."""
        seen = np.concatenate([[0], np.cumsum(self.counts)])
        return int(np.diff(seen[self.starts]).max(initial=0))


@dataclass(frozen=True, eq=False)
class SharedBins:
    """Bins of features: bin b holds the values above those of bin b - 1, up to ``highest``.

    Parameters
    ----------
    n_bins : ndarray of shape (n_features,), dtype int32
        Number of bins of values; the code ``n_bins[f]`` stands for NaN.
    bin_start : ndarray of shape (n_features + 1,), dtype int64
    lowest, highest : ndarray, dtype float64
        Smallest and largest value of bin ``b`` of feature ``f``, at ``bin_start[f] + b``. If the
        bins are not exact, the smallest is that of the values in the sketches.
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
    def from_sketches(cls, sketches, max_bins: int, features=None) -> SharedBins:
        """Merge the sketches of all partitions into bins of about equal counts.

        The result does not depend on the order of the sketches. A feature with at most `max_bins`
        distinct values (NaN counts as one) gets one bin per value.

        Parameters
        ----------
        sketches : list of FeatureSketch
        max_bins : int
            2 to 256.
        features : ndarray of int, default=None
            The columns that the bins are for, in this order; None for all.
        """
        features = np.arange(sketches[0].n_features) if features is None else features
        has_nan = np.any([s.has_nan for s in sketches], axis=0)[features]
        exact = np.all([s.exact for s in sketches], axis=0)[features]
        parts = [_merged(sketches, f, max_bins - lost) for f, lost in zip(features, has_nan)]
        n_bins = np.array([len(low) for low, _ in parts], dtype=np.int32)
        unused = [np.zeros(1)]  # gives a valid address even if no feature has a bin
        return cls(
            n_bins,
            np.concatenate([[0], np.cumsum(n_bins)]).astype(np.int64),
            _joined([low for low, _ in parts] + unused, np.float64),
            _joined([high for _, high in parts] + unused, np.float64),
            exact,
            has_nan,
        )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_bins)

    def open_above(self) -> SharedBins:
        """Return bins whose last one takes whatever is above it, if not all values are known."""
        highest, last = self.highest.copy(), self.bin_start[1:] - 1
        highest[last[~self.exact & (self.n_bins > 0)]] = np.inf
        return replace(self, highest=highest)

    @property
    def code_starts(self) -> np.ndarray:
        """Start of the codes of each feature, the code of NaN included, among those of all."""
        return np.concatenate([[0], np.cumsum(self.n_bins.astype(np.int64) + 1)])

    def thresholds(self, features, bins) -> np.ndarray:
        """Return a threshold above each of `bins`, numbers of bins of `features` of equal length.

        Halfway between their values if these are all known, else the largest value of the lower.
        """
        at = self.bin_start[features] + bins
        low, high = self.highest[at], self.lowest[np.minimum(at + 1, len(self.lowest) - 1)]
        return np.where(self.exact[features], thresholds_between(low, np.maximum(low, high)), low)

    def bins_below(self, features, thresholds) -> np.ndarray:
        """Return how many bins of each of `features` lie at or below its entry of `thresholds`."""
        found = np.empty(len(features), dtype=np.int64)
        order = np.argsort(features, kind="stable")
        each, starts = np.unique(features[order], return_index=True)
        for f, own in zip(each.tolist(), np.split(order, starts[1:])):
            highest = self.highest[self.bin_start[f] : self.bin_start[f + 1]]
            found[own] = np.searchsorted(highest, thresholds[own], side="right")
        return found


class BinnedPartition:
    """The examples of one partition as bin codes, one byte per entry.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        uint8, float32 or float64. Not kept.
    bins : SharedBins
    n_threads : int, default=1

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_samples), dtype uint8, or None
        None if X is sparse, which stores the codes of its entries alone.
    """

    def __init__(self, X, bins: SharedBins, n_threads: int = 1):
        self.bins = bins
        self.n_samples, self.n_features = X.shape
        self.n_threads = usable_threads(n_threads)
        self.codes = self.entries = None
        self._starts = bins.code_starts
        if sp.issparse(X):
            self._encode_sparse(canonical_csc(X))
        else:
            self._encode_dense(readable(X))

    def _encode_dense(self, X):
        self.codes = np.empty((self.n_features, self.n_samples), dtype=np.uint8)
        bins = self.bins
        encode_columns(X.T, bins.highest, bins.bin_start, self.codes, self.n_threads)

    def _encode_sparse(self, X):
        starts, highest = self.bins.bin_start, self.bins.highest
        indptr = X.indptr.astype(np.int64)
        codes = np.empty(len(X.data), dtype=np.uint8)
        values = X.data.astype(np.float64, copy=False)
        encode_entries(values, indptr, highest, starts, codes, self.n_threads)
        default = np.empty(self.n_features, dtype=np.uint8)
        every = np.arange(self.n_features + 1, dtype=np.int64)
        encode_entries(np.zeros(self.n_features), every, highest, starts, default, self.n_threads)
        self.entries = indptr, X.indices.astype(np.int32), codes, default

    def sums(self, weights, scales) -> np.ndarray:
        """Return the exact sums of rounded weights per code of every feature, and of squares.

        Parameters
        ----------
        weights : ndarray of shape (n_targets, n_samples), dtype float64
        scales : ndarray of shape (n_targets,), dtype float64

        Returns
        -------
        sums : ndarray of shape (``bins.code_starts[-1]``, n_targets), dtype float64
            Integers.
        squares : ndarray of shape (n_targets,), dtype float64
            What `cwboost.kernels.coarse_squares` returns; reading the weights once saves time.
        """
        if self.codes is not None:
            return bin_sums(weights, scales, self.codes, self._starts, self.n_threads)
        indptr, rows, codes, default = self.entries
        sums = entry_sums(weights, scales, indptr, rows, codes, self._starts, default)
        return sums, coarse_squares(weights, scales)

    def column(self, feature: int) -> np.ndarray:
        """Return the codes of `feature`, of shape (n_samples,), dtype uint8."""
        if self.codes is not None:
            return self.codes[feature]
        indptr, rows, codes, default = self.entries
        column = np.full(self.n_samples, default[feature], dtype=np.uint8)
        stored = slice(indptr[feature], indptr[feature + 1])
        column[rows[stored]] = codes[stored]
        return column

    def outputs(self, feature, below, polarity, missing, packed) -> None:
        """Write the outputs of a stump on a feature as bits, see `cwboost.pack_outputs`.

        Parameters
        ----------
        feature, below : int
            The stump is `polarity` on codes of at least `below`, see `SharedBins.bins_below`.
        polarity, missing : {-1, 1}
            Output above the threshold, and for missing values.
        packed : ndarray of shape (ceil(n_samples / 8),), dtype uint8
        """
        lost = int(self.bins.n_bins[feature]) if self.bins.has_nan[feature] else -1
        code_outputs(self.column(feature), below, polarity > 0, lost, missing > 0, packed)


def _joined(parts, dtype) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype, copy=False)


def _columns(X):
    """Yield copies of the columns of a dense matrix."""
    n_rows, n_features = X.shape
    step = max(1, _BLOCK_BYTES // max(1, n_rows * X.dtype.itemsize))
    for start in range(0, n_features, step):
        part = X[:, start : start + step].T
        block = np.empty(part.shape, dtype=X.dtype)
        copy_columns(part, block)
        yield from block


def _quantiles_of(column, most: int):
    """Return what `_quantiles` returns for the values of a dense feature, which it may sort."""
    if column.dtype == np.uint8:
        return _quantiles(*_distinct(column), most)
    column.sort()
    column = column[: len(column) - int(np.isnan(column).sum())]
    if np.count_nonzero(column[1:] != column[:-1]) < most:
        return _quantiles(*_distinct(column), most)
    values = np.unique(column[_shares(len(column), most) - 1])
    seen = np.searchsorted(column, values, side="right")
    # + 0.0: no -0.0 in thresholds
    return values.astype(np.float64) + 0.0, np.diff(seen, prepend=0), False


def _quantiles(values, counts, most: int):
    """Return at most `most` values with counts, and whether these are all values.

    Each value stands for those above the one before.
    """
    if len(values) <= most:
        return values, counts, True
    seen = np.cumsum(counts)
    # The first value that reaches each share; the last is the largest value.
    kept = np.unique(np.searchsorted(seen, _shares(seen[-1], most)))
    return values[kept], np.diff(seen[kept], prepend=0), False


def _shares(n, most: int):
    """Return the ends of `most` equal shares of `n` examples, ascending from 1 to n."""
    return np.ceil(n * np.arange(1, most + 1) / most).astype(np.int64)


def _merged(sketches, f: int, most: int):
    """Return the smallest and the largest values of the bins of one feature."""
    spans = [slice(s.starts[f], s.starts[f + 1]) for s in sketches]
    values = _joined([s.values[span] for s, span in zip(sketches, spans)], np.float64)
    counts = _joined([s.counts[span] for s, span in zip(sketches, spans)], np.int64)
    values, place = np.unique(values, return_inverse=True)
    if len(values) == 0:
        return values, values
    counts = np.bincount(place, weights=counts, minlength=len(values)).astype(np.int64)
    low, high, n_bins = np.empty(len(values)), np.empty(len(values)), np.empty(1, np.int32)
    span, limit = np.array([0, len(values)], np.int64), np.array([most], np.int64)
    group_values(values, counts, span, limit, low, high, n_bins)
    return low[: n_bins[0]], high[: n_bins[0]]
