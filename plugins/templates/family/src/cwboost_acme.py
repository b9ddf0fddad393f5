"""Weak learners for cwboost: thresholds on weighted sums of some features."""

import cwboost


class Acme(cwboost.DerivedFeatureFamily):
    """Thresholds on directions along which the examples of a class differ from the others."""

    name = "acme"
    api_version = 1
    layout = {"along": ("float64", ("n_features",))}

    def __init__(self, fraction=0.5):
        self.fraction = fraction

    def draw(self, context):
        kept = context.random_state.random(context.X.shape[1]) < self.fraction
        return {"along": context.weights @ context.X * kept}

    @staticmethod
    def direction(n_features, along):
        return along.T
