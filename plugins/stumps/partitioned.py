"""Pricing of stumps on partitions: exact over the thresholds between shared bins."""

from __future__ import annotations

import numpy as np
from cwboost.plugins.stumps.learners import StumpLearners

import cwboost
from cwboost.kernels import (
    THRESHOLDS_SEARCHED,
    BinnedPartition,
    SharedBins,
    best_of_bins,
    gained_fractions,
)

__all__ = ["BinnedStumps", "StumpPlan"]


class StumpPlan(cwboost.PricingPlan):
    """Stumps with thresholds between bins.

    Parameters
    ----------
    bins : SharedBins
    n_drawn : int or None
        Number of features drawn per round; None for all.
    """

    def __init__(self, bins: SharedBins, n_drawn):
        self.bins = bins
        self.n_drawn = n_drawn
        self.exact = n_drawn is None

    def bind(self, X, context):
        return BinnedStumps(BinnedPartition(X, self.bins, context.n_threads))

    def choose(self, scales, rng):
        n_features = self.bins.n_features
        drawn = None
        if self.n_drawn is not None:
            drawn = np.sort(rng.choice(n_features, self.n_drawn, replace=False))
        sums, totals, squares = yield None
        found = best_of_bins(self.bins, sums, totals, drawn)
        feature, threshold, polarity, missing, edges = found
        n_searched = THRESHOLDS_SEARCHED * (n_features if drawn is None else len(drawn))
        norms = np.sqrt(squares) * 2.0**26
        gain = gained_fractions(edges, totals, norms, n_searched)
        learners = StumpLearners(
            feature=feature.astype(np.int32),
            threshold=threshold,
            polarity=polarity,
            missing=missing,
            gain=gain,
            n_features=n_features,
        )
        return cwboost.Chosen(learners, edges / scales, np.arange(len(feature)))


class BinnedStumps(cwboost.PartitionPricer):
    """Stumps on one partition in bins."""

    def __init__(self, binned: BinnedPartition):
        self._binned = binned

    def summarise(self, weights, question):
        sums = self._binned.sums(weights.weights, weights.scales)
        # Every example has one code of a feature, so any feature has the total.
        width = int(self._binned.bins.code_starts[1])
        return sums, sums[:width].sum(axis=0), weights.squares()

    def outputs(self, learners):
        if learners.category_sets is not None:
            raise ValueError("stumps that test categories cannot go on on partitions")
        binned, bins = self._binned, self._binned.bins
        split = np.flatnonzero(learners.feature >= 0)
        below = np.zeros(len(learners), dtype=np.int64)
        below[split] = bins.bins_below(learners.feature[split], learners.threshold[split])
        packed = np.empty((len(learners), -(-binned.n_samples // 8)), dtype=np.uint8)
        for k, (f, polarity, missing) in enumerate(
            zip(learners.feature.tolist(), learners.polarity, learners.missing)
        ):
            if f < 0:
                positive = np.full(binned.n_samples, polarity > 0)
            else:
                codes = binned.column(f)
                positive = (codes >= below[k]) == (polarity > 0)
                if bins.has_nan[f]:
                    positive[codes == bins.n_bins[f]] = missing > 0
            packed[k] = np.packbits(positive, bitorder="little")
        return packed
