"""A complete stump family in plain NumPy, slow and easy to read, as a third party would write one.

The shipped families are compared with it, distributions of the tests hold it, and
`attack_plugins.py` plants faults in its source.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

import cwboost
from cwboost import Capabilities, Priced, Pricer, WeakLearnerFamily, WeakLearners
from cwboost.kernels import AdditiveScores

DTYPES = {"feature": "i4", "threshold": "f8", "polarity": "i1", "missing": "i1"}


def column(X, feature) -> np.ndarray:
    values = X[:, [feature]].toarray()[:, 0] if sparse.issparse(X) else X[:, feature]
    return np.asarray(values, dtype=np.float64)


class ReferenceLearners(WeakLearners):
    """h(x) = polarity if x[feature] > threshold, else -polarity; `missing` if it is NaN."""

    def __init__(self, feature, threshold, polarity, missing):
        self.feature = np.asarray(feature, dtype=np.int32)
        self.threshold = np.asarray(threshold, dtype=np.float64)
        self.polarity = np.asarray(polarity, dtype=np.int8)
        self.missing = np.asarray(missing, dtype=np.int8)

    def __len__(self):
        return len(self.feature)

    def outputs(self, X):
        outputs = np.empty((X.shape[0], len(self)), dtype=np.int8)
        for j, feature in enumerate(self.feature):
            outputs[:, j] = self.polarity[j]
            if feature >= 0:
                values = column(X, feature)
                outputs[values <= self.threshold[j], j] *= -1
                outputs[np.isnan(values), j] = self.missing[j]
        return outputs

    def arrays(self):
        return {name: getattr(self, name) for name in DTYPES}

    @classmethod
    def from_arrays(cls, arrays, n_features):
        for name, dtype in DTYPES.items():
            array = arrays.get(name)
            if array is None or array.dtype != dtype or array.ndim != 1:
                raise ValueError(f"{name} must be a 1-d array of {dtype}")
            if len(array) != len(arrays["feature"]):
                raise ValueError(f"{name} has another length than feature")
        feature = arrays["feature"]
        if ((feature < -1) | (feature >= n_features)).any() or (n_features < 1 and len(feature)):
            raise ValueError(f"feature must lie in 0..{n_features - 1}, or be -1")
        for name in ("polarity", "missing"):
            if not np.isin(arrays[name], (-1, 1)).all():
                raise ValueError(f"{name} must be -1 or +1")
        return cls(**{name: arrays[name].copy() for name in DTYPES})

    def flat_form(self):
        return cwboost.stump_trees(self.feature, self.threshold, self.polarity, self.missing)

    def scorer(self, coef):
        parts = self.feature, self.threshold, self.polarity, self.missing
        return AdditiveScores(*parts, coef)

    def take(self, indices):
        indices = np.asarray(indices, dtype=np.intp)
        return type(self)(*(array[indices] for array in self.arrays().values()))

    @classmethod
    def concatenate(cls, batches):
        return cls(*(np.concatenate([b.arrays()[name] for b in batches]) for name in DTYPES))


class ReferencePricer(Pricer):
    def __init__(self, X, share=1.0, rng=None):
        self.X = X
        self.n_samples = X.shape[0]
        self.exact = share == 1.0
        self.share, self.rng = share, rng
        self.columns = [self._sorted(feature) for feature in range(X.shape[1])]

    @np.errstate(invalid="ignore")  # between infinities
    def _sorted(self, feature):
        """Return the order of the present values, the cuts between them, and a NaN mask."""
        values = column(self.X, feature)
        present = np.flatnonzero(~np.isnan(values))
        order = present[np.argsort(values[present], kind="stable")]
        values_in_order = values[order]
        cuts = np.flatnonzero(values_in_order[:-1] < values_in_order[1:])
        low, high = values_in_order[cuts], values_in_order[cuts + 1]
        middle = low + (high - low) / 2
        keep = slice(None) if len(cuts) else slice(0)
        return order[keep], cuts, np.where(middle < high, middle, low), np.isnan(values)

    def price(self, weights, request=None):
        found = [self.best(row[None]) for row in weights]
        return self.pack(weights, found)

    def price_shared(self, weights, request=None):
        priced = self.pack(weights[:1], [self.best(weights)])
        outputs = priced.learners.outputs(self.X)[:, 0].astype(np.float64)
        edges = np.abs((weights * outputs).sum(axis=1)).sum(keepdims=True)
        return Priced(priced.learners, priced.outputs, edges)

    def best(self, rows):
        """Return the stump of largest sum over rows of |edge|, with the signs of the first row."""
        total = rows.sum(axis=1)
        first = 1 if total[0] >= 0 else -1
        best, learner = np.abs(total).sum(), (-1, 0.0, first, first)
        for feature in self.drawn():
            order, cuts, thresholds, missing = self.columns[feature]
            if not len(cuts):
                continue
            prefix = np.cumsum(rows[:, order], axis=1)
            split = prefix[:, -1:] - 2 * prefix[:, cuts]
            absent = rows[:, missing].sum(axis=1, keepdims=True)
            for agree in (1, -1) if missing.any() else (1,):
                values = np.abs(split + agree * absent).sum(axis=0)
                k = int(np.argmax(values))
                if values[k] > best:
                    sign = 1 if (split + agree * absent)[0, k] >= 0 else -1
                    best, learner = values[k], (feature, thresholds[k], sign, agree * sign)
        return learner

    def drawn(self):
        """Return the features to search: all, or a random share of them."""
        features = np.arange(len(self.columns))
        return features if self.exact else features[self.rng.random(len(features)) < self.share]

    def pack(self, weights, found):
        learners = ReferenceLearners(*zip(*found))
        outputs = learners.outputs(self.X)
        edges = np.array([(w * h).sum() for w, h in zip(weights, outputs.T)])
        packed = cwboost.pack_outputs(outputs)
        return Priced(learners, packed, edges)


class ReferenceStump(WeakLearnerFamily):
    name = "reference_stump"
    api_version = 1
    learners_type = ReferenceLearners
    # Sparse input gives the right learners, but not in little memory: it is not declared.
    capabilities = Capabilities(missing_values=True)

    def __init__(self, share=1.0):
        self.share = share

    def bind(self, X, context):
        return ReferencePricer(X, self.share, context.random_state)


def every_stump(family, X):
    """Return all stumps that differ on X, with both outputs for NaN."""
    found = [(-1, 0.0, 1, 1), (-1, 0.0, -1, -1)]
    for feature, (_, _, thresholds, missing) in enumerate(ReferencePricer(X).columns):
        for threshold in thresholds:
            for sign in (1, -1):
                for absent in (1, -1) if missing.any() else (sign,):
                    found.append((feature, threshold, sign, absent))
    return ReferenceLearners(*zip(*found))


@cwboost.hookimpl
def cwboost_register_families(register):
    register(ReferenceStump)
