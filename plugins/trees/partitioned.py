"""Growth of trees on partitions, level by level, all trees of a round together."""

from __future__ import annotations

import numpy as np
from cwboost.plugins.trees.cuts import CODES, Candidates, Subsets, cuts_between_bins
from cwboost.plugins.trees.growing import GrowingTrees

import cwboost
from cwboost.kernels import (
    TREE_CRITERIA,
    BinnedPartition,
    NodeRows,
    SharedBins,
    masses_by_size,
    tree_outputs,
)

__all__ = ["PartitionTrees", "TreePlan"]

ROUNDING = 1e-12
"""Gains below this fraction of a node's mass are none."""


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
        return PartitionTrees(BinnedPartition(X, self.bins, context.n_threads), self)

    def merge(self, one, other):
        # Ranges are a smallest code and minus a largest one: the only integers.
        return tuple(np.minimum(a, b) if a.dtype == np.int64 else a + b for a, b in zip(one, other))

    def choose(self, scales, rng):
        trees, bounds = GrowingTrees(len(scales)), np.zeros(len(scales))
        if self.settings["trim"]:
            (masses,) = yield "masses", None
            bounds = _trim_bounds(masses, self.settings["trim"])
        step, nodes = ("start", bounds), np.arange(len(scales))
        while trees.depth < self.settings["max_depth"]:
            tried, features = self._draw(nodes, rng)
            # Categories have no order to draw a threshold from.
            is_set = self.n_categories[features] > 0
            is_drawn = ~is_set & self.settings["random_splits"]
            asked = [(tried[which], features[which]) for which in (is_drawn, ~is_drawn)]
            totals, ranges, sums = yield "nodes", step, nodes, *asked
            trees.note(nodes, totals)
            cuts, subsets = self._searched(*asked[1], sums)
            if is_drawn.any():
                drawn = self._drawn_cuts(*asked[0], ranges, rng)
                (below,) = yield "below", None, *drawn
                cuts = Candidates.concatenate([Candidates(*drawn, below), cuts])
            splits = self._best(trees, Candidates.concatenate([cuts, subsets.candidates]))
            if not len(splits[0]):
                break
            splits = _with_sides(splits, subsets)
            nodes = trees.split(*splits)
            step = ("split", splits)
        else:
            none = nodes[:0], self.usable[:0]
            totals, *_ = yield "nodes", step, nodes, none, none
            trees.note(nodes, totals)
        learners, edges = trees.finished(self.bins, self.n_categories, self.settings["chance"])
        if self.settings["trim"]:
            (edges,) = yield "edges", None, learners
        return cwboost.Chosen(learners, edges / scales, np.arange(len(scales)))

    def _draw(self, nodes, rng):
        """Draw features for every node; return the pairs."""
        n_drawn = min(self.settings["max_features"], len(self.usable))
        order = np.argsort(rng.random((len(nodes), len(self.usable))), axis=1)[:, :n_drawn]
        return np.repeat(nodes, n_drawn), self.usable[order].ravel()

    def _drawn_cuts(self, nodes, features, ranges, rng):
        """Draw a threshold between the smallest and the largest value of every pair.

        Returns
        -------
        nodes, features, cuts : ndarrays
            Of the pairs that can be split.
        """
        low, high = ranges[:, 0], -ranges[:, 1]
        missing = self.bins.has_nan[features]
        possible = (low < high) | ((low == high) & missing)
        start = self.bins.bin_start[features]
        from_, to = (np.where(possible, code, 0) + start for code in (low, high))
        at = self.bins.lowest[from_]
        with np.errstate(invalid="ignore", over="ignore"):
            drawn = at + rng.random(len(features)) * (self.bins.highest[to] - at)
        cuts = np.zeros(len(features), dtype=np.int64)
        for f in np.unique(features):
            here = np.flatnonzero(features == f)
            own = self.bins.lowest[self.bins.bin_start[f] : self.bins.bin_start[f + 1]]
            cuts[here] = np.searchsorted(own, drawn[here], side="right") - 1
        last = np.where(low < high, high - 1, high)
        cuts = np.clip(cuts, low, np.maximum(low, last)).astype(np.int32)
        return nodes[possible], features[possible], cuts[possible]

    def _searched(self, nodes, features, sums):
        """Return all cuts of the pairs of numbers, and the subsets of those of categories."""
        is_set = self.n_categories[features] > 0
        cuts = Candidates.none()
        if not is_set.all():
            numbers = ~is_set
            cuts = cuts_between_bins(self.bins, nodes[numbers], features[numbers], sums[numbers])
        return cuts, Subsets(self.bins, nodes[is_set], features[is_set], sums[is_set])

    def _best(self, trees, candidates):
        """Return nodes, features, cuts and sides of missing values of the best splits."""
        tried, below = candidates.nodes, candidates.below
        total, lost = trees.totals[tried][:, :3], below[:, 1]
        gains = []
        for right in (False, True):
            left = below[:, 0] + (0.0 if right else lost)
            rest = total - left
            least = np.minimum(left[:, 2], rest[:, 2])
            gain = self._side(left) + self._side(rest) - self._side(total)
            tolerance = ROUNDING * total[:, 1]
            fits = (least >= self.settings["min_samples_leaf"]) & (gain > tolerance)
            gains.append(np.where(fits, gain, -np.inf))
        # Without missing values, later ones go to the heavier side.
        heavier = below[:, 0, 1] < 0.5 * total[:, 1]
        missing_right = np.where(lost[:, 2] > 0, gains[1] > gains[0], heavier)
        gain = np.maximum(*gains)
        order = np.lexsort((np.arange(len(tried)), -gain, tried))
        nodes, first = np.unique(tried[order], return_index=True)
        best = order[first]
        keep = gain[best] > -np.inf
        best, nodes = best[keep], nodes[keep]
        sides = missing_right[best].astype(np.uint8)
        return nodes.astype(np.int64), candidates.features[best], candidates.cuts[best], sides

    def _side(self, part):
        """Return the criterion of one side: see _kernels/trees/criteria.h."""
        total, mass = part[:, 0], part[:, 1]
        if self.settings["criterion"] == TREE_CRITERIA["edge"]:
            return np.abs(total)
        if self.settings["criterion"] == TREE_CRITERIA["gini"]:
            return total * (total / np.maximum(mass, 1.0))
        return _xlogx((mass + total) / 2) + _xlogx((mass - total) / 2) - _xlogx(mass)


def _xlogx(x):
    return np.where(x > 0, x * np.log(np.maximum(x, 1.0)), 0.0)


def _with_sides(splits, subsets):
    """Return splits whose negative cuts count the rows of a table of sides, and the table.

    See `cwboost.kernels.NodeRows.split`.
    """
    _, _, cuts, missing_right = splits
    at = np.flatnonzero(cuts < 0)
    sides = subsets.sides(cuts[at], missing_right[at])
    cuts[at] = -1 - np.arange(len(at), dtype=np.int32)
    return *splits, np.packbits(sides, axis=1, bitorder="little")


class PartitionTrees(cwboost.PartitionPricer):
    """Trees on one partition in bins."""

    def __init__(self, binned: BinnedPartition, plan: TreePlan):
        bins = binned.bins
        self._is_set = plan.n_categories > 0
        codes = binned.codes
        if codes is None:
            codes = np.stack([binned.column(f) for f in range(binned.n_features)])
        self._codes, self._bins, self._n_threads = codes, bins, binned.n_threads
        self._rows, self._packed = None, (None, None)

    def summarise(self, weights, question):
        kind, step, *rest = question
        if step is not None:
            self._take(weights, *step)
        if kind == "masses":
            return (masses_by_size(weights.weights, weights.scales, self._n_threads),)
        if kind == "edges":
            return (self._edges(weights, *rest),)
        if kind == "below":
            return (self._rows.below(weights.weights, weights.scales, *rest),)
        nodes, drawn, searched = rest
        own, rows = (weights.weights, weights.scales), self._rows
        return rows.totals(*own, nodes), rows.ranges(*drawn), rows.histograms(*own, *searched)

    def _take(self, weights, what, given):
        if what == "start":
            own = weights.weights, weights.scales
            self._rows = NodeRows(self._codes, self._bins.n_bins, *own, given, self._n_threads)
        else:
            self._rows.split(*given)

    def _edges(self, weights, learners):
        """Return the edges over all examples, those trimmed included."""
        packed = self.outputs(learners)
        self._packed = _key(learners), packed
        n_samples, rounded = weights.n_samples, weights.rounded()
        bits = np.unpackbits(packed, axis=1, count=n_samples, bitorder="little")
        # Twice the sum of the positive less that of all: integers, exact in any order.
        return 2.0 * np.einsum("ti,ti->t", rounded, bits) - rounded.sum(axis=1)

    def outputs(self, learners):
        known, packed = self._packed
        if known == _key(learners):
            return packed
        inner = learners.feature >= 0
        below = np.zeros(len(inner), dtype=np.int32)
        below[inner] = self._bins.bins_below(learners.feature[inner], learners.threshold[inner])
        sides = self._sides(learners, below)
        positive = tree_outputs(
            self._codes,
            self._bins.n_bins,
            learners.offsets,
            learners.feature,
            below,
            learners.left,
            learners.missing,
            learners.sign,
            sides,
            self._n_threads,
        )
        return np.packbits(positive, axis=1, bitorder="little")

    def _sides(self, learners, below):
        """Return the codes that go right in nodes that test categories, whose `below` is set."""
        nodes = np.zeros(0, dtype=np.int64)
        if learners.category_sets is not None:
            nodes = np.flatnonzero(learners.category_sets.is_set)
        features = learners.feature[nodes]
        if not self._is_set[features].all():
            raise ValueError("a tree tests categories of a column of numbers")
        values = np.full((len(nodes), CODES), np.nan)
        for row, f in zip(values, features.tolist()):
            own = self._bins.lowest[self._bins.bin_start[f] : self._bins.bin_start[f + 1]]
            row[: len(own)] = own
        if not len(nodes):
            return np.zeros((0, CODES // 8), dtype=np.uint8)
        right = learners.category_sets.contains(nodes[:, None], values)
        right[np.arange(len(nodes)), self._bins.n_bins[features]] = learners.missing[nodes] > 0
        below[nodes] = -1 - np.arange(len(nodes))
        return np.packbits(right, axis=1, bitorder="little")


def _trim_bounds(masses, fraction):
    """Return the greatest bound of each target below which lies at most this fraction of it."""
    below = np.cumsum(masses, axis=1)
    size = (below <= fraction * below[:, -1:]).sum(axis=1)
    return np.where(size > 0, np.ldexp(1.0 + size % 8 / 8, size // 8), 0.0)


def _key(learners):
    return b"".join(array.tobytes() for array in learners.arrays().values())
