"""The features that a round searches."""

from copy import copy

import numpy as np

import cwboost


class DrawingPricer(cwboost.Pricer):
    """A pricer that searches `n_drawn` features at random in every round, or all with None."""

    def __init__(self, X, context: cwboost.BindContext, n_drawn: int | None):
        self.n_samples, self._n_features = X.shape
        self.exact = n_drawn is None
        self._n_drawn = n_drawn
        self._random_state = context.random_state

    def rebound(self, family, context):
        other = copy(self)
        other._random_state = context.random_state
        return other

    def _drawn(self) -> np.ndarray:
        """Return the features of a round, ascending."""
        if self._n_drawn is None:
            return np.arange(self._n_features)
        drawn = self._random_state.choice(self._n_features, self._n_drawn, replace=False)
        return np.sort(drawn)
