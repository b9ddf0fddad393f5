"""Thresholds on waves through the data: the family of the tutorial, complete."""

import numpy as np

from cwboost import DerivedFeatureFamily


class Waves(DerivedFeatureFamily):
    """Cosines of distances from drawn examples."""

    name = "wave"
    api_version = 1
    layout = {"centre": ("float64", ("n_features",)), "length": ("float64", ())}

    def __init__(self, n_derived=30):
        self.n_derived = n_derived

    def check_parameters(self, n_features):
        if self.n_derived < 1:
            raise ValueError(f"n_derived must be at least 1, got {self.n_derived!r}")

    def draw(self, context):
        rng = context.random_state
        rows = rng.integers(len(context.X), size=self.n_derived)
        return {"centre": context.X[rows], "length": rng.exponential(5.0, self.n_derived)}

    @staticmethod
    def transform(X, centre, length):
        distance = np.abs(X[:, None] - centre).sum(axis=2)
        return np.cos(distance / length)
