"""A third party's family in plain NumPy: stumps at quantiles of some features, drawn each round."""

import numpy as np

import cwboost
from cwboost.kernels import AdditiveScores


class QuantileLearners(cwboost.WeakLearners):
    def __init__(self, feature, threshold, sign):
        self.feature, self.threshold, self.sign = feature, threshold, sign

    def __len__(self):
        return len(self.feature)

    def outputs(self, X):
        above = X[:, self.feature] > self.threshold
        return np.where(above, self.sign, -self.sign).astype(np.int8)

    def arrays(self):
        return {"feature": self.feature, "threshold": self.threshold, "sign": self.sign}

    @classmethod
    def from_arrays(cls, arrays, n_features):
        if set(arrays) != {"feature", "threshold", "sign"}:
            raise ValueError("the arrays must be feature, threshold and sign")
        feature, threshold, sign = (arrays[name] for name in ("feature", "threshold", "sign"))
        shapes = {feature.shape, threshold.shape, sign.shape}
        if len(shapes) != 1 or feature.ndim != 1 or feature.dtype != np.int32:
            raise ValueError("feature must be one-dimensional int32, the others of its length")
        if np.any(feature < 0) or np.any(feature >= n_features):
            raise ValueError(f"feature must lie in 0..{n_features - 1}")
        if threshold.dtype != np.float64 or not np.all(np.isfinite(threshold)):
            raise ValueError("threshold must hold finite float64 numbers")
        if sign.dtype != np.int8 or not np.all(np.abs(sign) == 1):
            raise ValueError("sign must hold -1 and +1 as int8")
        return cls(feature, threshold, sign)

    def take(self, indices):
        i = np.asarray(indices, dtype=np.intp)
        return QuantileLearners(self.feature[i], self.threshold[i], self.sign[i])

    @classmethod
    def concatenate(cls, batches):
        names = ("feature", "threshold", "sign")
        return cls(*(np.concatenate([getattr(b, name) for b in batches]) for name in names))

    def scorer(self, coef):
        missing = -self.sign  # as in outputs(): a comparison with NaN is false
        return AdditiveScores(self.feature, self.threshold, self.sign, missing, coef)

    def flat_form(self):
        return cwboost.stump_trees(self.feature, self.threshold, self.sign, -self.sign)


class QuantilePricer(cwboost.Pricer):
    exact = False

    def __init__(self, X, share, rng):
        self.n_samples, self.share, self.rng = X.shape[0], share, rng
        levels = np.unique(np.quantile(X, np.linspace(0.05, 0.95, 12), axis=0), axis=0)
        self.feature = np.tile(np.arange(X.shape[1], dtype=np.int32), len(levels))
        self.threshold = levels.ravel().astype(np.float64)
        self.outputs = np.where(X[:, self.feature] > self.threshold, 1, -1).astype(np.int8)

    def price(self, weights, request=None):
        drawn = np.flatnonzero(self.rng.random(len(self.feature)) < self.share)
        drawn = drawn if len(drawn) else np.array([0])
        edges = weights @ self.outputs[:, drawn].astype(np.float64)
        best = np.abs(edges).argmax(axis=1)
        edge = edges[np.arange(len(edges)), best]
        sign = np.where(edge >= 0, 1, -1).astype(np.int8)
        best = drawn[best]
        learners = QuantileLearners(self.feature[best], self.threshold[best], sign)
        return cwboost.Priced(
            learners, cwboost.pack_outputs(self.outputs[:, best] * sign), np.abs(edge)
        )


class QuantileStumps(cwboost.WeakLearnerFamily):
    name = "quantile"
    api_version = 1
    learners_type = QuantileLearners
    capabilities = cwboost.Capabilities()

    def __init__(self, share=0.5):
        self.share = share

    def bind(self, X, context):
        return QuantilePricer(X, self.share, context.random_state)


@cwboost.hookimpl
def cwboost_register_families(register):
    register(QuantileStumps)
