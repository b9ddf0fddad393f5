"""Growth of trees on partitions, level by level, all trees of a round together."""

from __future__ import annotations

import numpy as np
from cwboost.plugins.trees.cuts import Candidates, Subsets, cuts_between_bins
from cwboost.plugins.trees.drawing import DrawnFeatures
from cwboost.plugins.trees.growing import GrowingTrees
from cwboost.plugins.trees.partition import PartitionTrees

import cwboost
from cwboost.kernels import BinnedPartition, SharedBins, best_splits

__all__ = ["TreePlan"]

FEW = 16
"""Nodes of at most this number of examples are taken to have fewer features that vary."""

ROUNDING = 1e-12
"""Nodes with less than this fraction of their mass on the lighter sign are pure."""


class TreePlan(cwboost.PricingPlan):
    """Trees on shared bins.

    Parameters
    ----------
    bins : SharedBins
        Of all columns; category codes are bins.
    settings : dict
        The hyper-parameters in the kernel's terms.
    n_categories : ndarray of shape (n_features,), dtype int64
        Number of categories of each column, 0 of numbers.
    """

    def __init__(self, bins: SharedBins, settings, n_categories):
        self.bins = bins
        self.settings = settings
        self.n_categories = n_categories
        self.usable = np.flatnonzero(bins.n_bins + bins.has_nan > 1).astype(np.int32)

    def bind(self, X, context):
        binned = BinnedPartition(X, self.bins, context.n_threads)
        return PartitionTrees(binned, self.n_categories)

    def choose(self, scales, rng):
        trees, bounds = GrowingTrees(len(scales)), np.zeros(len(scales))
        if self.settings["trim"]:
            (masses,) = yield "masses", None
            bounds = _trim_bounds(masses, self.settings["trim"])
        step, nodes = ("start", bounds), np.arange(len(scales))
        while trees.depth < self.settings["max_depth"]:
            splits = yield from self._splits(trees, step, nodes, rng)
            if not len(splits[0]):
                break
            nodes = trees.split(*splits)
            step = "split", (splits[0].astype(np.int32), *splits[1:5])
        learners, edges = trees.finished(self.bins, self.n_categories, self.settings["chance"])
        if self.settings["trim"]:
            (edges,) = yield "edges", None, learners
        return cwboost.Chosen(learners, edges / scales, np.arange(len(scales)))

    def _splits(self, trees, step, nodes, rng):
        """Return the best splits of the nodes of a step; a conversation."""
        n_wanted, may = self.settings["max_features"], self._may_split(trees.totals[nodes])
        own = nodes[may] if trees.depth else nodes  # sums of roots are not known yet
        shares = trees.shares[own] * np.where(trees.totals[own, 2] <= FEW, 0.6, 1.0)
        features = DrawnFeatures(self.usable, n_wanted, own, shares, rng)
        found = []
        while True:
            pairs = features.next()
            totals, sums = yield "nodes", step, nodes, pairs
            trees.note(nodes, totals)
            step, nodes = None, nodes[:0]
            counts = features.note((sums[:, :, 2] > 0).sum(axis=1) > 1)
            found.append([part[counts] for part in (*pairs, sums)])
            if features.are_enough:
                break
        trees.shares[own] = features.shares
        cuts, subsets = self._searched(*_joined(found))
        splits = self._best(trees, Candidates.concatenate([cuts, subsets.candidates]))
        return _with_sides(splits, subsets)

    def _may_split(self, totals):
        """Return which nodes have examples enough, and of both signs, by their sums."""
        enough = totals[:, 2] >= 2 * self.settings["min_samples_leaf"]
        return enough & (totals[:, 1] - np.abs(totals[:, 0]) > ROUNDING * totals[:, 1])

    def _searched(self, nodes, features, sums):
        """Return all cuts of the pairs of numbers, and the subsets of those of categories."""
        is_set = self.n_categories[features] > 0
        cuts = Candidates.none()
        if not is_set.all():
            numbers = ~is_set
            cuts = cuts_between_bins(self.bins, nodes[numbers], features[numbers], sums[numbers])
        return cuts, Subsets(self.bins, nodes[is_set], features[is_set], sums[is_set])

    def _best(self, trees, candidates):
        """Return nodes, features, cuts, sides of missing values and left sums of the best."""
        nodes, below = candidates.nodes, candidates.below
        how = self.settings["criterion"], self.settings["min_samples_leaf"]
        best, missing_right = best_splits(nodes, below, trees.totals, *how)
        left = below[best, 0] + np.where(missing_right[:, None], 0.0, below[best, 1])
        sides, cuts = missing_right.astype(np.uint8), candidates.cuts[best]
        return nodes[best], candidates.features[best], cuts, sides, left


def _with_sides(splits, subsets):
    """Return splits whose negative cuts count the rows of a table of sides, and the table.

    See `cwboost.kernels.NodeRows.split`.
    """
    nodes, features, cuts, missing_right, left = splits
    at = np.flatnonzero(cuts < 0)
    sides = subsets.sides(cuts[at], missing_right[at])
    cuts[at] = -1 - np.arange(len(at), dtype=np.int32)
    sides = np.packbits(sides, axis=1, bitorder="little")
    return nodes, features, cuts, missing_right, sides, left


def _joined(parts):
    """Return the pairs of all batches, in the order of the nodes, with what was found of them.

    Histograms have as many codes as the largest.
    """
    width = max(part[2].shape[1] for part in parts)
    for part in parts:
        missing = [(0, 0), (0, width - part[2].shape[1])] + [(0, 0)] * (part[2].ndim - 2)
        part[2] = np.pad(part[2], missing)
    nodes, features, found = (np.concatenate(own) for own in zip(*parts))
    order = np.argsort(nodes, kind="stable")
    return nodes[order], features[order], found[order]


def _trim_bounds(masses, fraction):
    """Return the greatest bound of each target below which lies at most this fraction of it."""
    below = np.cumsum(masses, axis=1)
    size = (below <= fraction * below[:, -1:]).sum(axis=1)
    return np.where(size > 0, np.ldexp(1.0 + size % 8 / 8, size // 8), 0.0)
