"""Rows with few entries: the arrays of a CSR matrix, of which every round makes several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

__all__ = ["SparseRows"]


@dataclass(frozen=True)
class SparseRows:
    """A CSR matrix without the checks of SciPy's constructor, which take as long as a small kernel.

    Parameters
    ----------
    start : ndarray of shape (n + 1,), dtype int64
        Row j has the entries ``start[j]:start[j + 1]``.
    feature : ndarray of shape (n_stored,), dtype int32
        Ascending in each row.
    value : ndarray of shape (n_stored,), dtype float32
    n_features : int
    """

    start: np.ndarray
    feature: np.ndarray
    value: np.ndarray
    n_features: int

    def __len__(self):
        return len(self.start) - 1

    @classmethod
    def of(cls, values):
        """Return the rows of an array, (n, n_features), of dtype float32, without its zeros."""
        row, feature = np.nonzero(values)
        start = np.searchsorted(row, np.arange(len(values) + 1))
        return cls(start, feature.astype(np.int32), values[row, feature], values.shape[1])

    def matrix(self) -> sparse.csr_array:
        shape = len(self), self.n_features
        return sparse.csr_array((self.value, self.feature, self.start), shape=shape)

    def take(self, indices) -> SparseRows:
        first, sizes = self.start[indices], np.diff(self.start)[indices]
        start = np.zeros(len(first) + 1, np.int64)
        np.cumsum(sizes, out=start[1:])
        places = np.arange(start[-1]) + np.repeat(first - start[:-1], sizes)
        return SparseRows(start, self.feature[places], self.value[places], self.n_features)

    @classmethod
    def concatenate(cls, batches):
        sizes = np.concatenate([[0], *(np.diff(batch.start) for batch in batches)])
        feature = np.concatenate([batch.feature for batch in batches])
        value = np.concatenate([batch.value for batch in batches])
        return cls(np.cumsum(sizes), feature, value, batches[0].n_features)
