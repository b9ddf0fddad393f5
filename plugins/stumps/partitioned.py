"""Pricing of stumps on partitions: exact over the thresholds between shared bins."""

from __future__ import annotations

import numpy as np
from cwboost.plugins.stumps.learners import StumpLearners

import cwboost
from cwboost.kernels import (
    THRESHOLDS_SEARCHED,
    BinnedPartition,
    SharedBins,
    gained_fractions,
)

__all__ = ["BinnedStumps", "StumpPlan", "best_stumps"]


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

    def bind(self, X, n_threads):
        return BinnedStumps(BinnedPartition(X, self.bins, n_threads))

    def choose(self, scales, rng):
        n_features = self.bins.n_features
        drawn = None
        if self.n_drawn is not None:
            drawn = np.sort(rng.choice(n_features, self.n_drawn, replace=False))
        sums, totals, squares = yield None
        found = best_stumps(self.bins, sums, totals, drawn)
        feature, place, polarity, missing, edges = found
        threshold = np.zeros(len(feature))
        split = np.flatnonzero(feature >= 0)
        threshold[split] = self.bins.thresholds(feature[split], place[split])
        threshold[split[place[split] == self.bins.n_bins[feature[split]]]] = np.inf
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


def best_stumps(bins: SharedBins, sums, totals, features=None):
    """Return the best stump of every target from the exact sums of all bins.

    Ties go to the constant stump, then to the lowest feature, then to the lowest threshold, as in
    `cwboost.kernels.SortedFeatures`.

    Parameters
    ----------
    bins : SharedBins
    sums : ndarray of shape (n_codes, n_targets), dtype float64
        What `BinnedPartition.sums` returns, over all partitions.
    totals : ndarray of shape (n_targets,), dtype float64
    features : ndarray of int, default=None
        The features searched; None for all.

    Returns
    -------
    feature, place : ndarrays of shape (n_targets,), dtype int64
        The threshold is above bin `place`, the number of bins for present against missing;
        feature -1 is a constant.
    polarity, missing : ndarrays of shape (n_targets,), dtype int8
    edges : ndarray of shape (n_targets,), dtype float64
    """
    n_targets = len(totals)
    features = np.arange(bins.n_features) if features is None else features
    widths = bins.n_bins[features].astype(np.int64)
    padded = np.zeros((len(features), int(widths.max(initial=0)) + 1, n_targets))
    inside = np.arange(padded.shape[1]) < widths[:, None]
    starts = bins.code_starts[features]
    padded[inside] = sums[(starts[:, None] + np.arange(padded.shape[1]))[inside]]
    lost = sums[starts + widths]  # the sums of missing values, (n_features, n_targets)
    present = totals - lost
    above = present[:, None] - 2.0 * np.cumsum(padded, axis=1)
    edges = np.abs(above)
    edges[np.arange(padded.shape[1]) >= widths[:, None] - 1] = -np.inf
    place = edges.argmax(axis=1)
    at = np.arange(len(features))[:, None], place, np.arange(n_targets)
    best, sign = edges[at] + np.abs(lost), above[at]
    # Present against missing.
    apart = np.where(lost * present < 0, np.abs(lost) + np.abs(present), -np.inf)
    whole = apart > best
    best, sign = np.where(whole, apart, best), np.where(whole, -present, sign)
    place = np.where(whole, widths[:, None], place)
    found = np.where(best.max(axis=0) > np.abs(totals), best.argmax(axis=0), -1)
    split, targets = found >= 0, np.arange(n_targets)
    lost = np.where(split, lost[found, targets], totals)
    sign = np.where(split, sign[found, targets], totals)
    missing = np.where(lost > 0, 1, np.where(lost < 0, -1, np.where(totals >= 0, 1, -1)))
    return (
        np.where(split, features[found], -1),
        np.where(split, place[found, targets], 0),
        np.where(sign >= 0, 1, -1).astype(np.int8),
        missing.astype(np.int8),
        np.where(split, best[found, targets], np.abs(totals)),
    )
