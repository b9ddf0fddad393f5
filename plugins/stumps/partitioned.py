"""Pricing of stumps on partitions: exact over the thresholds between shared bins, and subsets."""

from __future__ import annotations

import numpy as np
from cwboost.plugins.stumps.categories import stronger
from cwboost.plugins.stumps.learners import StumpLearners

import cwboost
from cwboost.kernels import (
    THRESHOLDS_SEARCHED,
    BinnedMatrix,
    Bins,
    CategoryFeatures,
    best_of_bins,
    best_of_categories,
    gained_fractions,
)

__all__ = ["BinnedStumps", "StumpPlan"]

TARGETS = 8
"""Number of targets whose weights are rounded at a time for the sums of categories."""


class StumpPlan(cwboost.PricingPlan):
    """Stumps with thresholds between bins, and with subsets of categories.

    `numbers` and `categorical` are the columns of either kind, ascending; `n_drawn` features are
    drawn per round, all with None.
    """

    def __init__(self, bins: Bins, n_drawn, numbers, categorical, n_categories):
        self.bins = bins
        self.n_drawn = n_drawn
        self.numbers, self.categorical = numbers, categorical
        self.n_categories = n_categories
        self.exact = n_drawn is None

    @property
    def n_features(self):
        return len(self.numbers) + len(self.categorical)

    def bind(self, X, context):
        return BinnedStumps(X, self, context.n_threads)

    def choose(self, scales, rng, request):
        drawn, searched = np.arange(self.n_features), None
        if self.n_drawn is not None:
            drawn = np.sort(rng.choice(self.n_features, self.n_drawn, replace=False))
            searched = np.flatnonzero(np.isin(self.numbers, drawn))
        sums, totals, squares, *of_categories = yield None
        feature, threshold, polarity, missing, edges = best_of_bins(
            self.bins, sums, totals, searched
        )
        norms = np.sqrt(squares) * 2.0**26
        learners = StumpLearners(
            feature=np.append(self.numbers, -1)[feature].astype(np.int32),
            threshold=threshold,
            polarity=polarity,
            missing=missing,
            gain=gained_fractions(edges, totals, norms, THRESHOLDS_SEARCHED * len(drawn)),
            n_features=self.n_features,
        )
        if of_categories and np.isin(self.categorical, drawn).any():
            sums, squares, counts = of_categories
            found = best_of_categories(
                self.categorical, self.n_categories, sums, squares * 2.0**52, counts, drawn
            )
            learners, edges, _ = stronger(learners, edges, found)
        return cwboost.Chosen(learners, edges / scales, np.arange(len(edges)))


class BinnedStumps(cwboost.PartitionPricer):
    """Stumps on one partition: numbers in bins, categories as codes."""

    def __init__(self, X, plan: StumpPlan, n_threads):
        self._plan, self._categories = plan, None
        if len(plan.categorical):
            self._categories = CategoryFeatures(X, plan.categorical, plan.n_categories, n_threads)
            X = X[:, plan.numbers]
        self._binned = BinnedMatrix(X, plan.bins, n_threads=n_threads)

    def summarise(self, weights, question):
        sums, of_targets = self._binned.sums(weights.weights, weights.scales)
        if self._categories is None:
            # Every example has one code of a feature, so any feature has the total.
            width = int(self._plan.bins.code_starts[1])
            return sums, sums[:width].sum(axis=0), of_targets
        own = self._categories
        groups = list(weights.groups(TARGETS))
        of_codes = np.hstack([own.sums(group.rounded()) for group in groups])
        squares = np.hstack([own.sums(group.squared()) for group in groups])
        totals = of_codes[: own.n_categories[0] + 1].sum(axis=0)
        return sums, totals, of_targets, of_codes, squares, own.counts()

    def outputs(self, learners):
        plan = self._plan
        is_number = np.isin(learners.feature, plan.numbers)
        if learners.category_sets is not None and learners.category_sets.is_set[is_number].any():
            raise ValueError("a stump tests categories of a column of numbers")
        place, below = np.full(len(learners), -1), np.zeros(len(learners), dtype=np.int64)
        place[is_number] = np.searchsorted(plan.numbers, learners.feature[is_number])
        below[is_number] = plan.bins.bins_below(place[is_number], learners.threshold[is_number])
        packed = np.empty((len(learners), -(-self._binned.n_rows // 8)), dtype=np.uint8)
        for k, f in enumerate(learners.feature.tolist()):
            if f >= 0 and not is_number[k]:
                n = plan.n_categories[np.searchsorted(plan.categorical, f)]
                packed[k] = self._categories.outputs(f, learners.on_categories(k, int(n)))
            elif f < 0:
                packed[k] = 0xFF if learners.polarity[k] > 0 else 0
                packed[k, -1:] &= 0xFF >> (-self._binned.n_rows % 8)
            else:
                stump = int(below[k]), int(learners.polarity[k]), int(learners.missing[k])
                packed[k] = self._binned.outputs(int(place[k]), *stump)
        return packed
