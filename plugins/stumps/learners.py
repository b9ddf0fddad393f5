"""A batch of fitted stumps."""

from typing import ClassVar

import numpy as np
from scipy import sparse

import cwboost
from cwboost.kernels import AdditiveScores, CategorySets, canonical_csc

CHUNK = 2**20
"""Number of outputs computed at a time, which bounds the scratch memory."""


class StumpLearners(cwboost.ArrayLearners):
    """Fitted decision stumps, as flat arrays.

    A stump is ``polarity`` if ``x[feature] > threshold``, or if ``x[feature]`` is a code of its
    category set, ``missing`` if ``x[feature]`` is NaN and else ``-polarity``. With feature -1 it is
    ``polarity`` for every example.

    Parameters
    ----------
    feature : ndarray of shape (n_stumps,), dtype int32
    threshold : ndarray of shape (n_stumps,), dtype float64
        Never NaN; ``inf`` separates missing values from present ones.
    polarity, missing : ndarray of shape (n_stumps,), dtype int8, values -1 and +1
    n_features : int
    category_sets : CategorySets of length n_stumps, default=None
        Sets of the stumps that test categories, whose thresholds are 0.
    """

    layout: ClassVar = {
        "feature": ("int32", ()),
        "threshold": ("float64", ()),
        "polarity": ("int8", ()),
        "missing": ("int8", ()),
    }

    def __init__(self, *, category_sets=None, **parts):
        super().__init__(**parts)
        has_sets = category_sets is not None and category_sets.is_set.any()
        self.category_sets = category_sets if has_sets else None

    @classmethod
    def of(cls, found, n_features, category_sets=None):
        """Return the stumps of a `FoundStumps`."""
        return cls(
            feature=found.feature,
            threshold=found.threshold,
            polarity=found.polarity,
            missing=found.missing,
            n_features=n_features,
            category_sets=category_sets,
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
        if self.category_sets is not None:
            entries = np.arange(len(self))[stumps]
            is_set = self.category_sets.is_set[entries]
            right[:, is_set] = self.category_sets.contains(entries[is_set], values[:, is_set])
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
            category_sets=self.category_sets,
        )

    def flat_form(self):
        return cwboost.stump_trees(
            self.feature,
            self.threshold,
            self.polarity,
            self.missing,
            category_sets=self.category_sets,
        )

    def arrays(self):
        arrays = super().arrays()
        if self.category_sets is not None:
            sets = self.category_sets
            arrays |= {"set_start": sets.start, "set_bits": sets.bits}
        return arrays

    @classmethod
    def from_arrays(cls, arrays, n_features):
        own = {name: array for name, array in arrays.items() if not name.startswith("set_")}
        stumps = super().from_arrays(own, n_features)
        if len(own) < len(arrays):
            names = {name for name in arrays if name.startswith("set_")}
            if names != {"set_start", "set_bits"}:
                raise ValueError(f"arrays must hold set_start and set_bits, got {sorted(names)}")
            sets = CategorySets(arrays["set_start"], arrays["set_bits"])
            sets.check(len(stumps))
            if np.any((stumps.feature[sets.is_set] < 0) | (stumps.threshold[sets.is_set] != 0)):
                raise ValueError(
                    "set_start must have sets only for stumps of a feature with threshold 0, got "
                    "another stump with a set"
                )
            stumps.category_sets = sets if sets.is_set.any() else None
        return stumps

    def take(self, indices):
        taken = super().take(indices)
        if self.category_sets is not None:
            sets = self.category_sets.take(np.asarray(indices, dtype=np.int64))
            taken.category_sets = sets if sets.is_set.any() else None
        return taken

    @classmethod
    def concatenate(cls, batches):
        joined = super().concatenate(batches)
        if any(batch.category_sets is not None for batch in batches):
            joined.category_sets = CategorySets.concatenate(
                [batch.category_sets or CategorySets.none(len(batch)) for batch in batches]
            )
        return joined

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
