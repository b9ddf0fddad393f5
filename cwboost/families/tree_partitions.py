"""Trees on partitions, level by level, all trees of a round together; stumps have one level."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cwboost._kernels.trees.partitions import GrowingTrees, NodeRows, grow_below
from cwboost.families.flat_forms import ThresholdTrees
from cwboost.families.partitioned import (
    Chosen,
    ChosenDivision,
    Coordinator,
    PartitionContext,
    PartitionPricer,
    Tasks,
)
from cwboost.families.tree_learners import TreeLearners
from cwboost.kernels import (
    TREE_CRITERIA,
    BinnedMatrix,
    Bins,
    FoundStumps,
    weight_scales,
)
from cwboost.support.types import Matrix

CODES = 256
"""Bins of a feature, missing values included."""

FEWEST_BYTES = 2**21
"""Bytes of a node's rows that are worth further sums, unless these are fewer bytes."""

MOST_BYTES = 2**26
"""Bytes of rows that the client holds at a time."""


class TreeCoordinator(Coordinator):
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
    def of_stumps(cls, bins: Bins, n_drawn: int | None = None) -> TreeCoordinator:
        """Return the coordinator for trees of one comparison that have the largest edge.

        Parameters
        ----------
        bins : cwboost.kernels.Bins
        n_drawn : int, default=None
            Number of features drawn per round among those that vary; None searches all.
        """
        settings = {
            "criterion": TREE_CRITERIA["edge"],
            "max_depth": 1,
            "max_leaves": 0,
            "leaf_mass": 0.0,
            "max_features": bins.n_features if n_drawn is None else n_drawn,
        }
        coordinator = cls(bins, settings)
        coordinator.exact = n_drawn is None
        return coordinator

    def bind(self, X: Matrix, context: PartitionContext) -> PartitionTrees:
        binned = BinnedMatrix(X, self.bins, n_threads=context.n_threads)
        return PartitionTrees(binned, self.settings["max_features"])

    def choose(
        self, scales: np.ndarray, rng: np.random.Generator
    ) -> Generator[object, tuple, Chosen]:
        seeds = rng.integers(0, 2**64, size=len(scales), dtype=np.uint64)
        trees, _ = yield from self._grown(seeds, scales)
        nodes, edges = trees.finish(merge=True)
        return Chosen(self._learners(nodes), edges / scales)

    def divide(
        self, n_targets: int, rng: np.random.Generator
    ) -> Generator[object, tuple, ChosenDivision]:
        code, seeds = draw_code(n_targets, rng), rng.integers(0, 2**64, size=1, dtype=np.uint64)
        (masses,) = yield Combination(code)
        trees, _ = yield from self._grown(seeds, weight_scales(masses))
        learners = self._learners(trees.finish(merge=False)[0])
        return ChosenDivision(learners, int(learners.cell_counts[0]))

    def find_stumps(
        self, scales: np.ndarray, seed: int = 0
    ) -> Generator[object, tuple, FoundStumps]:
        """Find the best stump of every target, with a coordinator `of_stumps`; a conversation.

        Parameters
        ----------
        scales : ndarray of shape (n_targets,), dtype float64
            Those that `choose` got.
        seed : int, default=0
            Seed of the features drawn, the same for all targets.

        Returns
        -------
        cwboost.kernels.FoundStumps
            Edges are of the rounded weights; there are no outputs. Of stumps of equal edge, the one
            of the lowest feature and then of the lowest threshold is found.
        """
        bins, seeds = self.bins, np.full(len(scales), seed, dtype=np.uint64)
        growing, roots = yield from self._grown(seeds, scales)
        nodes, edges = growing.finish(merge=True)
        stumps = ThresholdTrees(**nodes).stumps()
        assert stumps is not None, "trees of one comparison at most"
        feature, threshold, polarity, missing = stumps
        # As in the search of sorted features: halfway between neighbouring bins in single
        # precision; without missing values in training, these get the better constant's output.
        split = np.flatnonzero((feature >= 0) & np.isfinite(threshold))
        used = feature[split]
        threshold[split] = bins.thresholds(used, bins.bins_below(used, threshold[split]) - 1)
        complete = split[~bins.has_nan[feature[split]]]
        missing[complete] = np.where(roots[complete, 0] < 0, -1, 1)
        return FoundStumps(feature, threshold, polarity, missing, edges, None)

    def _grown(self, seeds, scales):
        """Grow trees to the end; a conversation that returns them, and the sums at their roots."""
        trees = GrowingTrees(
            self.bins,
            seeds,
            fewest_bytes=FEWEST_BYTES,
            most_bytes=MOST_BYTES,
            n_workers=self.n_workers,
            **self.settings,
        )
        roots, start, splits = None, scales, ()
        while trees.is_open:
            asked, closed = trees.ask()
            totals, sums, parts = yield Growth(start, splits, asked, closed)
            roots = totals if roots is None else roots
            if closed:
                tops = zip(trees.tops(len(closed)), zip(*parts), strict=True)
                tasks = [GrowBelow(self.settings, *own) for own in tops]
                trees.join((yield Tasks(tasks, [task.n_rows for task in tasks])))
            start, splits = None, trees.search(totals, sums)
        return trees, roots

    def _learners(self, nodes):
        return TreeLearners(ThresholdTrees(**nodes), self.bins.n_features)


def draw_code(n_targets: int, rng: np.random.Generator) -> np.ndarray:
    """Return -1 or +1 per target, half of them each: the two sides that a shared tree separates.

    On ``code @ weights`` the pair weights of two classes on one side cancel, so that the tree
    grows for the two-class problem of the sides.

    Parameters
    ----------
    n_targets : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (n_targets,), dtype float64
    """
    return np.where(rng.permutation(n_targets) < n_targets // 2, -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Combination:
    """A question: combine the weights; the answer is the sum of their magnitudes."""

    code: np.ndarray


@dataclass(frozen=True, eq=False)
class Growth:
    """A question: split nodes, then sum what the search for the next splits needs.

    With `start`, the scales of the trees, these begin, on the weights or their combination. The
    answer has the sums at the nodes made last, those of the codes of their features that are
    `asked` for, and weights and codes of the rows of each `closed` node, as one list per partition.
    """

    start: np.ndarray | None
    splits: tuple[np.ndarray, ...]
    asked: np.ndarray
    closed: list[int]


@dataclass(frozen=True, eq=False)
class GrowBelow:
    """A task: grow what is below a node from its rows, weights and codes of every partition."""

    settings: dict[str, Any]
    top: np.ndarray
    rows: tuple

    @property
    def n_rows(self) -> int:
        return sum(len(weights) for weights, _ in self.rows)

    def __call__(self, coordinator: TreeCoordinator) -> tuple[np.ndarray, float]:
        weights, codes = zip(*self.rows)
        binned = BinnedMatrix.of_codes(codes, coordinator.bins)
        return grow_below(binned, np.concatenate(weights), self.top, **self.settings)


class PartitionTrees(PartitionPricer):
    """Trees on one partition in bins: the sums that a conversation asks for, and outputs.

    Outputs are those of any learners whose flat form compares features.
    """

    def __init__(self, binned: BinnedMatrix, max_features: int):
        self._bins = binned.bins
        self._rows = NodeRows(binned, max_features)

    def summarise(self, weights, question):
        rows = self._rows
        if isinstance(question, Combination):
            return (np.array([rows.combine(weights.weights, question.code)]),)
        if question.start is not None:
            rows.start(weights.weights, question.start)
        else:
            rows.split(*question.splits)
        parts = [rows.rows_of(question.closed)] if question.closed else []
        return rows.totals(), rows.histograms(question.asked), parts

    def outputs(self, learners):
        return self._evaluate(learners, as_cells=False)

    def cells(self, learners):
        return self._evaluate(learners, as_cells=True)

    def _evaluate(self, learners, as_cells):
        trees = learners.flat_form()
        inner = trees.feature >= 0
        features = trees.feature[inner]
        first, width = np.zeros((2, len(inner)), dtype=np.int64)
        first[inner] = self._bins.bins_below(features, trees.threshold[inner])
        last = np.minimum(self._bins.n_bins[features] + (trees.missing[inner] > 0), CODES)
        width[inner] = last - first[inner]
        fields = {"left": trees.left, "feature": trees.feature, "output": trees.output}
        return self._rows.outputs(trees.offsets, as_cells, first=first, width=width, **fields)
