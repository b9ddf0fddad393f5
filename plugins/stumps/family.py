"""The family of decision stumps, and its pricers."""

from numbers import Integral

import numpy as np
from cwboost.plugins.stumps.drawn import DrawingPricer
from cwboost.plugins.stumps.learners import StumpLearners
from cwboost.plugins.stumps.monotonic import MonotonicStumpPricer

import cwboost
from cwboost.kernels import Bins, FeatureSketch, SortedFeatures


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
        feature with at most this number of distinct values is not rounded.

    Notes
    -----
    A search covers every threshold between distinct values of every drawn feature, both signs, and
    both outputs for missing values (NaN), chosen for each stump. If the feature has no NaN in
    training, NaN gets the output of the better constant. Sparse matrices stay sparse.

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
            symmetric=True,
        )

    def bind(self, X, context):
        self._checked_bins()  # which partitions have
        n_drawn = self._n_drawn(X.shape[1])
        if context.monotonic is not None:
            return MonotonicStumpPricer(X, context, n_drawn)
        return StumpPricer(X, context, n_drawn)

    def in_words(self, size):
        return "stumps"

    def describe(self, X):
        return FeatureSketch.of(X, 4 * self._checked_bins())

    def coordinator(self, descriptions, context):
        bins = Bins.from_sketches(descriptions, self._checked_bins())
        return StumpCoordinator.of_stumps(bins, self._n_drawn(bins.n_features))

    def _n_drawn(self, n_features):
        if self.max_features is None:
            return None
        return cwboost.count_max_features(self.max_features, n_features)

    def _checked_bins(self):
        value = self.max_bins
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"max_bins must be an int, got {value!r}")
        if not 2 <= value <= 256:
            raise ValueError(f"max_bins must be 2 to 256, got {value}")
        return int(value)


class StumpPricer(DrawingPricer):
    """Stumps on one training matrix."""

    def __init__(self, X, context, n_drawn):
        super().__init__(X, context, n_drawn)
        self._features = SortedFeatures(X, context.n_threads)

    def price(self, weights, request=cwboost.PricingRequest()):
        return self._priced(weights, self._features.search)

    def price_shared(self, weights, request=cwboost.PricingRequest()):
        return self._priced(weights, self._features.search_shared)

    def _priced(self, weights, search):
        found = search(weights, self._drawn())
        learners = StumpLearners.of(found, self._n_features)
        return cwboost.Priced(learners, found.outputs, found.edges)


class StumpCoordinator(cwboost.TreeCoordinator):
    """Stumps on partitions, as trees of one comparison between bins."""

    def choose(self, scales, rng):
        seed = 0 if self.exact else rng.integers(0, 2**64, dtype=np.uint64)
        found = yield from self.find_stumps(scales, seed)
        learners = StumpLearners.of(found, self.bins.n_features)
        return cwboost.Chosen(learners, found.edges / scales)
