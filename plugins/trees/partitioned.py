"""Growth of trees on partitions, level by level, all trees of a round together."""

from __future__ import annotations

import numpy as np
from cwboost.plugins.trees.cuts import Candidates, Subsets, cuts_between_bins
from cwboost.plugins.trees.drawing import DrawnFeatures, groups
from cwboost.plugins.trees.growing import GrowingTrees
from cwboost.plugins.trees.learners import Answers
from cwboost.plugins.trees.partition import PartitionTrees, nodes_key
from cwboost.plugins.trees.subtrees import (
    LEAST_NODES,
    MOST_BYTES,
    MOST_FEATURES,
    AllCodes,
    Subtrees,
    assigned,
)

import cwboost
from cwboost.kernels import (
    BinnedPartition,
    SharedBins,
    best_splits,
    draw_cuts,
)

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
    n_rows : int
        Number of examples of all partitions.
    """

    def __init__(self, bins: SharedBins, settings, n_categories, n_rows):
        self.bins = bins
        self.settings = settings
        self.n_categories = n_categories
        self.usable = np.flatnonzero(bins.n_bins + bins.has_nan > 1).astype(np.int32)
        only_numbers = not n_categories[self.usable].any()
        is_small = n_rows * bins.n_features <= MOST_BYTES and bins.n_features <= MOST_FEATURES
        self._may_divide = settings["random_splits"] and only_numbers and is_small
        self._keys = None

    def bind(self, X, context):
        binned = BinnedPartition(X, self.bins, context.n_threads)
        return PartitionTrees(binned, self, int(context.places[0]))

    def merge(self, one, other):
        return tuple(_merged(a, b) for a, b in zip(one, other))

    def choose(self, scales, rng):
        trees, bounds = GrowingTrees(len(scales)), np.zeros(len(scales))
        if self.settings["trim"]:
            (masses,) = yield "masses", None
            bounds = _trim_bounds(masses, self.settings["trim"])
        step, nodes = ("start", bounds), np.arange(len(scales))
        while trees.depth < self.settings["max_depth"]:
            if self._is_time(trees, nodes):
                yield from self._grown_apart(trees, step, nodes, rng)
                return (yield from self._chosen_by_leaves(trees, scales, bounds))
            splits = yield from self._splits(trees, step, nodes, rng)
            if not len(splits[0]):
                break
            nodes = trees.split(*splits)
            step = "split", (splits[0].astype(np.int32), *splits[1:5])
        learners, edges = trees.finished(self.bins, self.n_categories, self.settings["chance"])
        if self.settings["trim"]:
            (edges,) = yield "edges", None, learners
        return cwboost.Chosen(learners, edges / scales, np.arange(len(scales)))

    def _chosen_by_leaves(self, trees, scales, bounds):
        """Return the choice, with signs by the sums of all leaves; a conversation.

        Examples whose weights are trimmed count in the edges, not in the signs.
        """
        nodes = trees.nodes()
        key = nodes_key(nodes)
        (sums,) = yield "leaves", None, key, nodes, bounds
        edges = trees.note_leaves(sums)
        positive = np.packbits(trees.totals[:, 0] >= 0, bitorder="little")
        learners, _ = trees.finished(self.bins, self.n_categories, self.settings["chance"])
        learners.answers = Answers(key, np.arange(len(scales)), positive)
        return cwboost.Chosen(learners, edges / scales, np.arange(len(scales)))

    def _is_time(self, trees, nodes):
        """Return whether partitions may grow what is below these nodes, each a part of it."""
        if not self._may_divide or not trees.depth:
            return False
        return self._may_split(trees.totals[nodes]).sum() >= LEAST_NODES

    def _grown_apart(self, trees, step, nodes, rng):
        """Let each partition grow what is below some of the nodes; a conversation."""
        if self._keys is None:
            (found,) = yield "keys", None
            self._keys = sorted(found)
        nodes = nodes[self._may_split(trees.totals[nodes])]
        given = assigned(nodes, trees.totals[nodes, 2], self._keys)
        (rows,) = yield "rows", step, given
        tasks = {
            key: (own, trees.totals[own], {k: of[key] for k, of in rows.items() if k != key})
            for key, own in given.items()
        }
        seed = int(rng.integers(2**63))
        question = "subtrees", None, cwboost.ByPartition(tasks), trees.depth, seed
        (parts,) = yield question
        while any(part is None for part in parts.values()):
            # In the first round, or after the loss of a worker.
            (codes,) = yield "codes", None
            yield "know", None, AllCodes(codes)
            (parts,) = yield question
        trees.graft(Subtrees.of(parts))

    def _splits(self, trees, step, nodes, rng):
        """Return the best splits of the nodes of a step; a conversation."""
        n_wanted, may = self.settings["max_features"], self._may_split(trees.totals[nodes])
        own = nodes[may] if trees.depth else nodes  # sums of roots are not known yet
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


def _trim_bounds(masses, fraction):
    """Return the greatest bound of each target below which lies at most this fraction of it."""
    below = np.cumsum(masses, axis=1)
    size = (below <= fraction * below[:, -1:]).sum(axis=1)
    return np.where(size > 0, np.ldexp(1.0 + size % 8 / 8, size // 8), 0.0)


def _merged(one, other):
    """Return two summaries as one: subtrees by partition, ranges, or sums."""
    if isinstance(one, dict):
        return {**one, **other}
    # Ranges are a smallest code and minus a largest one: the only integers.
    return np.minimum(one, other) if one.dtype == np.int16 else one + other
