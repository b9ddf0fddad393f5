"""The trees of a round while they grow, level by level, and the learners that they become."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from cwboost.plugins.trees.learners import TreeLearners

from cwboost.kernels import CategorySets, join_leaves

__all__ = ["GrowingTrees"]


@dataclass
class GrowingTrees:
    """The nodes of all trees of a round, in the order in which they appeared.

    Parameters
    ----------
    n_trees : int

    Attributes
    ----------
    depth : int
        Levels of splits so far.
    totals : ndarray of shape (n_nodes, 4), dtype float64
        Sum, mass, number and coarse squares of the weights.
    shares : ndarray of shape (n_nodes,), dtype float64
        Share of the features that vary in the node; before it is known, in its parent.
    sides : dict of int to ndarray of shape (256,), dtype bool
        The codes that go right, by the nodes that test categories.
    """

    n_trees: int
    depth: int = 0
    totals: np.ndarray = field(init=False)
    shares: np.ndarray = field(init=False)
    sides: dict[int, np.ndarray] = field(default_factory=dict)

    def __post_init__(self):
        n = self.n_trees
        self.totals, self.shares = np.zeros((n, 4)), np.ones(n)
        self.tree, self.left = np.arange(n), np.full(n, -1)
        self.feature, self.cut = np.full(n, -1), np.zeros(n, np.int64)
        self.missing = np.zeros(n, np.int8)

    def note(self, nodes, totals):
        """Note the sums of nodes."""
        self.totals[nodes] = totals

    def split(self, nodes, features, cuts, missing_right, sides, left):
        """Split nodes as `cwboost.kernels.NodeRows.split` does; return their children.

        `left` holds sum, mass and number of the weights on the left of every node.
        """
        n, first = 2 * len(nodes), len(self.tree)
        self.feature[nodes], self.cut[nodes] = features, cuts
        self.missing[nodes] = np.where(missing_right > 0, 1, -1)
        for node, cut in zip(nodes[cuts < 0].tolist(), cuts[cuts < 0].tolist()):
            self.sides[node] = np.unpackbits(sides[-1 - cut], bitorder="little").astype(bool)
        self.left[nodes] = first + np.arange(0, n, 2)
        self.tree = np.concatenate([self.tree, np.repeat(self.tree[nodes], 2)])
        of_children = np.zeros((len(nodes), 2, 4))
        of_children[:, 0, :3], of_children[:, 1, :3] = left, self.totals[nodes, :3] - left
        self.totals = np.concatenate([self.totals, of_children.reshape(n, 4)])
        self.shares = np.concatenate([self.shares, np.repeat(self.shares[nodes], 2)])
        self.left = np.concatenate([self.left, np.full(n, -1)])
        self.feature = np.concatenate([self.feature, np.full(n, -1)])
        self.cut = np.concatenate([self.cut, np.zeros(n, np.int64)])
        self.missing = np.concatenate([self.missing, np.zeros(n, np.int8)])
        self.depth += 1
        return first + np.arange(n)

    def finished(self, bins, n_categories, chance):
        """Return the learners, without splits of leaves of one sign, and their edges."""
        sums = self.totals[:, 0]
        sign = np.where(sums < 0, -1, 1)
        edges = np.bincount(
            self.tree[self.left < 0], np.abs(sums[self.left < 0]), minlength=self.n_trees
        )
        kept = join_leaves(self.n_trees, self.left, sign)
        order = np.flatnonzero(kept)[np.argsort(self.tree[kept], kind="stable")]
        offsets = np.searchsorted(self.tree[order], np.arange(self.n_trees + 1)).astype(np.int64)
        place = np.zeros(len(kept), dtype=np.int64)
        place[order] = np.arange(len(order)) - offsets[self.tree[order]]
        inner = self.left[order] >= 0
        split = order[inner]
        threshold = np.zeros(len(order))
        compares = inner & (self.cut[order] >= 0)
        at = order[compares]
        threshold[compares] = bins.thresholds(self.feature[at], self.cut[at])
        last = self.cut[at] == bins.n_bins[self.feature[at]] - 1
        threshold[np.flatnonzero(compares)[last]] = np.inf
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
            category_sets=self._category_sets(order, inner, bins, n_categories),
        )
        return learners, edges

    def _category_sets(self, order, inner, bins, n_categories):
        """Return the categories that go right; those without an example go with missing values."""
        if not self.sides:
            return None
        members = []
        for node, splits in zip(order.tolist(), inner):
            if not splits or node not in self.sides:
                members.append(None)
                continue
            f = self.feature[node]
            known = bins.lowest[bins.bin_start[f] : bins.bin_start[f + 1]].astype(np.int64)
            right = np.full(n_categories[f], self.missing[node] > 0)
            right[known] = self.sides[node][: len(known)]
            members.append(right)
        return CategorySets.of(members)

    def _gains(self, split, chance):
        """Return what comparisons gained in edge, less what chance gives."""
        sums = np.abs(self.totals[:, 0])
        child = self.left[split]
        roots = np.sqrt(self.totals[split, 3] * 2.0**52)
        by_chance = np.maximum(0.0, np.outer(chance, roots) - sums[split]).mean(axis=0)
        return sums[child] + sums[child + 1] - sums[split] - by_chance
