"""The family of binary trees, and its pricer."""

import math
from copy import copy
from functools import partial
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone

import cwboost
from cwboost.kernels import (
    TREE_CRITERIA,
    BinnedMatrix,
    Bins,
    DepthTwoSearch,
    FeatureSketch,
    TreeGrower,
    usable_threads,
)

FEWEST_DRAWN, MOST_DRAWN = 8, 64
"""Numbers of features between which "auto" draws half of all at a node: few features may pay only
together."""

DEPTH, FEW_EXAMPLES, DEPTH_PER_DOUBLING = 5, 2048, 1.5
"""Depth "auto" up to this number of examples, and what each doubling adds."""

DEEP_ENOUGH = 12
"""A default fit tries trees of any depth beside depth "auto" up to this one: classes with little
noise, and those that features tell only together, want them."""

LEAF_WEIGHT, FEWEST_LEAVES = 20, 25
"""Least weight of a leaf, if there is enough for the second number of leaves."""

MOST_SETS = 256
"""Sets of features that a node has a bit for."""

COARSE_BINS = 32
"""Most bins of a feature in the exact search for trees of depth 2, whose cost grows with their
square."""

NO_LIMIT = np.iinfo(np.int64).max


class TreeFamily(cwboost.PartitionedFamily, cwboost.WeakLearnerFamily):
    """Binary trees, grown greedily on binned features.

    In stage-wise training a leaf has a step per class, else it is -1 or +1. The defaults are those
    that generalise best in stage-wise boosting with shrinkage.

    Parameters
    ----------
    max_depth : int, "auto" or None, default="auto"
        Largest number of comparisons between the root and a leaf; None sets no limit. "auto" is 5
        up to 2,048 examples, and 1.5 more for every doubling of them, rounded: 8 with 8,000, 12
        with 50,000, and 15 with 200,000. If the data choose the number of rounds, up to 60,000
        examples they also choose between this depth and None.
    max_leaf_nodes : int or None, default=None
        Largest number of leaves, at least 2: the node of largest gain is split first, until the
        tree has this number of leaves. None splits nodes depth first, without a limit.
    min_leaf_weight : float or "auto", default="auto"
        Least sum of the absolute pair weights in a leaf, as a multiple of their mean per example:
        a leaf of average examples has at least this number of them, one of examples that are hard
        to classify fewer. "auto" is 20, with less than 500 examples a
        25th of their number.
    max_features : int, float, "sqrt", "auto" or None, default="auto"
        Number of features drawn at each node among those that vary there: an int is that number,
        a float in (0, 1] that fraction of all, "sqrt" the square root of all; None takes all.
        "auto" is half of all, at least 8 and at most 64. Nodes of every third level draw new ones,
        the others take those of their parents.
    criterion : {"gini", "edge"}, default="gini"
        Criterion of a split: the impurity of the weighted two-class problem of signs, or the edge
        itself, ``sum over leaves of |sum of weights|``. With `max_depth` 1, all features and
        "edge", the best stump on the binned data is found.
    max_bins : int, default=256
        Largest number of bins per feature, 2 to 256, including the bin of missing values if there
        are any. A feature with at most this number of distinct values is not rounded.

    Notes
    -----
    NaN goes to the side of greater gain, learned at each node, or to the heavier side if the node
    has no NaN in training. Sparse matrices stay sparse and take five bytes per stored entry; dense
    ones take one byte per entry, and five more per entry that differs from a value that over half
    of the examples share.

    Columns that are trees of `max_depth` 2, as those of total correction, are searched exactly: of
    all roots, children and thresholds, those of largest edge, over at most 32 bins of about equal
    counts per feature. A dual bound then covers all models of pairwise interactions on these bins.
    With more than 64 features, the search covers the pairs of the 24 that divide the examples best
    alone, and is not exact. It draws nothing, and has no criterion and no least weight of a leaf:
    other values of `max_features`, `min_leaf_weight` or `max_leaf_nodes` than the defaults, and
    `monotonic_cst`, grow these trees greedily, as partitions do.

    Examples
    --------
    >>> from cwboost import CWBoostClassifier, TreeFamily
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CWBoostClassifier(TreeFamily(max_depth=3), n_estimators=20)
    >>> bool(clf.fit(X, y).score(X, y) > 0.9)
    True
    """

    name = "tree"
    api_version = 1
    learners_type = cwboost.TreeLearners

    def __init__(
        self,
        max_depth="auto",
        max_leaf_nodes=None,
        min_leaf_weight="auto",
        max_features="auto",
        criterion="gini",
        max_bins=256,
    ):
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_leaf_weight = min_leaf_weight
        self.max_features = max_features
        self.criterion = criterion
        self.max_bins = max_bins

    @property
    def capabilities(self):
        return cwboost.Capabilities(
            missing_values=True,
            sparse_input=True,
            monotonic=True,
            interactions=True,
            symmetric=True,
            divides=True,
        )

    def bind(self, X, context):
        return self.bind_rows(X, None, context)

    def bind_rows(self, X, rows, context):
        if rows is not None and len(rows) < X.shape[0]:
            X, rows = X[rows], None
        n_samples = X.shape[0] if rows is None else len(rows)
        settings = self._settings(context.size or n_samples, X.shape[1])
        n_threads = usable_threads(context.n_threads)
        binned = BinnedMatrix(X, rows=rows, max_bins=self.max_bins, n_threads=n_threads)
        sets = context.interactions
        if sets is not None and len(sets) > MOST_SETS:
            raise ValueError(
                f"interaction_cst must give at most {MOST_SETS} sets of columns for trees, got "
                f"{len(sets)}"
            )
        grower = TreeGrower(binned, n_threads=n_threads, sets=sets, **settings)
        return TreePricer(grower, binned, context, self._coarse_bins(context))

    def candidates(self, size):
        # Where leaves hold a share of the rows, deeper trees are hardly ever other ones.
        is_small = size < LEAF_WEIGHT * FEWEST_LEAVES
        if not self._chooses_depth or self._depth(size) > DEEP_ENOUGH or is_small:
            return ()
        return (clone(self).set_params(max_depth=None),)

    def in_words(self, size):
        depth = self._depth(size)
        return "trees of any depth" if depth == NO_LIMIT else f"trees of depth {depth}"

    @property
    def asks_once(self):
        return self.max_depth == 1

    def check_partitioned(self):
        if self.max_leaf_nodes is not None:
            raise ValueError(
                f"max_leaf_nodes must be None on partitions, got {self.max_leaf_nodes!r}"
            )

    def describe(self, X):
        _check_int("max_bins", self.max_bins, 2, 256)
        return FeatureSketch.of(X, 4 * self.max_bins)

    def coordinator(self, descriptions, context):
        bins = Bins.from_sketches(descriptions, self.max_bins)
        size = context.size or sum(own.n_rows for own in descriptions)
        settings = self._settings(size, bins.n_features)
        return cwboost.TreeCoordinator(bins, settings)

    def _coarse_bins(self, context):
        """Return the most bins of an exact search for columns; 0 to grow them greedily."""
        is_default = self.max_features in ("auto", None) and self.min_leaf_weight == "auto"
        if self.max_depth != 2 or not is_default or self.max_leaf_nodes is not None:
            return 0
        return min(COARSE_BINS, self.max_bins) if context.monotonic is None else 0

    @property
    def _chooses_depth(self):
        return isinstance(self.max_depth, str) and self.max_depth == "auto"

    def _depth(self, size):
        if self._chooses_depth:
            doublings = max(0.0, math.log2(max(1.0, size) / FEW_EXAMPLES))  # noqa: TID251
            return DEPTH + round(DEPTH_PER_DOUBLING * doublings)
        if self.max_depth is None:
            return NO_LIMIT
        _check_int("max_depth", self.max_depth, 1, or_else=", 'auto' or None")
        return min(self.max_depth, NO_LIMIT)

    def _leaf_mass(self, size):
        """Return the least fraction of the mass of a tree in a leaf, by the effective size."""
        weight = self.min_leaf_weight
        if isinstance(weight, str) and weight == "auto":
            weight = min(LEAF_WEIGHT, size / FEWEST_LEAVES)
        elif isinstance(weight, bool) or not isinstance(weight, Real):
            raise TypeError(f"min_leaf_weight must be a number or 'auto', got {weight!r}")
        elif not 0 <= weight < math.inf:
            raise ValueError(f"min_leaf_weight must be finite and >= 0, got {weight}")
        return float(weight) / max(size, 1.0)

    def _n_drawn(self, n_features):
        """Return the number of features drawn at a node."""
        if isinstance(self.max_features, str) and self.max_features == "auto":
            return min(n_features, max(FEWEST_DRAWN, (n_features + 1) // 2), MOST_DRAWN)
        return cwboost.count_max_features(self.max_features, n_features)

    def _settings(self, size, n_features):
        """Check the hyper-parameters and return them in the kernel's terms.

        `size` is the effective number of examples.
        """
        _check_int("max_bins", self.max_bins, 2, 256)
        if self.max_leaf_nodes is not None:
            _check_int("max_leaf_nodes", self.max_leaf_nodes, 2)
        if not isinstance(self.criterion, str) or self.criterion not in TREE_CRITERIA:
            raise ValueError(
                f"criterion must be one of {sorted(TREE_CRITERIA)}, got {self.criterion!r}"
            )
        return {
            "criterion": TREE_CRITERIA[self.criterion],
            "max_depth": self._depth(size),
            "max_leaves": self.max_leaf_nodes or 0,
            "max_features": self._n_drawn(n_features),
            "leaf_mass": self._leaf_mass(size),
        }


class TreePricer(cwboost.Pricer, cwboost.Divider):
    """Trees on one training matrix: one per target, or one whose leaves all targets share."""

    def __init__(self, grower, binned, context, coarse_bins):
        self.n_samples = binned.n_rows
        self._search, self._coarse_bins = None, coarse_bins
        self._n_varying = len(binned.bins.usable)
        self._make_search = partial(
            DepthTwoSearch, binned, sets=context.interactions, n_threads=context.n_threads
        )
        self._n_features = binned.n_features
        self._grower, self._max_depth = grower, grower.max_depth
        self._random_state = context.random_state
        self._monotonic = context.monotonic

    @property
    def exact(self):
        return self._coarse_bins > 0 and self._n_varying <= DepthTwoSearch.MOST_FEATURES

    def price(self, weights, request=cwboost.PricingRequest()):
        weights = np.require(weights, np.float64, "A")
        if self._coarse_bins:
            if self._search is None:
                self._search = self._make_search(self._coarse_bins)
            nodes, packed, edges = self._search.search(weights)
            return cwboost.Priced(self._learners(nodes), packed, edges)
        seeds = self._random_state.integers(0, 2**64, size=len(weights), dtype=np.uint64)
        self._grower.max_depth = self._max_depth
        nodes, packed, edges = self._grower.grow(weights, seeds, request.rows, self._monotonic)
        return cwboost.Priced(self._learners(nodes), packed, edges)

    def divide(self, weights, request=cwboost.PricingRequest()):
        weights = np.require(weights, np.float64, "A")
        code = cwboost.draw_code(len(weights), self._random_state)
        seed = int(self._random_state.integers(0, 2**64, dtype=np.uint64))
        self._grower.max_depth = self._max_depth
        nodes, cells = self._grower.divide(weights, code, seed, request.rows)
        return cwboost.Division(self._learners(nodes), cells, len(nodes["feature"]))

    def _learners(self, nodes):
        return cwboost.TreeLearners(cwboost.ThresholdTrees(**nodes), self._n_features)

    def rebound(self, family, context):
        other = copy(self)
        other._max_depth = family._depth(context.size or self.n_samples)
        other._random_state, other._monotonic = context.random_state, context.monotonic
        other._coarse_bins = family._coarse_bins(context)
        return other


def _check_int(name, value, low, high=2**31 - 1, or_else=""):
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an int{or_else}, got {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} must be {low} to {high}, got {value}")
