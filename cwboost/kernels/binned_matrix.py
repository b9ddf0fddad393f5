"""A matrix as bin codes: all training examples, or one partition of them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from cwboost._kernels.trees.binning import encode_columns, encode_entries
from cwboost.kernels.bins import Bins
from cwboost.kernels.matrices import canonical_csc, readable
from cwboost.kernels.threads import usable_threads

_BLOCK_BYTES = 2**24  # of rows that are copied at a time


class BinnedMatrix:
    """Bin codes of a matrix, one byte per entry; of a sparse matrix, one byte per stored entry.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        uint8, float32 or float64, in any memory order; CSR or CSC. Not kept.
    bins : Bins, default=None
        None for those of `X`, by the next arguments.
    rows : ndarray of int, default=None
        A permutation of the rows of `X`, whose codes are formed in this order; None keeps theirs.
    max_bins : int, default=256
        Maximum number of bins of a feature, including that of missing values; 2 to 256.
    n_threads : int, default=1

    Attributes
    ----------
    n_rows, n_features : int
    bins : Bins
    codes : ndarray of uint8
        Dense: the code of (row, feature) at ``feature * n_rows + row``, then 64 bytes of padding.
        Sparse: empty.

    Raises
    ------
    ValueError
        For a `max_bins` out of range, 2**31 rows or more, `bins` or `rows` of another matrix, or a
        sparse matrix that is malformed.
    """

    def __init__(self, X, bins=None, rows=None, *, max_bins: int = 256, n_threads: int = 1):
        if not 2 <= max_bins <= 256:
            raise ValueError(f"max_bins must be 2 to 256, got {max_bins!r}")
        self.n_rows, self.n_features = X.shape
        if self.n_rows >= 2**31:
            raise ValueError(f"X must have fewer than 2**31 rows, got {self.n_rows}")
        self.n_threads = usable_threads(n_threads)
        if bins is None:
            bins = Bins.of(X, max_bins, self.n_threads)
        if bins.n_features != self.n_features:
            raise ValueError(f"bins must be of {self.n_features} features, got {bins.n_features}")
        if rows is not None and len(rows) != self.n_rows:
            raise ValueError(f"rows must permute the {self.n_rows} rows of X, got {len(rows)}")
        self.bins = bins
        self._lists, self._may_list = None, bins.usable
        if sp.issparse(X):
            self.codes = np.zeros(0, dtype=np.uint8)
            self._encode_sparse(canonical_csc(X if rows is None else X[rows]))
        else:
            self.codes = np.zeros(self.n_features * self.n_rows + 64, dtype=np.uint8)
            self._encode(X, rows)

    @classmethod
    def of_codes(cls, parts, bins, n_threads: int = 1) -> BinnedMatrix:
        """Return a matrix of rows whose codes are known; its dense features have no lists.

        Parameters
        ----------
        parts : list
            What `codes_of` returned, of any matrices in these bins.
        bins : Bins
        n_threads : int, default=1
        """
        binned = cls.__new__(cls)
        binned.bins, binned.n_features, binned._may_list = bins, bins.n_features, ()
        binned.n_threads, binned._lists = usable_threads(n_threads), None
        if any(map(sp.issparse, parts)):
            joined = sp.vstack(list(map(_as_entries, parts)), format="csc")
            binned.n_rows, binned.codes = joined.shape[0], np.zeros(0, dtype=np.uint8)
            binned._list_entries(joined.indptr, joined.indices, joined.data)
        else:
            binned.n_rows = sum(part.shape[1] for part in parts)
            binned.codes = np.zeros(binned.n_features * binned.n_rows + 64, dtype=np.uint8)
            np.concatenate(parts, axis=1, out=binned._columns)
        return binned

    def codes_of(self, rows):
        """Return the codes of some rows.

        Parameters
        ----------
        rows : ndarray of shape (n,), int

        Returns
        -------
        ndarray of shape (n_features, n), dtype uint8, or CSC array of shape (n, n_features)
            A sparse matrix has those of its stored entries.
        """
        if self._lists is None:
            return np.take(self._columns, rows, axis=1)
        _, indptr, indices, codes, _ = self._lists
        return sp.csc_array((codes, indices, indptr), (self.n_rows, self.n_features))[rows]

    def column(self, f: int) -> np.ndarray:
        """Return the codes of a feature, (n_rows,), dtype uint8.

        Parameters
        ----------
        f : int
        """
        if self._lists is None:
            return self._columns[f]
        _, indptr, rows, codes, default = self._lists
        column = np.full(self.n_rows, default[f], dtype=np.uint8)
        own = slice(indptr[f], indptr[f + 1])
        column[rows[own]] = codes[own]
        return column

    @property
    def _columns(self):
        """The codes of dense features, one row per feature."""
        return self.codes[: self.n_features * self.n_rows].reshape(self.n_features, self.n_rows)

    def _encode(self, X, rows):
        starts, highest = self.bins.bin_start, self.bins.highest
        step = max(1, _BLOCK_BYTES // max(1, self.n_features * X.dtype.itemsize))
        for start in range(0, self.n_rows, step):
            block = slice(start, start + step)
            values = readable(X[block] if rows is None else X[rows[block]])
            encode_columns(values.T, highest, starts, self._columns[:, block], self.n_threads)

    def _encode_sparse(self, X):
        indptr, codes = X.indptr.astype(np.int64), np.empty(len(X.data), dtype=np.uint8)
        values = X.data.astype(np.float64, copy=False)
        self._encode_values(values, indptr, codes)
        self._list_entries(indptr, X.indices, codes)

    def _encode_values(self, values, indptr, codes):
        """Write the codes of values that are listed by feature."""
        starts, highest = self.bins.bin_start, self.bins.highest
        encode_entries(values, indptr, highest, starts, codes, self.n_threads)

    def _list_entries(self, indptr, rows, codes):
        """Keep the entries of a sparse matrix; all others are zero."""
        n = self.n_features
        default = np.empty(n, dtype=np.uint8)
        self._encode_values(np.zeros(n), np.arange(n + 1, dtype=np.int64), default)
        indptr, rows = indptr.astype(np.int64), rows.astype(np.int32)
        self._lists = np.ones(n, dtype=np.uint8), indptr, rows, codes, default

    def lists(self) -> tuple:
        """Return the features whose search reads a list of entries, and these lists.

        Returns
        -------
        listed : ndarray of shape (n_features,), dtype uint8
            1 for all features of a sparse matrix, and for dense ones of which over half of the rows
            have one code.
        indptr, rows, codes, default_code : ndarrays
            Start of the entries of each feature (int64), their rows (int32) and codes (uint8), and
            the code of all other rows (uint8).
        """
        if self._lists is not None:
            return self._lists
        default_code = np.zeros(self.n_features, dtype=np.uint8)
        sizes = np.zeros(self.n_features, dtype=np.int64)
        rows, rare = [np.zeros(0, np.int32)], [np.zeros(0, np.uint8)]
        for f in self._may_list:
            counts = np.bincount(self._columns[f], minlength=256)
            default_code[f] = counts.argmax()
            if 2 * counts[default_code[f]] > self.n_rows:
                where = np.flatnonzero(self._columns[f] != default_code[f])
                rows.append(where.astype(np.int32))
                rare.append(self._columns[f, where])
                sizes[f] = len(where)
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        listed = (sizes > 0).astype(np.uint8)
        return listed, indptr, np.concatenate(rows), np.concatenate(rare), default_code


def _as_entries(codes) -> sp.csc_array:
    """Return what `BinnedMatrix.codes_of` gave, as entries: blocks may be dense and sparse."""
    if sp.issparse(codes):
        return codes
    d, n = codes.shape
    every = np.tile(np.arange(n, dtype=np.int32), d), n * np.arange(d + 1, dtype=np.int32)
    return sp.csc_array((codes.ravel(), *every), (n, d))
