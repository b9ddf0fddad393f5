"""Thresholds on derived features of partitions: drawn by the driver, searched between bins."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cwboost.families.composed.derived_learners import DerivedLearners, rows_of
from cwboost.families.composed.drawing import Drawing
from cwboost.families.composed.filling import filled, medians
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.outputs import pack_outputs
from cwboost.families.partitioned import (
    Chosen,
    Coordinator,
    PartitionContext,
    PartitionPricer,
    PartitionWeights,
)
from cwboost.families.tree_partitions import PartitionTrees, TreeCoordinator
from cwboost.kernels import BinnedMatrix, Bins, FeatureSketch
from cwboost.support.samples import evenly_spaced

BINS = 256
"""Largest number of bins of a derived feature."""


class DerivedCoordinator(Coordinator):
    """The driver gathers the examples that `draw` sees, draws, and chooses between bins."""

    def __init__(self, family: WeakLearnerFamily, taken, class_counts):
        self.family, self._taken = family, taken
        self.exact = bool(family.exhaustive)
        self._class_counts = class_counts
        self._rng: np.random.Generator | None = None  # of the training that these belong to:
        self._drawing: Drawing | None = None
        self._fixed: tuple[DerivedLearners, Bins] | None = None
        self._n_draws = 0  # of all trainings

    def __getstate__(self):
        # The driver alone keeps these.
        return vars(self) | dict.fromkeys(("_rng", "_drawing", "_fixed"))

    def bind(self, X, context: PartitionContext) -> DerivedPartition:
        return DerivedPartition(X, self.family, context)

    def choose(self, scales, rng):
        if self._rng is not rng:
            self._rng, self._fixed = rng, None
            self._drawing = yield from self._gathered(rng)
        weights = None
        if self.family.redraw:
            (parts,) = yield ("weights",)
            weights = _by_place(parts)[1].T
        drawn, bins = self._fixed or (yield from self._drawn(rng, weights))
        stumps = yield from self._searched(drawn, bins, scales)
        return Chosen(drawn.with_thresholds(stumps), stumps.edges / scales)

    def _searched(self, drawn, bins, scales):
        """Return the best thresholds on derived features; a conversation."""
        search, answer = TreeCoordinator.of_stumps(bins).find_stumps(scales), None
        while True:
            try:
                question = search.send(answer)
            except StopIteration as end:
                return end.value
            answer = yield "search", self._n_draws, drawn if self._fixed else None, bins, question

    def _gathered(self, rng):
        """Return the examples that `draw` sees, with what is known of all; a conversation."""
        (parts,) = yield ("examples",)
        places, X, weight = _by_place(parts)
        fill = None if self._taken is None else medians(X, weight, self._taken)
        (found,) = yield "all", fill
        summaries = [summary for _, summary in sorted(found, key=lambda own: own[0])]
        y = None
        if self._class_counts is not None:
            y = np.searchsorted(np.cumsum(self._class_counts), places, side="right")
        n_total = parts[0][-1]
        return Drawing(self.family, X, y, weight, fill, n_total, summaries, rng)

    def _drawn(self, rng, weights):
        """Return derived features and their bins; a conversation."""
        drawn = self._drawing.draw(rng, weights)
        self._n_draws += 1
        (sketches,) = yield "sketch", self._n_draws, drawn
        bins = Bins.from_sketches(sketches, BINS).open_above()
        if not self.family.redraw:
            self._fixed = drawn, bins
        return drawn, bins


class DerivedPartition(PartitionPricer):
    """Derived features of the examples of one partition."""

    def __init__(self, X, family: WeakLearnerFamily, context: PartitionContext):
        self._X, self._family, self._context = rows_of(X), family, context
        places = evenly_spaced(context.n_total, family.sample_size)
        self._seen = np.flatnonzero(np.isin(context.places, places))
        self._number, self._values, self._trees = 0, None, None

    def summarise(self, weights: PartitionWeights, question):
        places = self._context.places[self._seen]
        match question:
            case ("search", number, drawn, bins, of_trees):
                self._bind_trees(number, drawn, bins)
                return self._trees.summarise(weights, of_trees)
            case ("sketch", number, drawn):
                answer = self._sketch(number, drawn)
            case ("weights",):
                answer = places, np.ascontiguousarray(weights.weights[:, self._seen].T)
            case ("all", fill):
                summary = self._family.summarise(filled(self._X, fill))
                answer = self._context.places[0], summary
            case ("examples",):
                weight = self._context.weight
                weight = np.ones(self._X.shape[0]) if weight is None else weight
                answer = places, self._X[self._seen], weight[self._seen], self._context.n_total
        return ([answer],)  # of all partitions, a list

    def _sketch(self, number: int, drawn: DerivedLearners) -> FeatureSketch:
        self._number, self._trees = number, None
        self._values = drawn.derived(self._X, self._family, self._context.n_threads)
        return FeatureSketch.of_values(self._values, 2 * BINS)

    def _bind_trees(self, number: int, drawn: DerivedLearners | None, bins: Bins):
        """Bind the derived features; `drawn` is for a partition that did not make the sketch."""
        if self._trees is None or self._number != number:
            if self._number != number:
                self._number = number
                self._values = drawn.derived(self._X, self._family, self._context.n_threads)
            binned = BinnedMatrix(self._values, bins, n_threads=self._context.n_threads)
            self._trees, self._values = PartitionTrees(binned, bins.n_features), None

    def outputs(self, learners):
        return pack_outputs(learners.outputs(self._X))


def _by_place(parts):
    """Return the arrays of all partitions, in the order of the places, which are the first."""
    joined = [_stacked(arrays) for arrays in zip(*(part[:3] for part in parts))]
    order = np.argsort(joined[0])
    return [array[order] for array in joined]


def _stacked(arrays):
    if any(sparse.issparse(array) for array in arrays):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(array) for array in arrays]))
    return np.concatenate(arrays)
