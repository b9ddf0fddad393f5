"""Growth of trees on partitions, level by level, all trees of a round together."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from cwboost.plugins.trees.learners import TreeLearners

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
    settings : dict
        The hyper-parameters in the kernel's terms.
    """

    def __init__(self, bins: SharedBins, settings):
        self.bins = bins
        self.settings = settings
        self.usable = np.flatnonzero(bins.n_bins + bins.has_nan > 1).astype(np.int32)

    def bind(self, X, context):
        return PartitionTrees(BinnedPartition(X, self.bins, context.n_threads))

    def merge(self, one, other):
        merged = tuple(a + b for a, b in zip(one, other))
        # Ranges are a smallest code and minus a largest one: the only integers.
        if len(one) == 2 and one[1].dtype == np.int64:
            return merged[0], np.minimum(one[1], other[1])
        return merged

    def choose(self, scales, rng):
        trees, bounds = _Growing(len(scales)), np.zeros(len(scales))
        if self.settings["trim"]:
            (masses,) = yield "masses", None
            bounds = _trim_bounds(masses, self.settings["trim"])
        step, nodes = ("start", bounds), np.arange(len(scales))
        while True:
            tried, features = self._draw(nodes, rng)
            kind = "ranges" if self.settings["random_splits"] else "histograms"
            totals, found = yield kind, step, nodes, tried, features
            trees.note(nodes, totals)
            if self.settings["random_splits"]:
                cuts, possible = self._random_cuts(features, found, rng)
                tried, features, cuts = tried[possible], features[possible], cuts[possible]
                (below,) = yield "below", None, tried, features, cuts
            else:
                tried, features, cuts, below = self._all_cuts(tried, features, found)
            splits = self._best(trees, tried, features, cuts, below)
            if not len(splits[0]):
                break
            nodes = trees.split(*splits)
            step = ("split", splits)
            if trees.depth == self.settings["max_depth"]:
                totals, _ = yield "ranges", step, nodes, nodes[:0], features[:0]
                trees.note(nodes, totals)
                break
        learners, edges = trees.finished(self.bins, self.settings["chance"])
        if self.settings["trim"]:
            (edges,) = yield "edges", None, learners
        return cwboost.Chosen(learners, edges / scales, np.arange(len(scales)))

    def _draw(self, nodes, rng):
        """Draw features for every node; return the pairs."""
        n_drawn = min(self.settings["max_features"], len(self.usable))
        order = np.argsort(rng.random((len(nodes), len(self.usable))), axis=1)[:, :n_drawn]
        return np.repeat(nodes, n_drawn), self.usable[order].ravel()

    def _random_cuts(self, features, ranges, rng):
        """Draw a threshold between the smallest and the largest value of every pair."""
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
        return np.clip(cuts, low, np.maximum(low, last)).astype(np.int32), possible

    def _all_cuts(self, tried, features, hist):
        """Return one pair per code as a cut, with the sums up to it."""
        n_bins = self.bins.n_bins[features]
        lost = hist[np.arange(len(features)), np.minimum(n_bins, 255)]
        lost = np.where(self.bins.has_nan[features][:, None], lost, 0.0)
        pair, cut = np.nonzero(np.arange(256) < n_bins[:, None])
        sums = np.cumsum(hist, axis=1)[pair, cut]
        below = np.stack([sums, lost[pair]], axis=1)
        return tried[pair], features[pair], cut.astype(np.int32), below

    def _best(self, trees, tried, features, cuts, below):
        """Return nodes, features, cuts and sides of missing values of the best splits."""
        total = trees.totals[tried][:, :3]
        gains = []
        for right in (False, True):
            left = below[:, 0] + (0.0 if right else below[:, 1])
            rest = total - left
            least = np.minimum(left[:, 2], rest[:, 2])
            gain = self._side(left) + self._side(rest) - self._side(total)
            tolerance = ROUNDING * total[:, 1]
            fits = (least >= self.settings["min_samples_leaf"]) & (gain > tolerance)
            gains.append(np.where(fits, gain, -np.inf))
        missing_right = gains[1] > gains[0]
        gain = np.maximum(*gains)
        order = np.lexsort((np.arange(len(tried)), -gain, tried))
        nodes, first = np.unique(tried[order], return_index=True)
        best = order[first]
        keep = gain[best] > -np.inf
        best, nodes = best[keep], nodes[keep]
        sides = missing_right[best].astype(np.uint8)
        return nodes.astype(np.int64), features[best], cuts[best], sides

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


@dataclass
class _Growing:
    """The nodes of all trees of a round, in the order in which they appeared."""

    n_trees: int
    depth: int = 0
    totals: np.ndarray = field(init=False)

    def __post_init__(self):
        n = self.n_trees
        self.totals = np.zeros((n, 4))
        self.tree, self.left = np.arange(n), np.full(n, -1)
        self.feature, self.cut = np.full(n, -1), np.zeros(n, np.int64)
        self.missing = np.zeros(n, np.int8)

    def note(self, nodes, totals):
        self.totals[nodes] = totals

    def split(self, nodes, features, cuts, sides):
        """Split nodes; return their children."""
        n, first = 2 * len(nodes), len(self.tree)
        self.feature[nodes], self.cut[nodes] = features, cuts
        self.missing[nodes] = np.where(sides > 0, 1, -1)
        self.left[nodes] = first + np.arange(0, n, 2)
        self.tree = np.concatenate([self.tree, np.repeat(self.tree[nodes], 2)])
        self.totals = np.concatenate([self.totals, np.zeros((n, 4))])
        self.left = np.concatenate([self.left, np.full(n, -1)])
        self.feature = np.concatenate([self.feature, np.full(n, -1)])
        self.cut = np.concatenate([self.cut, np.zeros(n, np.int64)])
        self.missing = np.concatenate([self.missing, np.zeros(n, np.int8)])
        self.depth += 1
        return first + np.arange(n)

    def finished(self, bins, chance):
        """Return the learners, without splits of leaves of one sign, and their edges."""
        sums = self.totals[:, 0]
        sign = np.where(sums < 0, -1, 1)
        edges = np.bincount(
            self.tree[self.left < 0], np.abs(sums[self.left < 0]), minlength=self.n_trees
        )
        for node in np.flatnonzero(self.left >= 0)[::-1]:
            child = self.left[node]
            if (self.left[child : child + 2] < 0).all() and sign[child] == sign[child + 1]:
                sign[node], self.left[node] = sign[child], -1
        kept = np.arange(len(self.left)) < self.n_trees
        for node in np.flatnonzero(self.left >= 0):
            if kept[node]:
                kept[self.left[node] : self.left[node] + 2] = True
        order = np.flatnonzero(kept)[np.argsort(self.tree[kept], kind="stable")]
        offsets = np.searchsorted(self.tree[order], np.arange(self.n_trees + 1)).astype(np.int64)
        place = np.zeros(len(kept), dtype=np.int64)
        place[order] = np.arange(len(order)) - offsets[self.tree[order]]
        inner = self.left[order] >= 0
        split = order[inner]
        threshold = np.zeros(len(order))
        threshold[inner] = bins.thresholds(self.feature[split], self.cut[split])
        last = self.cut[split] == bins.n_bins[self.feature[split]] - 1
        threshold[np.flatnonzero(inner)[last]] = np.inf
        left = np.full(len(order), -1, dtype=np.int32)
        left[inner] = place[self.left[split]]
        gain = np.zeros(len(order), dtype=np.float32)
        gain[inner] = self._gains(split, chance) / np.maximum(edges[self.tree[split]], 1.0)
        learners = TreeLearners(
            offsets,
            np.where(inner, self.feature[order], -1).astype(np.int32),
            threshold,
            left,
            np.where(inner, self.missing[order], 0).astype(np.int8),
            np.where(inner, 0, sign[order]).astype(np.int8),
            gain,
            n_features=bins.n_features,
        )
        return learners, edges

    def _gains(self, split, chance):
        """Return what comparisons gained in edge, less what chance gives."""
        sums = np.abs(self.totals[:, 0])
        child = self.left[split]
        roots = np.sqrt(self.totals[split, 3] * 2.0**52)
        by_chance = np.maximum(0.0, np.outer(chance, roots) - sums[split]).mean(axis=0)
        return sums[child] + sums[child + 1] - sums[split] - by_chance


class PartitionTrees(cwboost.PartitionPricer):
    """Trees on one partition in bins."""

    def __init__(self, binned: BinnedPartition):
        bins = binned.bins
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
        nodes, *pairs = rest
        totals = self._rows.totals(weights.weights, weights.scales, nodes)
        if kind == "ranges":
            return totals, self._rows.ranges(*pairs)
        return totals, self._rows.histograms(weights.weights, weights.scales, *pairs)

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
        if learners.category_sets is not None:
            raise ValueError("trees that test categories cannot go on on partitions")
        inner = learners.feature >= 0
        below = np.zeros(len(inner), dtype=np.int32)
        below[inner] = self._bins.bins_below(learners.feature[inner], learners.threshold[inner])
        positive = tree_outputs(
            self._codes,
            self._bins.n_bins,
            learners.offsets,
            learners.feature,
            below,
            learners.left,
            learners.missing,
            learners.sign,
            self._n_threads,
        )
        return np.packbits(positive, axis=1, bitorder="little")


def _trim_bounds(masses, fraction):
    """Return the greatest bound of each target below which lies at most this fraction of it."""
    below = np.cumsum(masses, axis=1)
    size = (below <= fraction * below[:, -1:]).sum(axis=1)
    return np.where(size > 0, np.ldexp(1.0 + size % 8 / 8, size // 8), 0.0)


def _key(learners):
    return b"".join(array.tobytes() for array in learners.arrays().values())
