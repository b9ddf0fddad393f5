"""Column generation on partitions: a conversation prices, tables of one layer come back."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from cwboost.dask.master import PartitionedMaster
from cwboost.dask.partition import SampleOfRows
from cwboost.families.contract import WeakLearnerFamily, WeakLearners
from cwboost.families.partitioned import Chosen, ChosenDivision, Tasks
from cwboost.families.sealing.faults import FamilyFault, family_source
from cwboost.families.sealing.pricer import check_learners
from cwboost.kernels import weight_scales
from cwboost.solvers.fcd import SolverReport, first_pass
from cwboost.solvers.lbfgsb import lbfgsb
from cwboost.training.column_generation import ColumnGeneration
from cwboost.training.leaf_boosting import LeafBoosting
from cwboost.training.training import Training

ITERATIONS = 5
"""Iterations of L-BFGS-B for each pass of `max_working_sets`."""

FTOL = 1e-12
"""Relative decrease of the objective at which L-BFGS-B stops."""


@dataclass(frozen=True, eq=False)
class PricedOnPartitions:
    """What pricing returns, with keys of the columns that pay, whose outputs stay where they are.

    `learners` and `edges` are those of `cwboost.Priced`. Columns that are equal on all examples
    have equal `keys`, of shape (n_learners, 8), dtype uint8.
    """

    learners: WeakLearners
    edges: np.ndarray
    keys: np.ndarray


class PartitionedPricer:
    """A family bound to partitions, which stands for a sealed pricer; `sample` is a `Sample`."""

    def __init__(self, master: PartitionedMaster, family: WeakLearnerFamily, rng, sample=None):
        self.master, self.sample = master, sample
        self.coordinator = master.crew.coordinator
        self.family = family
        self.exact = self.coordinator.exact
        self.n_threads = 1  # of the client
        self.n_targets = family.capabilities.n_priced(master.n_classes)
        self.round: int | None = None
        self.least_edge = 0.0
        self._rng = rng

    def price(self, sample: SampleOfRows | None) -> PricedOnPartitions:
        """Price on all partitions, on a sample of the examples or on all."""
        scales = weight_scales(self.master.mass)[-self.n_targets :]
        if sample is not None:
            # The weights of sampled examples are divided by their share.
            scales = np.ldexp(scales, int(np.floor(np.log2(sample.share))))  # noqa: TID251
        conversation = self.coordinator.choose(scales, self._rng)
        return self._priced(self._checked(self._converse(conversation, scales, sample)))

    def divide(self, sample: SampleOfRows | None) -> ChosenDivision:
        """Divide the examples of all partitions; the cells stay there."""
        conversation = self.coordinator.divide(self.n_targets, self._rng)
        division = self._converse(conversation, np.ones(self.n_targets), sample)
        if not isinstance(division, ChosenDivision):
            raise self.fault(f"divide must return a ChosenDivision, got {type(division).__name__}")
        return division

    def _converse(self, conversation, scales, sample):
        """Put the questions of a conversation to all partitions; return its result."""
        self.coordinator.n_workers = self.master.crew.n_workers
        question, measured = next(conversation), self.master.is_measured
        while True:
            if isinstance(question, Tasks):
                answer = self.master.crew.share(question)
            else:
                operations = [("price", (question, scales, sample))]
                if not measured:
                    operations.append(("measure", ()))
                answer, *measures = self.master.ask(*operations)
                if measures:
                    self.master.take_measures(measures[0])
                    measured = True
            try:
                question = conversation.send(answer)
            except StopIteration as end:
                return end.value

    def _priced(self, chosen: Chosen) -> PricedOnPartitions:
        edges = chosen.edges
        paying = np.flatnonzero(edges > self.least_edge)
        keys = np.zeros((len(edges), 8), dtype=np.uint8)
        if len(paying):
            learners = chosen.learners.take(paying)
            classes = paying + self.master.n_classes - self.n_targets
            keys[paying] = self.master.take(learners, classes)
        return PricedOnPartitions(chosen.learners, edges, keys)

    def _checked(self, chosen) -> Chosen:
        if not isinstance(chosen, Chosen):
            raise self.fault(f"choose must return a Chosen, got {type(chosen).__name__}")
        check_learners(chosen.learners, chosen.edges, self.family, self.n_targets, self.fault)
        return chosen

    def fault(self, what: str) -> FamilyFault:
        """Return the error for a choice that breaks the contract."""
        when = "" if self.round is None else f", round {self.round}"
        return FamilyFault(f"{family_source(self.family)}{when}: {what}")


class PartitionedTraining(Training):
    """What both trainings do otherwise if the examples are divided into partitions."""

    pricer: PartitionedPricer
    master: PartitionedMaster

    is_followed = False
    """Whether the history has the error of a round at its end, by one more exchange, and not only
    when the next round has priced."""

    def draw_sample(self) -> SampleOfRows | None:
        """Draw the examples of a round; None takes all."""
        share = self.settings.subsample
        return SampleOfRows(share, int(self.rng.integers(2**63))) if share < 1.0 else None

    def record(self, changes, entry) -> float:
        if self.is_followed:
            self.master.measure()
        return super().record(changes, entry)

    def finish(self) -> None:
        """Complete the history of the last round."""
        if self.n_rounds and np.isnan(self.model.latest["train_error"]) and self.between_rounds:
            self.master.measure()
            self.note_error()

    def note_error(self) -> None:
        """Record the error of the last round, which the partitions measure with the next one."""
        if self.n_rounds and np.isnan(self.model.latest["train_error"]):
            self.model.amend_latest(train_error=self.master.train_error)

    def resume(self, ensemble, history) -> None:
        """Take up training where `ensemble` ended, that of the setup, from its coefficients."""
        self.skip_draws(ensemble.n_rounds)
        self.restore_learners(ensemble, history)
        self.model.resume(ensemble, history)

    @abstractmethod
    def restore_learners(self, ensemble, history) -> None:
        """Start from the learners of a model with this history."""


class PartitionedLeafBoosting(PartitionedTraining, LeafBoosting):
    """Leaf boosting on partitions."""

    def divide(self) -> ChosenDivision:
        """Return a division of a sample that the partitions draw."""
        self.pricer.round = self.n_rounds + 1
        division = self.pricer.divide(self.draw_sample())
        self.note_error()
        return division

    def restore_learners(self, ensemble, history) -> None:
        self.master.start_from_learners()
        self.take_steps(history)


class PartitionedColumnGeneration(PartitionedTraining, ColumnGeneration):
    """Column generation on partitions."""

    def price(self):
        priced = super().price()
        self.note_error()
        return priced

    def price_sample(self) -> PricedOnPartitions:
        """Return the best weak learners per class on a sample that the partitions draw."""
        return self.pricer.price(self.draw_sample())

    def solve(self, layer) -> SolverReport:
        """Solve for the layer on its tables; with total correction, for all coefficients.

        Coordinate passes over all examples would need one exchange per coordinate. L-BFGS-B takes
        one per evaluation of objective and gradient.
        """
        if self.settings.stagewise:
            return super().solve(layer)
        if (layer >= 0).any():
            first_pass(self.master, layer, 1.0)
        schedule = self.schedule
        return lbfgsb(
            self.master,
            tol=schedule.epsilon,
            ftol=FTOL,
            max_iter=ITERATIONS * schedule.max_working_sets,
        )

    def restore_learners(self, ensemble, history) -> None:
        classes = np.zeros(len(ensemble.learners), dtype=np.int64)
        classes[ensemble.path.column] = ensemble.path.score_index
        values = np.asarray(ensemble.coef().sum(axis=1)).ravel()
        rows = self.master.restore_columns(classes)
        self.columns.assign(classes, rows, np.arange(len(rows)), self.master.coef_matrix.shape[1])
        self.master.coef_matrix[classes, rows] = values
        self.columns.record_all(self.master.coef_matrix)
        self.master.rebuild()
        if not self.master.keeps_columns:
            self.master.drop_columns()
