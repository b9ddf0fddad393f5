"""A training matrix as bin codes, on which trees are grown."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp

from cwboost._kernels.trees.binning import encode_columns, encode_entries, group_values
from cwboost.kernels.matrices import canonical_csc, readable
from cwboost.kernels.threads import usable_threads

__all__ = ["BinnedMatrix"]

_BLOCK_BYTES = 2**24  # size of a block of features while reading a dense matrix


class BinnedMatrix:
    """Bin codes of a matrix, one byte per entry; of a sparse matrix, one byte per stored entry.

    A feature with at most `max_bins` distinct values (NaN counts as one) gets one bin per value;
    other features get bins of about equal counts. The last code of a feature, ``n_bins[f]``,
    stands for NaN.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        uint8, float32 or float64, in any memory order; CSR or CSC. Not kept.
    max_bins : int, default=256
        Maximum number of bins of a feature, including that of missing values; 2 to 256.
    n_threads : int, default=1
    n_categories : ndarray of shape (n_features,), int, default=None
        Number of categories of features that hold codes, less than `max_bins`; 0 for numbers.

    Attributes
    ----------
    n_rows, n_features : int
    n_categories : ndarray of shape (n_features,), dtype int64
    codes : ndarray of uint8
        Dense: the code of (row, feature) at ``feature * n_rows + row``, then 64 bytes of padding.
        Sparse: empty.
    listed : ndarray of shape (n_features,), dtype uint8
        1 for features with a list of entries, the rows whose code is not the default: all
        features of a sparse matrix, and dense ones with one code in over half of the rows.
    indptr, entry_rows, entry_codes, default_code : ndarray or None
        Start of the entries of each feature (int64), their rows (int32) and codes (uint8), and
        the default code of each feature (uint8; in a sparse matrix, the code of zero). None if no
        feature is listed.
    n_bins : ndarray of shape (n_features,), dtype int32
        Number of bins of values, without the bin of missing values.
    usable : ndarray, dtype int32
        Indices of the features that are not constant.
    bin_start : ndarray of shape (n_features + 1,), dtype int64
    lowest, highest : ndarray, dtype float64
        Smallest and largest value in bin ``b`` of feature ``f``, at ``bin_start[f] + b``.

    Raises
    ------
    ValueError
        For a `max_bins` out of range, 2**31 rows or more, or a sparse matrix that is malformed.
    """

    def __init__(self, X, *, max_bins: int = 256, n_threads: int = 1, n_categories=None):
        if not 2 <= max_bins <= 256:
            raise ValueError(f"max_bins must be 2 to 256, got {max_bins!r}")
        self.n_rows, self.n_features = X.shape
        if self.n_rows >= 2**31:
            raise ValueError(f"X must have fewer than 2**31 rows, got {self.n_rows}")
        self._max_bins = max_bins
        self.n_categories = np.zeros(self.n_features, dtype=np.int64)
        if n_categories is not None:
            self.n_categories[:] = n_categories
            self._check_categories(X)
        n_threads = usable_threads(n_threads)
        if sp.issparse(X):
            self._bin_sparse(X, n_threads)
        else:
            self._bin_dense(readable(X), n_threads)

    def _check_categories(self, X):
        places = np.flatnonzero(self.n_categories)
        if len(places) and sp.issparse(X):
            raise ValueError("n_categories needs a dense X")
        for place in places.tolist():
            n = int(self.n_categories[place])
            if n >= self._max_bins:
                raise ValueError(
                    f"column {place} of X has {n} categories, max_bins={self._max_bins} allows "
                    f"{self._max_bins - 1}"
                )
            column = X[:, place]
            valid = np.isnan(column) | ((column >= 0) & (column < n) & (column == np.floor(column)))
            if not valid.all():
                raise ValueError(f"column {place} of X must hold codes from 0 to {n - 1} or NaN")

    def _bin_dense(self, X, n_threads):
        step = max(1, _BLOCK_BYTES // max(1, self.n_rows * X.dtype.itemsize))
        bins, has_nan = [], []
        for start in range(0, self.n_features, step):
            block = np.ascontiguousarray(X[:, start : start + step].T)
            for values, counts in _map(_distinct, block, n_threads):
                has_nan.append(int(counts.sum()) < self.n_rows)
                bins.append(self._group(values, counts, np.array([0, len(values)]), has_nan[-1:]))
        self._set_bins(bins, np.array(has_nan))
        self.codes = np.zeros(self.n_features * self.n_rows + 64, dtype=np.uint8)
        codes = self.codes[: self.n_features * self.n_rows].reshape(self.n_features, self.n_rows)
        encode_columns(X.T, self.highest, self.bin_start, codes, n_threads)
        self.listed = np.zeros(self.n_features, dtype=np.uint8)
        self.indptr = self.entry_rows = self.entry_codes = self.default_code = None
        self._list_entries(codes)

    def _list_entries(self, codes):
        """List the entries of features that have one code in over half of the rows."""
        default_code = np.zeros(self.n_features, dtype=np.uint8)
        sizes = np.zeros(self.n_features, dtype=np.int64)
        rows, rare = [], []
        for f in self.usable:
            counts = np.bincount(codes[f], minlength=256)
            default_code[f] = counts.argmax()
            if 2 * counts[default_code[f]] > self.n_rows:
                where = np.flatnonzero(codes[f] != default_code[f])
                rows.append(where.astype(np.int32))
                rare.append(codes[f, where])
                self.listed[f], sizes[f] = 1, len(where)
        if rows:
            self.indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            self.entry_rows, self.entry_codes = np.concatenate(rows), np.concatenate(rare)
            self.default_code = default_code

    def _bin_sparse(self, X, n_threads):
        columns = canonical_csc(X)
        entries = columns.data.astype(np.float64, copy=False)
        self.indptr = columns.indptr.astype(np.int64)
        self.entry_rows = columns.indices.astype(np.int32)
        has_nan = np.zeros(self.n_features, dtype=bool)
        stored = np.diff(self.indptr)
        has_nan[np.repeat(np.arange(self.n_features), stored)[np.isnan(entries)]] = True
        values, counts, starts = _distinct_of_columns(entries, stored, self.n_rows)
        self._set_bins([self._group(values, counts, starts, has_nan)], has_nan)
        self.codes = np.zeros(0, dtype=np.uint8)
        self.listed = np.ones(self.n_features, dtype=np.uint8)
        codes = self.entry_codes = np.empty(len(entries), dtype=np.uint8)
        encode_entries(entries, self.indptr, self.highest, self.bin_start, codes, n_threads)
        every = np.arange(self.n_features + 1, dtype=np.int64)
        self.default_code = np.empty(self.n_features, dtype=np.uint8)
        zeros = np.zeros(self.n_features)
        encode_entries(zeros, every, self.highest, self.bin_start, self.default_code, n_threads)

    def _group(self, values, counts, starts, has_nan):
        """Return the smallest and largest values of the bins of some features, and their number."""
        low, high = np.empty(len(values)), np.empty(len(values))
        n_bins = np.empty(len(starts) - 1, dtype=np.int32)
        most = self._max_bins - np.asarray(has_nan, dtype=np.int64)
        group_values(values, counts, starts.astype(np.int64), most, low, high, n_bins)
        place = np.arange(len(values)) - np.repeat(starts[:-1], np.diff(starts))
        filled = place < np.repeat(n_bins, np.diff(starts))
        return low[filled], high[filled], n_bins

    def _set_bins(self, bins, has_nan):
        self.n_bins = np.concatenate([n for _, _, n in bins])
        self.bin_start = np.concatenate([[0], np.cumsum(self.n_bins)]).astype(np.int64)
        unused = [np.zeros(1)]  # gives a valid address even if no feature has a bin
        self.lowest = np.concatenate([low for low, _, _ in bins] + unused)
        self.highest = np.concatenate([high for _, high, _ in bins] + unused)
        self.usable = np.flatnonzero(self.n_bins + has_nan > 1).astype(np.int32)


def _distinct(column):
    """Return the distinct values of a dense feature but NaN, ascending float64, and counts."""
    if column.dtype == np.uint8:
        counts = np.bincount(column, minlength=256)
        values = np.flatnonzero(counts)
        return values.astype(np.float64), counts[values].astype(np.int64)
    ordered = np.sort(column)
    ordered = ordered[: len(ordered) - int(np.isnan(ordered).sum())]
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    start = np.flatnonzero(first)
    # + 0.0: no -0.0 in thresholds
    return ordered[start].astype(np.float64) + 0.0, np.diff(start, append=len(ordered))


def _distinct_of_columns(entries, stored, n_rows):
    """Return the same for all columns of a sparse matrix, whose zeros are implicit.

    The result is the values, the counts, and the start of each column in them.
    """
    n_columns = len(stored)
    column = np.concatenate([np.repeat(np.arange(n_columns), stored), np.arange(n_columns)])
    value = np.concatenate([entries, np.zeros(n_columns)]) + 0.0
    count = np.concatenate([np.ones(len(entries), dtype=np.int64), n_rows - stored])
    keep = (count > 0) & ~np.isnan(value)
    column, value, count = column[keep], value[keep], count[keep]
    order = np.lexsort((value, column))
    column, value, count = column[order], value[order], count[order]
    first = np.ones(len(value), dtype=bool)
    first[1:] = (value[1:] != value[:-1]) | (column[1:] != column[:-1])
    start = np.flatnonzero(first)
    counts = np.add.reduceat(count, start) if len(start) else count
    return value[start], counts, np.searchsorted(column[start], np.arange(n_columns + 1))


def _map(function, items, n_threads):
    if n_threads == 1 or len(items) < 8:
        return map(function, items)
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))
