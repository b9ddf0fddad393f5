"""Intervals of one feature: one sign inside, the other outside. The search is in Cython."""

from typing import Any

import numpy as np

import cwboost
from cwboost_acme._interval import best_intervals


class AcmeLearners(cwboost.ArrayLearners):
    """h(x) = polarity where low < x[feature] <= high, else -polarity."""

    layout = {
        "feature": ("int32", ()),
        "low": ("float64", ()),
        "high": ("float64", ()),
        "polarity": ("int8", ()),
    }

    def outputs(self, X: Any) -> np.ndarray:
        values = np.asarray(X[:, self.feature], dtype=np.float64)
        inside = (self.low < values) & (values <= self.high)
        return np.where(inside, self.polarity, -self.polarity)

    def flat_form(self) -> cwboost.ThresholdTrees:
        """Two comparisons each, from which importances, SHAP values and ONNX follow."""

        def nodes(dtype: str, *values: Any) -> np.ndarray:
            """Return what holds of the root, its children, and those of the right one."""
            columns = np.broadcast_arrays(*values, self.feature)[:5]
            return np.stack(columns, axis=1).astype(dtype).ravel()

        return cwboost.ThresholdTrees(
            offsets=np.arange(0, 5 * len(self) + 1, 5),
            feature=nodes("int32", self.feature, -1, self.feature, -1, -1),
            threshold=nodes("float64", self.low, 0, self.high, 0, 0),
            left=nodes("int32", 1, -1, 3, -1, -1),
            missing=nodes("int8", -1, 0, -1, 0, 0),
            output=nodes("int8", 0, -self.polarity, 0, self.polarity, -self.polarity),
        )

    def check_values(self, n_features: int) -> None:
        if ((self.feature < 0) | (self.feature >= n_features)).any():
            raise ValueError(f"array 'feature' must hold indices of {n_features} features")
        if not np.isin(self.polarity, (-1, 1)).all():
            raise ValueError("array 'polarity' must hold -1 and +1")
        if np.isnan(self.low).any() or np.isnan(self.high).any():
            raise ValueError("arrays 'low' and 'high' must hold no NaN")


class AcmePricer(cwboost.Pricer):
    exact = True

    def __init__(self, X: np.ndarray) -> None:
        self.n_samples = len(X)
        columns = np.ascontiguousarray(X.T, dtype=np.float64)
        self.order = np.argsort(columns, axis=1, kind="stable").astype(np.int32)
        self.values = np.take_along_axis(columns, self.order, axis=1)
        inner, outer = self.values[:, :-1], self.values[:, 1:]
        middle = inner + (outer - inner) / 2
        # Bounds between neighbours, infinite at both ends, at most the upper neighbour's value.
        self.bounds = np.full((len(columns), self.n_samples + 1), np.inf)
        self.bounds[:, 0] = -np.inf
        self.bounds[:, 1:-1] = np.where(middle < outer, middle, inner)

    def price(
        self, weights: np.ndarray, request: cwboost.PricingRequest | None = None
    ) -> cwboost.Priced:
        found, outputs, edges = best_intervals(self.values, self.order, weights)
        feature, first, last, polarity = found.T
        learners = AcmeLearners(
            feature=feature,
            low=self.bounds[feature, first],
            high=self.bounds[feature, last + 1],
            polarity=polarity,
        )
        return cwboost.Priced(learners, outputs, edges)


class Acme(cwboost.WeakLearnerFamily):
    """All intervals of all features; pricing is exact."""

    name = "acme"
    api_version = 1
    learners_type = AcmeLearners
    capabilities = cwboost.Capabilities()

    def bind(self, X: Any, context: cwboost.BindContext) -> cwboost.Pricer:
        return AcmePricer(X)
