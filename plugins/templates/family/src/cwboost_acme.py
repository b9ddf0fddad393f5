"""Weak learners for cwboost: thresholds on weighted sums of some features."""

import numpy as np

import cwboost


class Acme(cwboost.DerivedFeatureFamily):
    """Thresholds on directions along which the examples of a class differ from the others."""

    name = "acme"
    api_version = 1
    layout = {"along": ("float64", ("n_features",))}

    def __init__(self, fraction: float = 0.5) -> None:
        self.fraction = fraction

    def draw(self, context: cwboost.DrawContext) -> dict[str, np.ndarray]:
        kept = context.random_state.random(context.X.shape[1]) < self.fraction
        return {"along": context.weights @ context.X * kept}

    @staticmethod
    def direction(n_features: int, along: np.ndarray) -> np.ndarray:
        return along.T
