"""A batch of fitted stumps."""

from typing import ClassVar

import numpy as np
from scipy import sparse

import cwboost
from cwboost.kernels import AdditiveScores, canonical_csc

CHUNK = 2**20
"""Number of outputs computed at a time, which bounds the scratch memory."""


class StumpLearners(cwboost.ArrayLearners):
    """Fitted decision stumps, as flat arrays.

    A stump is ``polarity`` if ``x[feature] > threshold``, ``missing`` if ``x[feature]`` is NaN and
    else ``-polarity``. With feature -1 it is ``polarity`` for every example.

    Parameters
    ----------
    feature : ndarray of shape (n_stumps,), dtype int32
    threshold : ndarray of shape (n_stumps,), dtype float64
        Never NaN; ``inf`` separates missing values from present ones.
    polarity, missing : ndarray of shape (n_stumps,), dtype int8, values -1 and +1
    n_features : int
    """

    layout: ClassVar = {
        "feature": ("int32", ()),
        "threshold": ("float64", ()),
        "polarity": ("int8", ()),
        "missing": ("int8", ()),
    }

    @classmethod
    def of(cls, found, n_features):
        """Return the stumps of a `FoundStumps`."""
        return cls(
            feature=found.feature,
            threshold=found.threshold,
            polarity=found.polarity,
            missing=found.missing,
            n_features=n_features,
        )

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
        """Return outputs of `stumps` at values of their features, shape (n, number of stumps)."""
        polarity, constant = self.polarity[stumps], self.feature[stumps] < 0
        right = values > self.threshold[stumps]
        signs = np.where(right | constant, polarity, -polarity)
        return np.where(np.isnan(values) & ~constant, self.missing[stumps], signs)

    def _outputs_by_column(self, X, out):
        out[:] = self._signs(np.zeros((1, len(self))))
        for j, f in enumerate(self.feature.tolist()):
            if f >= 0:
                stored = slice(X.indptr[f], X.indptr[f + 1])
                values = X.data[stored].astype(np.float64)[:, None]
                out[X.indices[stored], j] = self._signs(values, slice(j, j + 1))[:, 0]

    def scorer(self, coef):
        return AdditiveScores(
            self.feature,
            self.threshold,
            self.polarity,
            self.missing,
            coef,
            n_features=self.n_features,
        )

    def flat_form(self):
        return cwboost.stump_trees(
            self.feature,
            self.threshold,
            self.polarity,
            self.missing,
        )

    def check_values(self, n_features):
        feature, threshold = self.feature, self.threshold
        wrong = (feature < -1) | (feature >= n_features)
        if wrong.any():
            raise ValueError(
                f"feature must be -1 to {n_features - 1}, got {feature[wrong][0]} in entry "
                f"{np.argmax(wrong)}"
            )
        if np.isnan(threshold).any():
            entry = np.argmax(np.isnan(threshold))
            raise ValueError(f"threshold must be numbers, got NaN in entry {entry}")
        for name in ("polarity", "missing"):
            values = getattr(self, name)
            wrong = ~np.isin(values, (-1, 1))
            if wrong.any():
                raise ValueError(
                    f"{name} must be -1 or 1, got {values[wrong][0]} in entry {np.argmax(wrong)}"
                )

    def _check(self, X):
        if X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} features, got {X.shape[1]}")
        return X
