"""A batch of fitted stumps."""

from __future__ import annotations

import numpy as np
from scipy import sparse

import cwboost
from cwboost.kernels import AdditiveScores, canonical_csc

__all__ = ["StumpLearners"]

DTYPES = {
    "feature": np.dtype(np.int32),
    "threshold": np.dtype(np.float64),
    "polarity": np.dtype(np.int8),
    "missing": np.dtype(np.int8),
}

CHUNK = 2**20
"""Outputs computed at a time, so that memory beyond them stays flat."""


class StumpLearners(cwboost.WeakLearners):
    """Fitted decision stumps, as flat arrays.

    A stump is ``polarity`` where ``x[feature] > threshold``, ``missing`` where ``x[feature]`` is
    NaN and ``-polarity`` elsewhere. With feature -1 it is ``polarity`` for every example.

    Parameters
    ----------
    feature : ndarray of shape (n_stumps,), dtype int32
    threshold : ndarray of shape (n_stumps,), dtype float64
        Never NaN; ``inf`` sets missing values against present ones.
    polarity, missing : ndarray of shape (n_stumps,), dtype int8, values -1 and +1
    n_features : int
    """

    def __init__(self, feature, threshold, polarity, missing, n_features: int):
        self.feature = feature
        self.threshold = threshold
        self.polarity = polarity
        self.missing = missing
        self.n_features = n_features

    def __len__(self):
        return len(self.feature)

    def outputs(self, X):
        X = self._check(X)
        out = np.empty((X.shape[0], len(self)), dtype=np.int8)
        if sparse.issparse(X):
            self._outputs_by_column(canonical_csc(X), out)
            return out
        rows = max(1, CHUNK // max(1, len(self)))
        for start in range(0, X.shape[0], rows):
            chunk = X[start : start + rows]
            values = np.zeros((len(chunk), len(self)))
            split = self.feature >= 0
            values[:, split] = chunk[:, self.feature[split]]
            out[start : start + rows] = self._signs(values)
        return out

    def _signs(self, values, stumps=slice(None)):
        """Outputs of `stumps` at values of their features, shape (n, number of stumps)."""
        polarity, constant = self.polarity[stumps], self.feature[stumps] < 0
        signs = np.where((values > self.threshold[stumps]) | constant, polarity, -polarity)
        return np.where(np.isnan(values) & ~constant, self.missing[stumps], signs)

    def _outputs_by_column(self, X, out):
        out[:] = self._signs(np.zeros((1, len(self))))
        for j, f in enumerate(self.feature.tolist()):
            if f >= 0:
                stored = slice(X.indptr[f], X.indptr[f + 1])
                values = X.data[stored].astype(np.float64)[:, None]
                out[X.indices[stored], j] = self._signs(values, slice(j, j + 1))[:, 0]

    def scores(self, X, coef):
        return self.scorer(coef)(X)

    def scorer(self, coef):
        stumps = (self.feature, self.threshold, self.polarity, self.missing)
        return AdditiveScores(*stumps, coef, n_features=self.n_features)

    def feature_shares(self, n_features):
        stumps = np.flatnonzero(self.feature >= 0)
        return sparse.csr_array(
            (np.ones(len(stumps)), (stumps, self.feature[stumps])), shape=(len(self), n_features)
        )

    def threshold_trees(self):
        return cwboost.stump_trees(self.feature, self.threshold, self.polarity, self.missing)

    def arrays(self):
        return {name: getattr(self, name) for name in DTYPES}

    @classmethod
    def from_arrays(cls, arrays, n_features):
        if set(arrays) != set(DTYPES):
            raise ValueError(f"stumps have the arrays {sorted(DTYPES)}, got {sorted(arrays)}")
        for name, dtype in DTYPES.items():
            if arrays[name].dtype != dtype or arrays[name].ndim != 1:
                raise ValueError(
                    f"{name}: expected one dimension of {dtype}, got {arrays[name].dtype} of "
                    f"shape {arrays[name].shape}"
                )
        lengths = {name: len(arrays[name]) for name in DTYPES}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"expected arrays of one length, an entry a stump, got {lengths}")
        own = {name: np.ascontiguousarray(arrays[name]) for name in DTYPES}
        _check_values(own, n_features)
        return cls(**own, n_features=n_features)

    def take(self, indices):
        indices = np.asarray(indices, dtype=np.int64)
        parts = {name: getattr(self, name)[indices] for name in DTYPES}
        return StumpLearners(**parts, n_features=self.n_features)

    @classmethod
    def concatenate(cls, batches):
        if len({batch.n_features for batch in batches}) != 1:
            raise ValueError("batches: expected stumps on the same number of features")
        parts = {
            name: np.concatenate([getattr(batch, name) for batch in batches]) for name in DTYPES
        }
        return cls(**parts, n_features=batches[0].n_features)

    def _check(self, X):
        if X.shape[1] != self.n_features:
            raise ValueError(f"X: expected {self.n_features} features, got {X.shape[1]}")
        return X


def _check_values(arrays, n_features):
    feature, threshold = arrays["feature"], arrays["threshold"]
    wrong = (feature < -1) | (feature >= n_features)
    if wrong.any():
        raise ValueError(
            f"feature: expected -1 to {n_features - 1}, got {feature[wrong][0]} in entry "
            f"{np.argmax(wrong)}"
        )
    if np.isnan(threshold).any():
        raise ValueError(f"threshold: NaN in entry {np.argmax(np.isnan(threshold))}")
    for name in ("polarity", "missing"):
        wrong = ~np.isin(arrays[name], (-1, 1))
        if wrong.any():
            raise ValueError(
                f"{name}: expected -1 or 1, got {arrays[name][wrong][0]} in entry "
                f"{np.argmax(wrong)}"
            )
