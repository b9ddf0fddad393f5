"""A training matrix as bin codes: what trees are grown on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp

from cwboost._kernels.binning import encode_columns, encode_entries, group_values

__all__ = ["BinnedMatrix"]

_BLOCK_BYTES = 2**24  # of one block of features while a dense matrix is read


class BinnedMatrix:
    """Bin codes of a matrix, one byte an entry; of a sparse matrix one byte a stored entry.

    A feature with at most `max_bins` distinct values (NaN counts as one) gets a bin a value;
    other features get bins of about equal counts. The last code of a feature, ``n_bins[f]``, is
    NaN.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        uint8, float32 or float64, in any memory order; CSR or CSC. Not kept.
    max_bins : int, default=256
        Bins of a feature, with the one of missing values; 2 to 256.
    n_threads : int, default=1

    Attributes
    ----------
    n_rows, n_features : int
    codes : ndarray of uint8
        Dense: of (row, feature) at ``feature * n_rows + row``. Sparse: of each stored entry,
        column by column.
    indptr, rows, default_code : ndarray or None
        Sparse: where each column begins (int64), the row of each entry (int32), and the code of
        the value zero in each feature (uint8). Dense: None.
    n_bins : ndarray of shape (n_features,), dtype int32
        Bins of values, without the missing one.
    usable : ndarray, dtype int32
        Features that are not constant.
    bin_start : ndarray of shape (n_features + 1,), dtype int64
    lowest, highest : ndarray, dtype float64
        Smallest and largest value in bin ``b`` of feature ``f``, at ``bin_start[f] + b``.

    Raises
    ------
    ValueError
        For a `max_bins` out of range.
    """

    def __init__(self, X, *, max_bins: int = 256, n_threads: int = 1):
        if not 2 <= max_bins <= 256:
            raise ValueError(f"max_bins: expected 2 to 256, got {max_bins!r}")
        self.n_rows, self.n_features = X.shape
        self._max_bins = max_bins
        if sp.issparse(X):
            self._bin_sparse(X, n_threads)
        else:
            self._bin_dense(X, n_threads)

    def _bin_dense(self, X, n_threads):
        self.indptr = self.rows = self.default_code = None
        step = max(1, _BLOCK_BYTES // max(1, self.n_rows * X.dtype.itemsize))
        starts = range(0, self.n_features, step)
        bins, has_nan = [], []
        for start in starts:
            block = np.ascontiguousarray(X[:, start : start + step].T)
            for low, high, nan in _map(self._bins_of_column, block, n_threads):
                bins.append((low, high))
                has_nan.append(nan)
        self._set_bins(bins, has_nan)
        codes = np.empty((self.n_features, self.n_rows), dtype=np.uint8)
        for start in starts:
            block = np.ascontiguousarray(X[:, start : start + step].T)
            stop = start + len(block)
            encode_columns(
                block, self.highest, self.bin_start[start : stop + 1], codes[start:stop], n_threads
            )
        self.codes = codes.ravel()

    def _bin_sparse(self, X, n_threads):
        columns = X.tocsc()
        if not columns.has_canonical_format:
            columns = columns.copy()
            columns.sum_duplicates()
        values = columns.data.astype(np.float64, copy=False)
        self.indptr = columns.indptr.astype(np.int64)
        self.rows = columns.indices.astype(np.int32)
        entries = [values[a:b] for a, b in zip(self.indptr[:-1], self.indptr[1:])]
        found = list(_map(self._bins_of_column, entries, n_threads))
        self._set_bins([bins[:2] for bins in found], [bins[2] for bins in found])
        self.codes = np.empty(len(values), dtype=np.uint8)
        encode_entries(values, self.indptr, self.highest, self.bin_start, self.codes, n_threads)
        every = np.arange(self.n_features + 1, dtype=np.int64)
        self.default_code = np.empty(self.n_features, dtype=np.uint8)
        zeros = np.zeros(self.n_features)
        encode_entries(zeros, every, self.highest, self.bin_start, self.default_code, n_threads)

    def _bins_of_column(self, column):
        """Smallest and largest value of each bin of a feature, and whether it has NaN.

        `column` may be shorter than the matrix: the rows it lacks are zero.
        """
        if column.dtype == np.uint8:
            counts = np.bincount(column, minlength=256)
            values = np.flatnonzero(counts)
            counts = counts[values]
        else:
            ordered = np.sort(column)
            ordered = ordered[: len(ordered) - int(np.isnan(ordered).sum())]
            first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])
            values, counts = ordered[first], np.diff(np.r_[first, len(ordered)])
        nan = int(counts.sum()) < len(column)
        values = values.astype(np.float64) + 0.0  # no -0.0 in thresholds
        n_implicit = self.n_rows - len(column)
        if n_implicit:
            values, counts = _add_zeros(values, counts, n_implicit)
        most = self._max_bins - nan
        low, high = np.empty(len(values)), np.empty(len(values))
        n_bins = group_values(values, counts.astype(np.int64), most, low, high)
        return low[:n_bins].copy(), high[:n_bins].copy(), nan

    def _set_bins(self, bins, has_nan):
        self.n_bins = np.array([len(low) for low, _ in bins], dtype=np.int32)
        self.bin_start = np.r_[0, np.cumsum(self.n_bins)].astype(np.int64)
        unused = [np.zeros(1)]  # an address, also where no feature has a bin
        self.lowest = np.concatenate([low for low, _ in bins] + unused)
        self.highest = np.concatenate([high for _, high in bins] + unused)
        self.usable = np.flatnonzero(self.n_bins + np.asarray(has_nan) > 1).astype(np.int32)


def _add_zeros(values, counts, n_zeros):
    """Distinct values and counts with `n_zeros` more zeros."""
    place = int(np.searchsorted(values, 0.0))
    if place < len(values) and values[place] == 0.0:
        counts = counts.copy()
        counts[place] += n_zeros
        return values, counts
    return np.insert(values, place, 0.0), np.insert(counts, place, n_zeros)


def _map(function, items, n_threads):
    if n_threads == 1 or len(items) < 8:
        return map(function, items)
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))
