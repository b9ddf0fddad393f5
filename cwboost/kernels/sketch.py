"""Distinct values of features with their counts, or quantiles of them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from cwboost.kernels.matrices import canonical_csc, readable
from cwboost.support.samples import evenly_spaced

_BLOCK_BYTES = 2**24  # size of a block of features while reading a dense matrix
_BLOCK_ROWS = 256  # rows of all its features that the first caches hold
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
    n_rows : int
        Number of examples of the partition.
    """

    values: np.ndarray
    counts: np.ndarray
    starts: np.ndarray
    exact: np.ndarray
    has_nan: np.ndarray
    n_rows: int

    @classmethod
    def of(cls, X, max_entries: int) -> FeatureSketch:
        """Return the sketch of the partition `X`, with at most `max_entries` entries per feature.

        A feature with more distinct values keeps quantiles: every example has an entry with the
        same or a greater value, and at most about 1 / max_entries of the examples lie between two.
        """
        kept, exact, has_nan = [], [], []
        for values, counts in values_of_features(X):  # one at a time: all together exceed X
            has_nan.append(int(counts.sum()) < X.shape[0])
            exact.append(len(values) <= max_entries)
            kept.append((values, counts) if exact[-1] else _quantiles(values, counts, max_entries))
        return cls(
            joined([values for values, _ in kept], np.float64),
            joined([counts for _, counts in kept], np.int64),
            np.concatenate([[0], np.cumsum([len(own) for own, _ in kept])]).astype(np.int64),
            np.array(exact, dtype=bool),
            np.array(has_nan, dtype=bool),
            X.shape[0],
        )

    @classmethod
    def of_values(cls, values, max_entries: int) -> FeatureSketch:
        """Return the sketch of derived features, from at most 8,192 examples, evenly spaced.

        The values of more examples are not all known: see `Bins.open_above`.

        Parameters
        ----------
        values : ndarray of shape (n_samples, n_features)
        max_entries : int
        """
        n = len(values)
        if n <= _SKETCHED:
            return cls.of(values, max_entries)
        sample = values[evenly_spaced(n, _SKETCHED)]
        exact = np.zeros(values.shape[1], dtype=bool)
        has_nan = np.isnan(values).any(axis=0)
        return replace(cls.of(sample, max_entries), exact=exact, has_nan=has_nan, n_rows=n)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.exact)


def values_of_features(X, n_threads: int = 1) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the distinct values of every feature, ascending float64, and their counts; no NaN."""
    n_rows, n_features = X.shape
    if sp.issparse(X):
        columns = canonical_csc(X)
        for start, end in zip(columns.indptr.tolist(), columns.indptr.tolist()[1:]):
            yield _distinct_of_stored(columns.data[start:end], n_rows)
        return
    X = readable(X)
    step = max(1, _BLOCK_BYTES // max(1, n_rows * X.dtype.itemsize))
    for start in range(0, n_features, step):
        part = X[:, start : start + step].T
        block = np.empty(part.shape, dtype=X.dtype)
        for first in range(0, n_rows, _BLOCK_ROWS):
            rows = slice(first, first + _BLOCK_ROWS)
            block[:, rows] = part[:, rows]
        yield from _map(_distinct, block, n_threads)


def joined(parts, dtype) -> np.ndarray:
    """Return parts, of which there may be none, one after the other."""
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype, copy=False)


def _distinct(column):
    """Return the distinct values of a column but NaN, ascending float64, and their counts."""
    if column.dtype == np.uint8:
        counts = np.bincount(column, minlength=256)
        values = np.flatnonzero(counts)
        return values.astype(np.float64), counts[values].astype(np.int64)
    ordered = np.sort(column)
    ordered = ordered[: len(ordered) - int(np.isnan(ordered).sum())]
    first = np.ones(len(ordered) + 1, dtype=bool)
    first[1:-1] = ordered[1:] != ordered[:-1]
    start = np.flatnonzero(first)
    # + 0.0: no -0.0 in thresholds
    return ordered[start[:-1]].astype(np.float64) + 0.0, start[1:] - start[:-1]


def _distinct_of_stored(stored, n_rows: int):
    """Return what `_distinct` does, for a column of which a sparse matrix stores some entries."""
    n_zeros = n_rows - len(stored)
    if n_zeros == 0:
        return _distinct(stored)
    values, counts = _distinct(np.append(stored, stored.dtype.type(0)))
    counts[np.searchsorted(values, 0.0)] += n_zeros - 1
    return values, counts


def _quantiles(values, counts, most: int):
    """Return at most `most` values with counts; each stands for those above the one before."""
    seen = np.cumsum(counts)
    shares = np.ceil(seen[-1] * np.arange(1, most + 1) / most).astype(np.int64)
    # The first value that reaches each share; the last is the largest value.
    kept = np.unique(np.searchsorted(seen, shares))
    return values[kept], np.diff(seen[kept], prepend=0)


def _map(function, items, n_threads):
    if n_threads == 1 or len(items) < 8:
        return map(function, items)
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))
