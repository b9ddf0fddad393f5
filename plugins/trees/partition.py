"""Trees on one partition: the sums that the plan asks for, subtrees, and outputs."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from cwboost.plugins.trees.cuts import CODES
from cwboost.plugins.trees.subtrees import joined_rows

import cwboost
from cwboost.kernels import (
    BinnedPartition,
    NodeRows,
    aligned_zeros,
    grow_subtrees,
    leaf_outputs,
    leaf_sums,
    masses_by_size,
    output_edges,
    tree_leaves,
    tree_outputs,
)

__all__ = ["PartitionTrees", "nodes_key"]

ROW_BYTES = 16
"""The codes of an example take a multiple of this number of bytes."""


class PartitionTrees(cwboost.PartitionPricer):
    """Trees on one partition in bins.

    Parameters
    ----------
    binned : BinnedPartition
    plan : TreePlan
    key : int
        By which the plan knows the partition.
    """

    def __init__(self, binned: BinnedPartition, plan, key: int):
        bins = binned.bins
        self._plan, self._own = plan, key
        self._is_set = plan.n_categories > 0
        # Padded, so that a row of codes lies in few cache lines.
        width = -(-binned.n_features // ROW_BYTES) * ROW_BYTES
        self._codes = aligned_zeros((binned.n_samples, width), np.uint8)
        for f in range(binned.n_features):
            self._codes[:, f] = binned.column(f)
        self._bins, self._n_threads = bins, binned.n_threads
        self._rows, self._packed, self._leaves = None, (None, None), (None, None)
        self._known = None

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
        if kind == "keys":
            return ({self._own: None},)
        if kind == "rows":
            return ({self._own: self._rows_for(*rest)},)
        if kind == "codes":
            return ({self._own: self._codes},)
        if kind == "know":
            return ({self._own: self._know(*rest)},)
        if kind == "subtrees":
            return ({self._own: self._subtrees(*rest)},)
        if kind == "leaves":
            return (self._follow(weights, *rest),)
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
        self._packed = nodes_key(learners.arrays()), packed
        return output_edges(packed, weights.weights, weights.scales, self._n_threads)

    def _rows_for(self, given):
        """Return the rows here of the nodes that other partitions grow."""
        others = {key: nodes for key, nodes in given.items() if key != self._own}
        return {key: self._rows.rows_of(nodes) for key, nodes in others.items()}

    def _know(self, known):
        """Keep the codes of all partitions: one array for all on this worker."""
        self._known = known

    def _subtrees(self, tasks, depth, seed):
        """Grow the subtrees below this partition's nodes; None if not all codes are known here."""
        if self._known is None:
            return None
        nodes, totals, parts = tasks[self._own]
        rows = joined_rows({**parts, self._own: self._rows.rows_of(nodes)}, self._known.starts)
        own = self._known.codes, self._bins, self._plan.usable, (*rows, totals)
        depths = np.full(len(nodes), depth, dtype=np.int32)
        return grow_subtrees(*own, nodes, depths, self._plan.settings, seed, self._n_threads)

    def _follow(self, weights, key, nodes, bounds):
        """Find the leaves of all examples; return what `leaf_sums` does, for the leaves."""
        self._rows = None  # no longer needed
        left, n_trees = nodes["left"], weights.n_targets
        leaves = tree_leaves(self._codes, self._bins.n_bins, n_trees, nodes, self._n_threads)
        self._leaves = key, leaves
        own = weights.weights, weights.scales, bounds
        sums = leaf_sums(leaves, *own, len(left), self._n_threads)
        return sums[left < 0]

    def outputs(self, learners):
        answers = learners.answers
        if answers is not None and answers.key == self._leaves[0]:
            own = answers.trees, answers.positive, self._n_threads
            return leaf_outputs(self._leaves[1], *own)
        known, packed = self._packed
        if known == nodes_key(learners.arrays()):
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


def nodes_key(arrays) -> bytes:
    """Return a key of trees, by their arrays."""
    return blake2b(b"".join(array.tobytes() for array in arrays.values())).digest()
