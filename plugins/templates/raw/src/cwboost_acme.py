"""Balls around training examples: one sign within a radius of the centre, the other outside."""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import cwboost


class AcmeLearners(cwboost.ArrayLearners):
    layout = {"centre": ("f8", ("n_features",)), "radius": ("f8", ()), "polarity": ("i1", ())}

    def outputs(self, X: Any) -> np.ndarray:
        return np.where(cdist(X, self.centre) <= self.radius, self.polarity, -self.polarity)

    def check_values(self, n_features: int) -> None:
        if not np.isin(self.polarity, (-1, 1)).all():
            raise ValueError("array 'polarity' must hold -1 and +1")


class AcmePricer(cwboost.Pricer):
    def __init__(self, X: np.ndarray, centre: np.ndarray) -> None:
        self.X, self.centre, self.n_samples = X, centre, len(X)
        self.order = np.argsort(cdist(X, centre), axis=0, kind="stable")
        inner = np.take_along_axis(cdist(X, centre), self.order, axis=0)
        outer = np.vstack([inner[1:], np.full((1, len(centre)), np.inf)])
        self.is_cut = inner < outer  # examples at one distance stay together
        self.radius = np.maximum(inner, np.nextafter((inner + outer) / 2, 0))

    def price(
        self, weights: np.ndarray, request: cwboost.PricingRequest | None = None
    ) -> cwboost.Priced:
        rank, centre, polarity = np.array([self.best(row) for row in weights]).T
        radius = self.radius[rank, centre]
        learners = AcmeLearners(centre=self.centre[centre], radius=radius, polarity=polarity)
        outputs = learners.outputs(self.X)
        edges = (weights * outputs.T).sum(axis=1)
        return cwboost.Priced(learners, cwboost.pack_outputs(outputs), edges)

    def best(self, row: np.ndarray) -> tuple[int, int, int]:
        # The edge is P - (S - P); P is the weight inside, S that of all examples.
        edge = 2 * row[self.order].cumsum(axis=0) - row.sum()
        rank, centre = np.unravel_index(np.where(self.is_cut, abs(edge), -1).argmax(), edge.shape)
        return int(rank), int(centre), 1 if edge[rank, centre] >= 0 else -1


class Acme(cwboost.WeakLearnerFamily):
    name = "acme"
    api_version = 1
    learners_type = AcmeLearners

    def __init__(self, n_centres: int = 30) -> None:
        self.n_centres = n_centres

    @property
    def capabilities(self) -> cwboost.Capabilities:
        return cwboost.Capabilities()

    def bind(self, X: Any, context: cwboost.BindContext) -> cwboost.Pricer:
        if self.n_centres < 1:
            raise ValueError(f"n_centres must be at least 1, got {self.n_centres!r}")
        chosen = context.random_state.permutation(len(X))[: self.n_centres]
        return AcmePricer(X, X[chosen].astype(np.float64))
