"""Exact search for stumps on the features of a training matrix, which are sorted once."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from cwboost._kernels.common.arrays import ascends_within
from cwboost._kernels.stumps.search import StumpSearch
from cwboost._kernels.stumps.sorted_columns import SortedColumns
from cwboost.kernels.matrices import canonical_csc, readable, readable_weights
from cwboost.kernels.threads import usable_threads


class FoundStumps(NamedTuple):
    """Result of a search: one stump per target.

    The output of a stump is ``polarity`` if ``x[feature] > threshold``, ``missing`` if
    ``x[feature]`` is NaN, and ``-polarity`` otherwise; for feature -1 it is always ``polarity``.

    Parameters
    ----------
    feature : ndarray of shape (n,), dtype int32
    threshold : ndarray of shape (n,), dtype float64
        Never NaN; ``inf`` if the stump separates missing values from present ones.
    polarity, missing : ndarray of shape (n,), dtype int8, values -1 and +1
    edges : ndarray of shape (n,), dtype float64
        ``sum_i weights[t, i] h_t(x_i)``; for `search_shared`, the sum over targets of their
        absolute values.
    outputs : ndarray of shape (n, ceil(n_samples / 8)), dtype uint8, or None
        Outputs on the training matrix, packed as by `cwboost.pack_outputs`; None from partitions,
        which hold the examples.
    """

    feature: np.ndarray
    threshold: np.ndarray
    polarity: np.ndarray
    missing: np.ndarray
    edges: np.ndarray
    outputs: np.ndarray | None


class SortedFeatures:
    """Exact search for decision stumps over all thresholds of a matrix.

    The matrix is sorted once, feature by feature. A search visits every example except those with
    the most frequent value of a feature, in one pass for all targets. Its cost thus depends on
    the entries with other values (not on the background of images), and grows slowly with the
    number of targets.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), dtype uint8, float32 or float64, or CSR/CSC
        Read in place, in any memory order, but copied if unaligned or if strides are not multiples
        of the item size; a reference is kept to look up thresholds. NaN is a missing value,
        infinities are ordinary values, and -0.0 equals 0.0. The memory for sparse matrices is
        proportional to the number of stored elements.
    n_threads : int, default=1
        Does not change the bits of results.

    Attributes
    ----------
    n_samples, n_features : int
    n_visited : int
        Number of the ``n_samples * n_features`` entries that a search visits.
    nbytes : int
        Memory of the sorted features.

    Raises
    ------
    TypeError
        For another dtype of X.
    ValueError
        If X has no examples, is not 2-d, or is sparse and malformed.

    Notes
    -----
    Weights are rounded to multiples of a power of two, about 2**-51 times the sum of their
    absolute values, which does not change integer weights. All sums of rounded weights are exact,
    so equal partitions of the examples have equal edges. Ties go to the constant stump, then to
    the lowest feature, then to the lowest threshold. A threshold t lies halfway between two values
    ``a < b``, on a float32 number if there is one between them. ``a <= t < b`` also holds for the
    float32 roundings of a and b if these differ.
    """

    def __init__(self, X, n_threads: int = 1):
        X = X if sparse.issparse(X) else np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X must be 2-d, got {X.ndim} dimensions")
        if X.dtype not in (np.uint8, np.float32, np.float64):
            raise TypeError(f"X must be uint8, float32 or float64, got {X.dtype}")
        self._X = canonical_csc(X) if sparse.issparse(X) else readable(X)
        self.n_samples, self.n_features = self._X.shape
        n_threads = self.n_threads = usable_threads(n_threads)
        columns = SortedColumns(self.n_samples, self.n_features)
        if sparse.issparse(self._X):
            data, indices, indptr = self._X.data, self._X.indices, self._X.indptr
            columns.sort_sparse(data, indices, indptr, n_threads)
            self._search = StumpSearch(columns, data, indices, indptr)
        else:
            columns.sort_dense(self._X, n_threads)
            self._search = StumpSearch(columns, self._X)
        self.n_visited, self.nbytes = columns.n_visited, columns.nbytes
        self._all = np.arange(self.n_features, dtype=np.int64)

    def search(self, weights, features=None) -> FoundStumps:
        """Return the stump with the largest edge for every target, by exact search.

        Parameters
        ----------
        weights : ndarray of shape (n_targets, n_samples), dtype float64
            Signed weights, finite; the last axis is contiguous, rows may be padded.
        features : ndarray of int, default=None
            Features to search; None means all. The constant stumps are always included.

        Returns
        -------
        FoundStumps
            Stump ``t`` maximises ``sum_i weights[t, i] h(x_i)`` over all features, all thresholds
            between distinct values, both polarities, both sides for missing values, and the two
            constants.

        Raises
        ------
        ValueError
            If `weights` have another shape, or the sum of their absolute values is not finite.
        """
        weights = readable_weights(weights, self.n_samples)
        return FoundStumps(*self._search.search(weights, self._columns(features), self.n_threads))

    def search_shared(self, weights, features=None) -> FoundStumps:
        """Return the stump with the largest sum of absolute edges over targets, by exact search.

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
        weights = readable_weights(weights, self.n_samples)
        return FoundStumps(
            *self._search.search_shared(weights, self._columns(features), self.n_threads)
        )

    def _columns(self, features) -> np.ndarray:
        if features is None:
            return self._all
        features = np.asarray(features, dtype=np.int64)
        if ascends_within(features, self.n_features):
            return features
        features = np.unique(features)
        if features.size and not (features[0] >= 0 and features[-1] < self.n_features):
            raise ValueError(
                f"features must be in [0, {self.n_features}), got {features[0]}..{features[-1]}"
            )
        return features
