"""Growth of trees on partitions, level by level, all trees of a round together."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

import cwboost
from cwboost.kernels import BinnedMatrix, Bins, GrowingTrees, NodeRows

__all__ = ["PartitionTrees", "TreePlan"]

CODES = 256
"""Bins of a feature, missing values included."""


class TreePlan(cwboost.PricingPlan):
    """Trees on shared bins of all columns; `settings` are those of `GrowingTrees`."""

    def __init__(self, bins: Bins, settings):
        self.bins, self.settings = bins, settings

    def bind(self, X, context):
        binned = BinnedMatrix(X, self.bins, n_threads=context.n_threads)
        return PartitionTrees(binned, self.settings["min_samples_leaf"] > 1)

    def choose(self, scales, rng, request):
        seeds = rng.integers(0, 2**64, size=len(scales), dtype=np.uint64)
        trees, bounds = GrowingTrees(self.bins, seeds, **self.settings), np.zeros(len(scales))
        trim = self.settings["trim"]
        if trim:
            (masses,) = yield "masses", None
            bounds = trees.bounds(masses)
        step = "start", bounds
        while trees.is_open:
            first, *pairs = trees.ask()
            if step is None and not len(pairs[0]):
                step = "split", trees.split()
                continue
            trees.search(*(yield "nodes", step, first, pairs))
            step = None
        nodes, edges = trees.finish(request.with_cells)
        if trim:  # the edges over all examples, those trimmed included
            edges, totals = yield "edges", None, self._learners(nodes)
            if (edges < np.abs(totals)).any():
                nodes = trees.constants(edges, totals)
            edges = np.maximum(edges, np.abs(totals))
        learners = self._learners(nodes)
        counts = learners.cell_counts if request.with_cells else None
        return cwboost.Chosen(learners, edges / scales, np.arange(len(scales)), counts)

    def _learners(self, nodes):
        trees = cwboost.ThresholdTrees.from_nodes(nodes)
        return cwboost.TreeLearners(trees, self.bins.n_features)


class PartitionTrees(cwboost.PartitionPricer):
    """Trees on one partition in bins: the sums that the plan asks for, and outputs."""

    def __init__(self, binned: BinnedMatrix, counted):
        self._bins = binned.bins
        self._rows = NodeRows(binned, counted, binned.n_threads)
        self._evaluated = None, None, None

    def summarise(self, weights, question):
        kind, step, *rest = question
        own = weights.weights, weights.scales
        if kind == "masses":
            return (self._rows.masses(*own),)
        if kind == "edges":
            self._evaluate(*rest)
            return self._rows.edges(self._evaluated[1], *own)
        if step is not None:
            what, given = step
            self._rows.start(*own, given) if what == "start" else self._rows.split(*given)
        first, pairs = rest
        return self._rows.totals(first), *self._rows.histograms(*pairs)

    def outputs(self, learners):
        packed, cells = self._evaluate(learners)
        return learners.outputs_of_cells(cells) if learners.is_graded else packed

    def cells(self, learners):
        return self._evaluate(learners)[1]

    def _evaluate(self, learners):
        """Return packed outputs and cells; of the last trees, they are known."""
        key = _nodes_key(learners.arrays())
        if self._evaluated[0] != key:
            self._evaluated = key, *self._outputs_and_cells(learners.trees)
        return self._evaluated[1:]

    def _outputs_and_cells(self, trees):
        inner = trees.feature >= 0
        features = trees.feature[inner]
        first, width = np.zeros((2, len(inner)), dtype=np.int64)
        first[inner] = self._bins.bins_below(features, trees.threshold[inner])
        last = np.minimum(self._bins.n_bins[features] + (trees.missing[inner] > 0), CODES)
        width[inner] = last - first[inner]
        fields = {name: getattr(trees, name) for name in ("left", "feature", "output")}
        if trees.category_sets is not None:
            is_set = trees.category_sets.is_set
            fields |= {"categorical": is_set, "right": self._sides(trees, is_set)}
            first[is_set] = width[is_set] = 1  # of the sides
        return self._rows.outputs(trees.offsets, first=first, width=width, **fields)

    def _sides(self, trees, is_set):
        """Return the codes that go right in nodes that test categories."""
        right = np.zeros((len(is_set), CODES // 8), dtype=np.uint8)
        nodes = np.flatnonzero(is_set)
        features = trees.feature[nodes]
        if not (self._bins.n_categories[features] > 0).all():
            raise ValueError("a tree tests categories of a column of numbers")
        for node, f in zip(nodes.tolist(), features.tolist()):
            known = self._bins.lowest[self._bins.bin_start[f] : self._bins.bin_start[f + 1]]
            values = np.full(CODES, np.nan)
            values[: len(known)] = known
            sides = trees.category_sets.contains(np.full(CODES, node), values)
            sides[len(known) :] = trees.missing[node] > 0
            right[node] = np.packbits(sides, bitorder="little")
        return right.view("<u8")


def _nodes_key(arrays) -> bytes:
    """Return a key of trees, by their arrays."""
    return blake2b(b"".join(array.tobytes() for array in arrays.values())).digest()
