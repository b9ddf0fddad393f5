"""One partition on the worker that holds it: its examples, and its part of the restricted master.

Its methods are the operations that the driver sends. Those that change its state are deterministic,
so that a lost partition is rebuilt by repeating them.
"""

from hashlib import sha1
from typing import NamedTuple

import numpy as np

from cwboost._kernels.fcd.column_store import ColumnStore
from cwboost._kernels.fcd.pair_weights import PairWeights
from cwboost._kernels.fcd.row_sampling import draw_rows
from cwboost.calibration.scores import HeldOutScores
from cwboost.ensemble.model import Ensemble
from cwboost.families.contract import Division
from cwboost.families.outputs import pack_outputs
from cwboost.families.partitioned import PartitionWeights
from cwboost.families.sealing.pricer import check_division
from cwboost.families.sealing.sample import read_only
from cwboost.input.examples import LEFT_OUT
from cwboost.solvers.row_sampling import sampled
from cwboost.support.weights import parts_of_size
from cwboost.training.resumption import LEARNERS_PER_CHUNK

KEY_BYTES = 8
"""Bytes of the hash of a column on one partition, by which equal columns are found."""


class SampleOfRows(NamedTuple):
    """A uniform sample of the examples of all partitions: its share, and the seed of the draw."""

    share: float
    seed: int


class Partition:
    """The examples of one partition, at least one, sorted by class; q is that of all partitions.

    `before` is what a model that training goes on from gives the examples, see `given_before`.
    """

    role = "training"

    def __init__(self, pricer, counts, context, q, base=None, before=None):
        self.pricer = pricer
        self.counts, self.weight = counts, context.weight
        self.q, self.n_threads = q, context.n_threads
        self._base = None if base is None else np.ascontiguousarray(base.T)
        self._before = before
        self._restart(self.weight)
        self._places, self._n_total = context.places, context.n_total
        self._left_out = np.empty(0, dtype=np.int64)
        # A sample belongs to one round, and its seed to it alone.
        self._sampled: tuple = (None, None)
        self._room = None  # for sampled weights: fresh memory would cost as much as their product
        self.layer = np.zeros((len(counts), self.pairs.n_bytes), dtype=np.uint8)
        self.columns = ColumnStore(len(counts), self.pairs.n_bytes)
        self.overflows = False
        self._cells: tuple = ()

    def price(self, question, scales, sample: SampleOfRows | None) -> tuple:
        """Return the summary that answers a question under the present weights."""
        if sample != self._sampled[0]:
            self._sampled = sample, None if sample is None else self._drawn(sample)
        weights = self.pairs.weights if sample is None else self._sampled[1]
        weights = PartitionWeights(read_only(weights[-len(scales) :]), scales)
        return self.pricer.summarise(weights, question)

    def _drawn(self, sample: SampleOfRows) -> np.ndarray:
        """Return the weights of a sample of the examples, and zeros elsewhere."""
        rows = draw_rows(self._places, self._n_total, sample.share, sample.seed)
        self._room = sampled(self.pairs.weights, rows, sample.share, self._room)
        return self._room

    def measure(self) -> np.ndarray:
        """Return loss, margins and the weight of errors."""
        if self.overflows:
            return np.full(3, np.inf)
        return np.array([self.pairs.loss, self.pairs.column_margins(), self.pairs.errors])

    def take(self, learners, classes) -> tuple:
        """Compute the outputs of new columns, at most one per class; return keys and tables."""
        self.layer[:] = 0
        if len(classes):
            self.layer[classes] = self.pricer.outputs(learners)
        return [column_key(self.layer[c]) for c in classes], self.pairs.layer_tables(self.layer)

    def take_cells(self, chosen, first: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
        """Find the cells of the examples; return what `PairWeights.cell_sums` does."""
        (cells,) = self.pricer.cells(chosen.learners)
        division = Division(chosen.learners, cells, chosen.n_cells)
        check_division(division, type(chosen.learners), self.pairs.n_samples, ValueError)
        self._cells = cells, first
        return self.pairs.cell_sums(cells, chosen.n_cells, first, scale)

    def shift(self, moves, first: int) -> None:
        """Move the scores of the classes from `first` on, by ``moves[c, 0]`` for all examples."""
        self._cells = np.zeros(self.pairs.n_samples, dtype=np.int32), first
        self.move_cells(moves)

    def move_cells(self, moves) -> None:
        """Move the scores by one number for each of the cells found last."""
        cells, first = self._cells
        try:
            self.pairs.move_cells(cells, moves, first)
        except OverflowError:
            self.overflows = True

    def start_from(self) -> None:
        """Add the scores of a model to the base scores, and start from these."""
        before, self._before = self._before, None
        self._base = before if self._base is None else self._base + before
        self._restart(self.weight)

    def move(self, steps) -> None:
        """Move the coefficients of the columns taken last."""
        self.pairs.move_layer(self.layer, steps)

    def keep(self, classes) -> None:
        """Keep the columns of these classes that were taken last, for later passes."""
        classes = np.asarray(classes, dtype=np.int64)
        self.columns.append(classes, np.ascontiguousarray(self.layer[classes]))

    def keep_learners(self, classes) -> list:
        """Keep the outputs of a model's learners as columns of their classes; return their keys."""
        before, self._before = self._before, None
        self.columns.append(classes, before)
        return [column_key(row) for row in before]

    def set_coef(self, coef) -> None:
        """Set the coefficients of the kept columns and form the pair weights."""
        wide = np.zeros((coef.shape[0], max(coef.shape[1], self.columns.capacity)))
        wide[:, : coef.shape[1]] = coef
        try:
            self.pairs.rebuild(self.columns, wide)
            self.overflows = False
        except OverflowError:
            self.overflows = True

    def drop_columns(self) -> None:
        """Drop the kept columns, and keep the pair weights."""
        self.columns = ColumnStore(self.columns.n_classes, self.columns.n_bytes)

    def leave_out(self, places, from_zero: bool, class_weight) -> tuple:
        """Start again without columns, and next to no weight at `places` of all examples.

        Return the sum of the weights of each class, and without the class weights parts of the
        effective size of the others, and classes and former weights at the places.
        """
        self._left_out = np.flatnonzero(np.isin(self._places, places))
        weight = self.weight.copy()
        weight[self._left_out] *= LEFT_OUT
        self._restart(weight, from_zero)
        self.drop_columns()
        sums = np.array([part.sum() for part in np.split(weight, np.cumsum(self.counts)[:-1])])
        y = np.repeat(np.arange(len(self.counts)), self.counts)
        own = self.weight / class_weight[y]
        kept = np.delete(own, self._left_out)
        parts = [parts_of_size(kept)] if len(kept) else []
        return sums, parts, y[self._left_out], own[self._left_out]

    def drop_base(self) -> None:
        """Start again from zero in place of the base scores."""
        self._base = None
        self._restart(self.weight)

    def _restart(self, weight, from_zero=False) -> None:
        base = None if from_zero else self._base
        self.pairs = PairWeights(self.counts, weight, self.q, self.n_threads, base)

    def left_out(self) -> np.ndarray:
        """Return the scores of the examples left out."""
        return self.pairs.scores_of(self._left_out)

    def gradient(self) -> tuple:
        """Return the measures, the mass of every row of R and the edges of the kept columns."""
        edges = np.zeros((self.columns.n_classes, self.columns.capacity))
        self.pairs.edges(self.columns, edges)
        return self.measure(), np.abs(self.pairs.weights).sum(axis=1), edges


def given_before(ensemble: Ensemble, X, n_threads: int) -> np.ndarray:
    """Return what training on X goes on from: packed outputs of learners, of graded ones scores.

    They are computed from X, since the model may have other thresholds than those between bins.
    """
    learners = ensemble.learners
    if learners.is_graded:
        return np.ascontiguousarray(ensemble.scores(X, n_threads=n_threads).T)
    places = np.arange(len(learners))
    chunks = np.split(places, places[LEARNERS_PER_CHUNK::LEARNERS_PER_CHUNK])
    return np.concatenate([pack_outputs(learners.take(chunk).outputs(X)) for chunk in chunks])


def column_key(data) -> bytes:
    """Return the hash of a column's outputs on one partition, or of its keys on all."""
    # The fastest where processors have instructions for it, and no slower than others elsewhere.
    return sha1(data, usedforsecurity=False).digest()[:KEY_BYTES]


class HeldOutPartition:
    """A part of a set of held-out examples, which is its role, and their scores."""

    def __init__(self, held_out: HeldOutScores, role: str):
        self._held_out, self.role = held_out, role

    def labels(self) -> tuple:
        """Return the set, and class index and weight of every example."""
        return self.role, self._held_out.y, self._held_out.weight

    def drop_base(self) -> None:
        """Forget the base scores."""
        self._held_out.base = None

    def keep_outputs(self, learners) -> None:
        """Keep the outputs of new learners."""
        self._held_out.add(learners)

    def follow(self, ids, classes, steps) -> np.ndarray:
        """Follow changed coefficients; return the scores of all classes."""
        self._held_out.move(ids, classes, steps)
        return self._held_out.class_scores

    def scores(self, ensemble, role) -> np.ndarray:
        """Return the scores of a model, of no examples if this is not a part of the set."""
        X, base = self._held_out.X, self._held_out.base
        if self.role != role:
            return ensemble.scores(X[:0])
        return ensemble.scores(X) if base is None else ensemble.scores(X) + base
