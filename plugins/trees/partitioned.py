"""Growth of trees on partitions, level by level, all trees of a round together."""

from __future__ import annotations

import numpy as np
from cwboost.plugins.trees.cuts import CODES, Candidates, Subsets, cuts_between_bins
from cwboost.plugins.trees.drawing import DrawnFeatures, groups
from cwboost.plugins.trees.growing import GrowingTrees

import cwboost
from cwboost.kernels import (
    BinnedPartition,
    NodeRows,
    SharedBins,
    best_splits,
    draw_cuts,
    masses_by_size,
    output_edges,
    tree_outputs,
)

__all__ = ["PartitionTrees", "TreePlan"]

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
        return PartitionTrees(BinnedPartition(X, self.bins, context.n_threads), self)

    def merge(self, one, other):
        # Ranges are a smallest code and minus a largest one: the only integers.
        return tuple(np.minimum(a, b) if a.dtype == np.int16 else a + b for a, b in zip(one, other))

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
        own = nodes if step[0] == "start" else nodes[may]
        shares = trees.shares[own] * np.where(trees.totals[own, 2] <= FEW, 0.6, 1.0)
        features = DrawnFeatures(self.usable, n_wanted, own, shares, rng)
        pairs, sums = [], []
        while True:
            asked = features.next()
            # Categories have no order to draw a threshold from.
            is_drawn = (self.n_categories[asked[1]] == 0) & self.settings["random_splits"]
            drawn, searched = ([part[which] for part in asked] for which in (is_drawn, ~is_drawn))
            totals, *found = yield "nodes", step, nodes, _by_node(*drawn), searched
            trees.note(nodes, totals)
            step, nodes, varies = None, nodes[:0], np.empty(len(is_drawn), dtype=bool)
            low, high, lost = found[0].T
            varies[is_drawn] = (low < -high) | ((low == -high) & (lost < 0))
            varies[~is_drawn] = (found[1][:, :, 2] > 0).sum(axis=1) > 1
            counts = features.note(varies)
            pairs.append([*drawn, found[0], counts[is_drawn]])
            sums.append([part[counts[~is_drawn]] for part in (*searched, found[1])])
            if features.are_enough:
                break
        trees.shares[own] = features.shares
        cuts, subsets = self._searched(*_joined(sums))
        drawn = _Drawn(self.bins, *zip(*pairs))
        if len(drawn.nodes):
            below = yield "below", None, drawn.draw(rng)
            cuts = Candidates.concatenate([*drawn.candidates(trees, *below), cuts])
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


class _Drawn:
    """Pairs of a node and a number with one random cut each.

    Parameters
    ----------
    bins : SharedBins
    nodes, features, ranges, counts : sequences of ndarrays
        Of every batch of pairs that was asked for: the pairs, their ranges, see
        `cwboost.kernels.NodeRows.ranges`, and whether they count.

    Attributes
    ----------
    nodes, features : ndarrays of shape (n,)
        The pairs that count, in the order of the nodes.
    """

    def __init__(self, bins, nodes, features, ranges, counts):
        self._bins = bins
        nodes, features, ranges, self._counts = map(
            np.concatenate, (nodes, features, ranges, counts)
        )
        self._asked = np.flatnonzero(self._counts)
        order = np.argsort(nodes[self._asked], kind="stable")
        at = self._asked[order]
        self._place, self.nodes, self.features = order, nodes[at], features[at]
        self._ranges, self._lossy = ranges[at], bins.has_nan[features[self._asked]]

    def draw(self, rng):
        """Return the cuts of all pairs that were asked for, -1 for those that do not count."""
        self._cuts = draw_cuts(self._bins, self.features, self._ranges, rng.random(len(self.nodes)))
        cuts = np.full(len(self._counts), -1, dtype=np.int16)
        cuts[self._asked[self._place]] = self._cuts
        return cuts

    def candidates(self, trees, below, missing):
        """Return the candidates of the cuts, and all values against missing ones.

        `below` and `missing` are the sums that `cwboost.kernels.NodeRows.below` returns.
        """
        sums = np.zeros((len(below), 2, 3))
        sums[:, 0], sums[self._lossy, 1] = below, missing
        sums = sums[self._place]
        own = Candidates(self.nodes, self.features, self._cuts.astype(np.int32), sums)
        apart = np.flatnonzero(sums[:, 1, 2] > 0)
        if not len(apart):
            return [own]
        nodes, features, lost = self.nodes[apart], self.features[apart], sums[apart, 1]
        values = np.stack([trees.totals[nodes][:, :3] - lost, lost], axis=1)
        return [Candidates(nodes, features, self._bins.n_bins[features] - 1, values), own]


def _by_node(nodes, features):
    """Return nodes, the number of pairs of each, and the features, of pairs node after node."""
    first, counts = groups(nodes)
    return nodes[first].astype(np.int32), counts.astype(np.int32), features


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


ROW_BYTES = 16
"""The codes of an example take a multiple of this number of bytes."""


class PartitionTrees(cwboost.PartitionPricer):
    """Trees on one partition in bins."""

    def __init__(self, binned: BinnedPartition, plan: TreePlan):
        bins = binned.bins
        self._is_set = plan.n_categories > 0
        # Padded, so that a row of codes lies in few cache lines.
        width = -(-binned.n_features // ROW_BYTES) * ROW_BYTES
        self._codes = np.zeros((binned.n_samples, width), dtype=np.uint8)
        for f in range(binned.n_features):
            self._codes[:, f] = binned.column(f)
        self._bins, self._n_threads = bins, binned.n_threads
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
            return self._rows.below(*rest)
        nodes, drawn, searched = rest
        rows = self._rows
        return rows.totals(nodes), rows.ranges(*drawn), rows.histograms(*searched)

    def _take(self, weights, what, given):
        if what == "start":
            own = weights.weights, weights.scales
            bins = self._bins.n_bins, self._bins.has_nan
            self._rows = NodeRows(self._codes, *bins, *own, given, self._n_threads)
        else:
            self._rows.split(*given)

    def _edges(self, weights, learners):
        """Return the edges over all examples, those trimmed included."""
        packed = self.outputs(learners)
        self._packed = _key(learners), packed
        return output_edges(packed, weights.weights, weights.scales, self._n_threads)

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
