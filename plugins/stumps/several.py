"""The features that a round searches, and several stumps per target from one search."""

from __future__ import annotations

import numpy as np

import cwboost

__all__ = ["SearchedFeatures"]


class SearchedFeatures:
    """The features that a round searches: `n_drawn` of them at random, or all with None."""

    def __init__(self, n_features: int, n_drawn: int | None, random_state):
        self._all = np.arange(n_features)
        self._n_drawn = n_drawn
        self._random_state = random_state

    def drawn_by(self, random_state) -> SearchedFeatures:
        """Return the same features, drawn by another generator."""
        return SearchedFeatures(len(self._all), self._n_drawn, random_state)

    def draw(self) -> np.ndarray:
        """Return the features of a round, ascending."""
        if self._n_drawn is None:
            return self._all
        drawn = self._random_state.choice(len(self._all), self._n_drawn, replace=False)
        return np.sort(drawn)

    def best(self, price, request: cwboost.PricingRequest) -> cwboost.Priced:
        """Return the stumps that a request asks for.

        ``price(features)`` returns the best stump per target among ascending features.
        """
        features = self.draw()
        if request.n_columns == 1:
            return price(features)
        order = self._random_state.permutation(features)
        n_groups = min(request.n_columns, len(features))
        groups = [np.sort(order[group::n_groups]) for group in range(n_groups)]
        return _best_of_groups([price(group) for group in groups], request.min_edge)


def _best_of_groups(parts, min_edge: float) -> cwboost.Priced:
    """Return, per target, the best stumps of groups of features: those that pay, and the best one.

    `parts` has the best stump per target of each group.
    """
    edges = np.stack([part.edges for part in parts], axis=1)
    keep = edges > min_edge
    best = np.arange(len(edges)), np.argmax(edges, axis=1)
    # Constants are in every group.
    constant = np.stack([part.learners.feature < 0 for part in parts], axis=1)
    keep[:, 1:] &= ~constant[:, 1:]
    keep[best] = True
    target, group = np.nonzero(keep)
    chosen = group * len(edges) + target
    learners = type(parts[0].learners).concatenate([part.learners for part in parts])
    outputs = np.concatenate([part.outputs for part in parts])
    return cwboost.Priced(learners.take(chosen), outputs[chosen], edges[keep], target)
