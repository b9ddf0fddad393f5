"""The features of a training matrix, sorted once, and the exact search for stumps on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cwboost._kernels.stumps.shared import SharedStumpSearch
from cwboost._kernels.stumps.sorted_columns import SortedColumns
from cwboost.kernels.matrices import canonical_csc, readable

__all__ = ["FoundStumps", "SortedFeatures"]


@dataclass(frozen=True)
class FoundStumps:
    """Stumps that a search found, one a target.

    A stump is ``polarity`` where ``x[feature] > threshold``, ``missing`` where ``x[feature]`` is
    NaN and ``-polarity`` elsewhere; with feature -1 it is ``polarity`` everywhere.

    Parameters
    ----------
    feature : ndarray of shape (n,), dtype int32
    threshold : ndarray of shape (n,), dtype float64
        Never NaN; ``inf`` where the stump sets missing values against present ones.
    polarity, missing : ndarray of shape (n,), dtype int8, values -1 and +1
    edges : ndarray of shape (n,), dtype float64
        ``sum_i weights[t, i] h_t(x_i)``; the sum over targets of absolute values where one stump
        was searched for all.
    outputs : ndarray of shape (n, ceil(n_samples / 8)), dtype uint8
        Outputs on the training matrix, packed as by `cwboost.pack_outputs`.
    """

    feature: np.ndarray
    threshold: np.ndarray
    polarity: np.ndarray
    missing: np.ndarray
    edges: np.ndarray
    outputs: np.ndarray


class SortedFeatures:
    """Exact search for decision stumps over all thresholds of a matrix.

    The matrix is sorted once, feature by feature. A search then visits, for all targets in one
    pass, every example but those of the most frequent value of each feature, so that its cost
    grows with the entries that are not, say, background, and slowly with the number of targets.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), dtype uint8, float32 or float64, or CSR/CSC
        Read in place, in any memory order; a reference is kept, to look up thresholds. Unaligned
        arrays and strides that are not multiples of the item size cost a copy. NaN is a
        missing value, infinities are ordinary values and -0.0 equals 0.0. Sparse matrices cost
        memory in proportion to the elements they store.
    n_threads : int, default=1
        Results have the same bits for any number.

    Attributes
    ----------
    n_samples, n_features : int
    n_visited : int
        Entries that a search visits, of the ``n_samples * n_features`` there are.
    nbytes : int
        Memory of the sorted features. Where the weights of a search take more than 16 MB, entries
        are kept in blocks of examples too, at two bytes more each.

    Raises
    ------
    TypeError
        For a dtype other than these.
    ValueError
        For an X without examples, not 2-d, or sparse and malformed.

    Notes
    -----
    Weights are rounded to multiples of about 2**-51 times the sum of their absolute values (a
    power of two, so that integer weights are not changed), and all sums of these are exact:
    equal partitions of the examples have equal edges. Of several stumps with the largest edge,
    the constant one is returned if it is among them, else that of the lowest feature and then of
    the lowest threshold. Thresholds lie halfway between two values ``a < b``, on a float32 number
    where there is one, and such that ``a <= t < b`` holds for the float32 roundings of a and b
    too wherever these differ.
    """

    def __init__(self, X, n_threads: int = 1):
        X = X if sparse.issparse(X) else np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X must be 2-d, got {X.ndim} dimensions")
        if X.dtype not in (np.uint8, np.float32, np.float64):
            raise TypeError(f"X must be uint8, float32 or float64, got {X.dtype}")
        self._X = canonical_csc(X) if sparse.issparse(X) else readable(X)
        self.n_samples, self.n_features = self._X.shape
        self.n_threads = n_threads
        columns = SortedColumns(self.n_samples, self.n_features)
        if sparse.issparse(self._X):
            columns.sort_sparse(self._X.data, self._X.indices, self._X.indptr, n_threads)
        else:
            columns.sort_dense(self._X, n_threads)
        self.n_visited, self.nbytes = columns.n_visited, columns.nbytes
        self._search = SharedStumpSearch(columns)
        self._all = np.arange(self.n_features, dtype=np.int64)

    def search(self, weights, features=None) -> FoundStumps:
        """The stump with the largest edge, for every target: exact.

        Parameters
        ----------
        weights : ndarray of shape (n_targets, n_samples), dtype float64
            Signed weights, finite; the last axis contiguous, rows may be padded.
        features : ndarray of int, default=None
            Features to search; None means all. The constant stumps are always in.

        Returns
        -------
        FoundStumps
            Stump ``t`` maximises ``sum_i weights[t, i] h(x_i)`` over all features, all thresholds
            between distinct values, both polarities, both sides for missing values, and the two
            constants.

        Raises
        ------
        ValueError
            If the shape of `weights` does not fit, or the sum of their absolute values is not
            finite.
        """
        weights = self._weights(weights)
        return FoundStumps(
            *self._search.search(weights, self._columns(features), self._values, self.n_threads)
        )

    def search_shared(self, weights, features=None) -> FoundStumps:
        """The one stump with the largest sum of absolute edges over the targets: exact.

        Parameters
        ----------
        weights, features
            As for `search`.

        Returns
        -------
        FoundStumps
            Holds one stump, which maximises ``sum_t |sum_i weights[t, i] h(x_i)|``; its polarity
            is +1, since the reversed stump has the same sum.

        Raises
        ------
        ValueError
            As `search`.
        """
        weights = self._weights(weights)
        return FoundStumps(
            *self._search.search_shared(
                weights, self._columns(features), self._values, self.n_threads
            )
        )

    def _columns(self, features) -> np.ndarray:
        if features is None:
            return self._all
        features = np.unique(np.asarray(features, dtype=np.int64))
        if features.size and not (features[0] >= 0 and features[-1] < self.n_features):
            raise ValueError(f"features must be in [0, {self.n_features})")
        return features

    def _weights(self, weights) -> np.ndarray:
        weights = np.asarray(weights, dtype=np.float64)
        if weights.ndim != 2 or weights.shape[0] == 0 or weights.shape[1] != self.n_samples:
            raise ValueError(
                f"weights must have shape (n_targets, {self.n_samples}), got {weights.shape}"
            )
        weights = readable(weights)
        return weights if weights.strides[1] == weights.itemsize else np.ascontiguousarray(weights)

    def _values(self, rows, columns) -> np.ndarray:
        """Entries of X: `rows` of shape (2, n), `columns` of shape (n,)."""
        if self.n_features == 0:
            return np.zeros(rows.shape)
        if sparse.issparse(self._X):
            columns = np.broadcast_to(columns, rows.shape)
            return np.array(
                [
                    _stored_value(self._X, i, j)
                    for i, j in zip(rows.ravel().tolist(), columns.ravel().tolist())
                ]
            ).reshape(rows.shape)
        return self._X[rows, columns].astype(np.float64)


def _stored_value(X, i: int, j: int) -> float:
    start, end = X.indptr[j], X.indptr[j + 1]
    at = start + np.searchsorted(X.indices[start:end], i)
    return float(X.data[at]) if at < end and X.indices[at] == i else 0.0
