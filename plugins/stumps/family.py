"""The family of decision stumps, and its pricer."""

from __future__ import annotations

from cwboost.plugins.stumps.learners import StumpLearners

import cwboost
from cwboost.kernels import THRESHOLDS_SEARCHED, SortedFeatures, gained_fractions

__all__ = ["StumpFamily", "StumpPricer"]


class StumpFamily(cwboost.WeakLearnerFamily):
    """Thresholds on one feature, and the two constants, found by exhaustive search.

    Parameters
    ----------
    max_features : int, float, "sqrt" or None, default=None
        Number of features drawn in each round: an int is that number, a float in (0, 1] that
        fraction of all, "sqrt" the square root of all; None searches all. Pricing is exact only
        with None.

    Notes
    -----
    A search covers every threshold between distinct values of every drawn feature, both signs, and
    both outputs for missing values (NaN), chosen for each stump. If the feature has no NaN in
    training, NaN gets the output of the better constant. Sparse matrices stay sparse.
    """

    name = "stump"
    api_version = 1
    learners_type = StumpLearners

    def __init__(self, max_features=None):
        self.max_features = max_features

    @property
    def capabilities(self):
        return cwboost.Capabilities(
            missing_values=True,
            sparse_input=True,
        )

    def bind(self, X, context):
        n_drawn = None
        if self.max_features is not None:
            n_drawn = cwboost.count_max_features(self.max_features, X.shape[1])
        return StumpPricer(SortedFeatures(X, context.n_threads), context.random_state, n_drawn)


class StumpPricer(cwboost.Pricer):
    """Stumps on one training matrix, whose features are sorted once."""

    releases_gil = True

    def __init__(self, features, random_state, n_drawn):
        self.n_samples = features.n_samples
        self.exact = n_drawn is None
        self._features = features
        self._random_state = random_state
        self._n_drawn = n_drawn

    def price(self, weights, request=cwboost.PricingRequest()):
        found = self._features.search(weights, self._draw(), request.rows)
        return self._priced(found, weights)

    def price_shared(self, weights, request=cwboost.PricingRequest()):
        return self._priced(self._features.search_shared(weights, self._draw()), weights)

    def _draw(self):
        if self._n_drawn is None:
            return None
        return self._random_state.choice(self._features.n_features, self._n_drawn, replace=False)

    def _priced(self, found, weights):
        n_searched = self._features.n_features if self._n_drawn is None else self._n_drawn
        learners = StumpLearners(
            feature=found.feature,
            threshold=found.threshold,
            polarity=found.polarity,
            missing=found.missing,
            gain=gained_fractions(weights, found.edges, THRESHOLDS_SEARCHED * n_searched),
            n_features=self._features.n_features,
        )
        return cwboost.Priced(learners, found.outputs, found.edges)
