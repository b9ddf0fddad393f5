"""Trees on partitions, level by level, all trees of a round together; stumps have one level."""

from __future__ import annotations

from collections.abc import Generator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from cwboost._kernels.trees.partitions import GrowingTrees, NodeRows
from cwboost.families.contract import PricingRequest
from cwboost.families.flat_forms import ThresholdTrees
from cwboost.families.partitioned import (
    Chosen,
    PartitionContext,
    PartitionPricer,
    PricingPlan,
)
from cwboost.families.tree_learners import TreeLearners
from cwboost.kernels import (
    THRESHOLDS_SEARCHED,
    TREE_CRITERIA,
    BinnedMatrix,
    Bins,
    CategorySets,
    FoundStumps,
    chance_deviations,
)

if TYPE_CHECKING:
    from cwboost.support.types import Matrix

__all__ = ["PartitionTrees", "TreePlan"]

CODES = 256
"""Bins of a feature, missing values included."""


class TreePlan(PricingPlan):
    """Trees on bins of all columns that the partitions share.

    Parameters
    ----------
    bins : cwboost.kernels.Bins
    settings : dict
        Settings of `cwboost.kernels.TreeGrower`, with ``max_leaves`` 0.
    """

    def __init__(self, bins: Bins, settings: dict[str, Any]) -> None:
        self.bins, self.settings = bins, settings

    @classmethod
    def of_stumps(cls, bins: Bins, n_drawn: int | None = None) -> TreePlan:
        """Return the plan of trees of one comparison that have the largest edge.

        Parameters
        ----------
        bins : cwboost.kernels.Bins
        n_drawn : int, default=None
            Number of features drawn per round among those that vary; None searches all.
        """
        n_searched = bins.n_features if n_drawn is None else n_drawn
        settings = {
            "criterion": TREE_CRITERIA["edge"],
            "trim": 0.0,
            "max_depth": 1,
            "max_leaves": 0,
            "min_samples_leaf": 1,
            "max_features": n_searched,
            "chance": chance_deviations(n_searched * THRESHOLDS_SEARCHED),
        }
        plan = cls(bins, settings)
        plan.exact = n_drawn is None
        return plan

    def bind(self, X: Matrix, context: PartitionContext) -> PartitionTrees:
        binned = BinnedMatrix(X, self.bins, n_threads=context.n_threads)
        return PartitionTrees(binned, self.settings["min_samples_leaf"] > 1)

    def choose(
        self, scales: np.ndarray, rng: np.random.Generator, request: PricingRequest
    ) -> Generator[object, tuple, Chosen]:
        seeds = rng.integers(0, 2**64, size=len(scales), dtype=np.uint64)
        trees, bounds = GrowingTrees(self.bins, seeds, **self.settings), np.zeros(len(scales))
        trim = self.settings["trim"]
        if trim:
            (masses,) = yield ("masses",)
            bounds = trees.bounds(masses)
        yield from _grow(trees, bounds)
        nodes, edges = trees.finish(request.with_cells)
        if trim:  # the edges over all examples, those trimmed included
            edges, totals = yield "edges", self._learners(nodes)
            if (edges < np.abs(totals)).any():
                nodes = trees.constants(edges, totals)
            edges = np.maximum(edges, np.abs(totals))
        learners = self._learners(nodes)
        counts = learners.cell_counts if request.with_cells else None
        return Chosen(learners, edges / scales, np.arange(len(scales)), counts)

    def find_stumps(
        self, n_targets: int, seed: int = 0
    ) -> Generator[object, tuple, tuple[FoundStumps, CategorySets | None]]:
        """Find the best stump of every target, by a plan `of_stumps`; a conversation.

        Parameters
        ----------
        n_targets : int
        seed : int, default=0
            Seed of the features drawn, the same for all targets.

        Returns
        -------
        found : cwboost.kernels.FoundStumps
            Edges, sums and norms are of the rounded weights; there are no outputs. Of stumps of
            equal edge, the one of the lowest feature and then of the lowest threshold is found.
        sets : CategorySets of length n_targets, or None
            Sets of the stumps that test categories.
        """
        bins, seeds = self.bins, np.full(n_targets, seed, dtype=np.uint64)
        growing = GrowingTrees(bins, seeds, **self.settings)
        roots = yield from _grow(growing, np.zeros(n_targets))
        nodes, edges = growing.finish(with_cells=False)
        trees = ThresholdTrees.from_nodes(nodes)
        stumps = trees.stumps()
        assert stumps is not None, "trees of one comparison at most"
        feature, threshold, polarity, missing = stumps
        sums, norms = roots[:, 0], np.sqrt(roots[:, 3]) * 2.0**26
        # As in the search of sorted features: halfway between neighbouring bins in single
        # precision; without missing values in training, these get the better constant's output.
        number = np.flatnonzero((feature >= 0) & np.isfinite(threshold))
        number = number[bins.n_categories[feature[number]] == 0]
        own = feature[number]
        threshold[number] = bins.thresholds(own, bins.bins_below(own, threshold[number]) - 1)
        complete = number[~bins.has_nan[own]]
        missing[complete] = np.where(sums[complete] < 0, -1, 1)
        found = FoundStumps(feature, threshold, polarity, missing, edges, None, sums, norms)
        return found, trees.root_sets()

    def _learners(self, nodes):
        return TreeLearners(ThresholdTrees.from_nodes(nodes), self.bins.n_features)


def _grow(trees, bounds):
    """Grow trees to the end; a conversation that returns the sums at the roots.

    Parameters
    ----------
    trees : GrowingTrees
    bounds : ndarray of shape (n_trees,), dtype float64
        Least magnitude of the weights that take part in the growth of each tree.
    """
    step, about, roots = "start", bounds, None
    while trees.is_open:
        first, nodes, features = trees.ask()
        if step == "more" and not len(nodes):
            step, about = "split", trees.split()
            continue
        totals, sums, counts = yield step, about, first, nodes, features
        trees.search(totals, sums, counts)
        step, about, roots = "more", None, totals if roots is None else roots
    return roots


class PartitionTrees(PartitionPricer):
    """Trees on one partition in bins: the sums that a conversation asks for, and outputs.

    Outputs are those of any learners whose flat form compares features.
    """

    def __init__(self, binned: BinnedMatrix, counted):
        self._bins = binned.bins
        self._rows = NodeRows(binned, counted, binned.n_threads)
        self._evaluated = None, None, None

    def summarise(self, weights, question):
        rows, signed, scales = self._rows, weights.weights, weights.scales
        match question:
            case ("masses",):
                return (rows.masses(signed, scales),)
            case ("edges", learners):
                packed, _ = self._evaluate(learners)
                return rows.edges(packed, signed, scales)
            case ("start", bounds, first, nodes, features):
                rows.start(signed, scales, bounds)
            case ("split", (places, splits), first, nodes, features):
                rows.split(places, splits)
            case ("more", None, first, nodes, features):
                pass  # of the same nodes
        return rows.totals(first), *rows.histograms(nodes, features)

    def outputs(self, learners):
        packed, cells = self._evaluate(learners)
        return learners.outputs_of_cells(cells) if learners.is_graded else packed

    def cells(self, learners):
        return self._evaluate(learners)[1]

    def _evaluate(self, learners):
        """Return packed outputs and cells; of the last trees, they are known."""
        key = _nodes_key(learners.arrays())
        if self._evaluated[0] != key:
            self._evaluated = key, *self._outputs_and_cells(learners.flat_form())
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
