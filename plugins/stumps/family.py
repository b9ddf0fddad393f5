"""The family of decision stumps, and its pricers."""

from numbers import Integral

import numpy as np
from cwboost.plugins.stumps.drawn import DrawingPricer
from cwboost.plugins.stumps.learners import StumpLearners
from cwboost.plugins.stumps.monotonic import MonotonicStumpPricer

import cwboost
from cwboost.kernels import Bins, CategoryFeatures, FeatureSketch, SortedFeatures


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
            symmetric=True,
        )

    def bind(self, X, context):
        self._checked_bins()  # which partitions have
        n_drawn = self._n_drawn(X.shape[1])
        if context.monotonic is not None:
            if context.categorical is not None:
                raise ValueError(
                    "monotonic_cst must be None with columns of categories for stumps, got "
                    "constraints: use trees, or encode the categories"
                )
            return MonotonicStumpPricer(X, context, n_drawn)
        if context.categorical is None:
            return StumpPricer(X, context, n_drawn)
        return CategoryStumpPricer(X, context, n_drawn)

    def describe(self, X):
        return FeatureSketch.of(X, 4 * self._checked_bins())

    def coordinator(self, descriptions, context):
        max_bins, n_categories = self._checked_bins(), context.n_categories
        if n_categories is not None and n_categories.max(initial=0) >= max_bins:
            raise ValueError(
                f"categorical_features must have fewer categories than max_bins={max_bins} on "
                f"partitions, got {n_categories.max()} in column {n_categories.argmax()}: use "
                "TreeFamily, which splits any number by rank"
            )
        bins = Bins.from_sketches(descriptions, max_bins, n_categories)
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


class CategoryStumpPricer(DrawingPricer):
    """Stumps on a training matrix with columns of categories."""

    def __init__(self, X, context, n_drawn):
        super().__init__(X, context, n_drawn)
        self._numbers = np.flatnonzero(~context.categorical)
        categorical = np.flatnonzero(context.categorical)
        self._sorted = SortedFeatures(X[:, self._numbers], context.n_threads)
        n_categories = context.n_categories[categorical]
        self._categories = CategoryFeatures(X, categorical, n_categories, context.n_threads)

    def price(self, weights, request=cwboost.PricingRequest()):
        return self._best(weights, self._sorted.search, self._categories.search)

    def price_shared(self, weights, request=cwboost.PricingRequest()):
        return self._best(weights, self._sorted.search_shared, self._categories.search_shared)

    def _best(self, weights, search_numbers, search_categories):
        drawn = self._drawn()
        found = search_numbers(weights, np.flatnonzero(np.isin(self._numbers, drawn)))
        feature = np.append(self._numbers, -1)[found.feature].astype(np.int32)
        found = found._replace(feature=feature)
        stumps = StumpLearners.of(found, self._n_features)
        if not np.isin(self._categories.features, drawn).any():
            return cwboost.Priced(stumps, found.outputs, found.edges)
        others = search_categories(weights, drawn)
        ones = np.ones(len(stumps))
        of_sets = StumpLearners(
            feature=others.feature,
            threshold=0 * ones,
            polarity=ones,
            missing=others.missing,
            n_features=self._n_features,
            category_sets=others.sets,
        )
        is_set = others.edges > found.edges  # thresholds and constants win in a tie
        best = np.arange(len(stumps)) + len(stumps) * is_set
        learners = StumpLearners.concatenate([stumps, of_sets]).take(best)
        outputs = np.where(is_set[:, None], others.outputs, found.outputs)
        return cwboost.Priced(learners, outputs, np.maximum(found.edges, others.edges))


class StumpCoordinator(cwboost.TreeCoordinator):
    """Stumps on partitions, as trees of one comparison: between bins, or of category subsets."""

    def choose(self, scales, rng):
        seed = 0 if self.exact else rng.integers(0, 2**64, dtype=np.uint64)
        found, sets = yield from self.find_stumps(scales, seed)
        learners = StumpLearners.of(found, self.bins.n_features, category_sets=sets)
        return cwboost.Chosen(learners, found.edges / scales)
