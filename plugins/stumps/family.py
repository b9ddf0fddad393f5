"""The family of decision stumps, and its pricer."""

from __future__ import annotations

from copy import copy
from numbers import Integral

import numpy as np
from cwboost.plugins.stumps.categories import stronger
from cwboost.plugins.stumps.learners import StumpLearners
from cwboost.plugins.stumps.monotonic import MonotonicStumpPricer
from cwboost.plugins.stumps.partitioned import StumpPlan
from cwboost.plugins.stumps.several import SearchedFeatures

import cwboost
from cwboost.kernels import (
    Bins,
    CategoryFeatures,
    FeatureSketch,
    SortedFeatures,
)

__all__ = ["CategoryStumpPricer", "StumpFamily", "StumpPricer"]


class StumpFamily(cwboost.PartitionedFamily, cwboost.WeakLearnerFamily):
    """Thresholds on one feature, and the two constants, found by exhaustive search.

    Parameters
    ----------
    max_features : int, float, "sqrt" or None, default=None
        Number of features drawn in each round: an int is that number, a float in (0, 1] that
        fraction of all, "sqrt" the square root of all; None searches all. Pricing is exact only
        with None.
    max_bins : int, default=256
        For training on partitions only (`cwboost.dask`): largest number of bins per feature, 2 to
        256, including the bin of missing values if there are any. Thresholds lie between bins; a
        feature with at most this number of distinct values is not rounded. A column of categories
        must have fewer than this number.

    Notes
    -----
    A search covers every threshold between distinct values of every drawn feature, both signs, and
    both outputs for missing values (NaN), chosen for each stump. If the feature has no NaN in
    training, NaN gets the output of the better constant. Sparse matrices stay sparse.

    For a column of categories the search covers every subset of them, with missing values as one
    more category. Categories without weight, and those that `fit` did not see, go where missing
    values go. `price_shared`, which AdaBoost.MH and MO call, finds a good subset there, not always
    the best.

    Several columns per round are the best stumps of random groups of features, as many as there are
    columns; the best stump of all is among them.

    Examples
    --------
    >>> from cwboost import CWBoostClassifier, StumpFamily
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CWBoostClassifier(StumpFamily(max_features="sqrt"), n_estimators=20)
    >>> bool(clf.fit(X, y).score(X, y) > 0.9)
    True
    """

    name = "stump"
    api_version = 1
    learners_type = StumpLearners

    def __init__(self, max_features=None, max_bins=256):
        self.max_features = max_features
        self.max_bins = max_bins

    @property
    def capabilities(self):
        return cwboost.Capabilities(
            missing_values=True,
            sparse_input=True,
            monotonic=True,
            interactions=True,  # a stump compares one feature
            max_categories=2**16,
            several_columns=True,
            symmetric=True,
        )

    def bind(self, X, context):
        n_drawn = self._n_drawn(X.shape[1])
        if context.monotonic is not None:
            if context.categorical is not None:
                raise ValueError(
                    "monotonic_cst must be None with columns of categories for stumps, got "
                    "constraints: use trees, or encode the categories"
                )
            return MonotonicStumpPricer(X, context, n_drawn)
        if context.categorical is None:
            return StumpPricer(SortedFeatures(X, context.n_threads), context.random_state, n_drawn)
        return CategoryStumpPricer(X, context, n_drawn)

    def describe(self, X):
        return FeatureSketch.of(X, 4 * self._checked_bins())

    def plan(self, descriptions, context):
        max_bins, n_categories = self._checked_bins(), context.n_categories
        if n_categories is not None and n_categories.max(initial=0) >= max_bins:
            raise ValueError(
                f"categorical_features must have fewer categories than max_bins={max_bins} on "
                f"partitions, got {n_categories.max()} in column {n_categories.argmax()}: use "
                "TreeFamily, which splits any number by rank"
            )
        bins = Bins.from_sketches(descriptions, max_bins, n_categories)
        return StumpPlan.of_stumps(bins, self._n_drawn(bins.n_features))

    def _n_drawn(self, n_features):
        if self.max_features is None:
            return None
        return cwboost.count_max_features(self.max_features, n_features)

    def _checked_bins(self):
        value = self.max_bins
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"max_bins must be an int, got {value!r}")
        if not 2 <= value <= 256:
            raise ValueError(f"max_bins must be 2 to 256, got {value!r}")
        return int(value)


class SortedPricer(cwboost.Pricer):
    """Pricing on one training matrix, whose features are prepared once."""

    def rebound(self, context):
        other = copy(self)
        other._searched = self._searched.drawn_by(context.random_state)
        return other


class StumpPricer(SortedPricer):
    """Stumps on one training matrix."""

    def __init__(self, features, random_state, n_drawn):
        self.n_samples = features.n_samples
        self.exact = n_drawn is None
        self._features = features
        self._searched = SearchedFeatures(features.n_features, n_drawn, random_state)

    def price(self, weights, request=cwboost.PricingRequest()):
        def price(features):
            return self._priced(self._features.search(weights, features))

        return self._searched.best(price, request)

    def price_shared(self, weights, request=cwboost.PricingRequest()):
        return self._priced(self._features.search_shared(weights, self._searched.draw()))

    def _priced(self, found):
        learners = StumpLearners.of(found, self._features.n_features)
        return cwboost.Priced(learners, found.outputs, found.edges)


class CategoryStumpPricer(SortedPricer):
    """Stumps on a training matrix with columns of categories."""

    def __init__(self, X, context, n_drawn):
        self.n_samples, self._n_features = X.shape
        self.exact = n_drawn is None
        self._searched = SearchedFeatures(X.shape[1], n_drawn, context.random_state)
        self._numbers = np.flatnonzero(~context.categorical)
        categorical = np.flatnonzero(context.categorical)
        self._sorted = SortedFeatures(X[:, self._numbers], context.n_threads)
        n_categories = context.n_categories[categorical]
        self._categories = CategoryFeatures(X, categorical, n_categories, context.n_threads)

    def price(self, weights, request=cwboost.PricingRequest()):
        def price(features):
            return self._best(weights, self._sorted.search, self._categories.search, features)

        return self._searched.best(price, request)

    def price_shared(self, weights, request=cwboost.PricingRequest()):
        drawn = self._searched.draw()
        return self._best(
            weights, self._sorted.search_shared, self._categories.search_shared, drawn
        )

    def _best(self, weights, search_numbers, search_categories, drawn):
        found = search_numbers(weights, np.flatnonzero(np.isin(self._numbers, drawn)))
        feature = np.append(self._numbers, -1)[found.feature].astype(np.int32)
        found = found._replace(feature=feature)
        stumps = StumpLearners.of(found, self._n_features)
        if not np.isin(self._categories.features, drawn).any():
            return cwboost.Priced(stumps, found.outputs, found.edges)
        others = search_categories(weights, drawn)
        learners, edges, is_set = stronger(stumps, found.edges, others)
        outputs = np.where(is_set[:, None], others.outputs, found.outputs)
        return cwboost.Priced(learners, outputs, edges)
