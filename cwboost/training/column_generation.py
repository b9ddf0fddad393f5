"""Column generation, Algorithm 1: price, add columns, solve the restricted master, stop."""

from time import perf_counter
from typing import ClassVar

import numpy as np

from cwboost._kernels.common.short_arrays import any_above, largest
from cwboost.ensemble.growing import GrowingEnsemble
from cwboost.ensemble.recorded_columns import Changes, RecordedColumns
from cwboost.families.contract import Division, Priced, PricingRequest
from cwboost.families.sealing.pricer import SealedPricer, certificate
from cwboost.master import Master
from cwboost.solvers.fcd import SolverReport, fcd
from cwboost.solvers.lbfgsb import lbfgsb
from cwboost.solvers.row_sampling import RowSampler
from cwboost.solvers.schedule import BoostingSettings, Schedule

PAYS = 1.0 + 1e-10
"""A column enters when its edge is above this: one, and the rounding of an edge."""

MOST_DRAWS = 10
"""Pricings in a row without a column that pays after which training ends, unless they are exact."""


class ColumnGeneration:
    """Training in progress.

    The pricer is the family, bound to the training matrix; it shares `rng`, the one source of
    randomness. The scores of `held_out` examples follow every round. `model` is that of the
    finished rounds, with their history; `between_rounds` is False while a round is unfinished, so
    that the master is ahead of the model.

    `first_priced` is the first class that is priced: 1 if one score serves two classes, else 0.
    `best_bound` is the largest dual bound so far, NaN if pricing is not exact, and `n_steps` the
    number of coefficients of graded learners, which are not columns of the master.
    """

    extra_names: ClassVar[tuple[str, ...]] = ()
    """Names of history arrays that only this kind of training has."""

    def __init__(self, pricer, master, settings, rng, held_out=()):
        self.pricer: SealedPricer = pricer
        self.master: Master = master
        self.settings: BoostingSettings = settings
        self.rng: np.random.Generator = rng
        n_priced = pricer.n_targets
        self.sampler = RowSampler(settings.subsample, n_priced)
        self.first_priced = master.n_classes - n_priced
        self.exact = pricer.exact and self.sampler.takes_all
        self.divides = settings.stagewise and pricer.divides
        self.model = GrowingEnsemble(master.n_classes, held_out, self.extra_names)
        self.schedule = Schedule(settings, self.exact)
        self.columns = RecordedColumns(master.n_classes)
        self.best_bound = np.nan
        self.n_steps = 0
        self.between_rounds = True

    @property
    def n_rounds(self) -> int:
        """Number of finished rounds."""
        return self.model.n_rounds

    @property
    def mean_loss(self) -> float:
        """Mean of the pair weights of the training examples, 1 before the first round."""
        return self.master.mean_loss

    @property
    def stop_reason(self) -> str | None:
        """Reason for stopping, or None; see `Schedule`."""
        return self.schedule.stop_reason

    def skip_draws(self, n_rounds: int) -> None:
        """Skip the random numbers of former rounds, whose features and examples they would repeat.

        No round draws 2**64 numbers.
        """
        self.rng.bit_generator.advance(n_rounds << 64)

    def round(self) -> bool:
        """Do one round of Algorithm 1; return False when training is over."""
        self.between_rounds = False
        if self.divides:
            return self.round_of_cells()
        start = perf_counter()
        priced, edges = self.price()
        self.observe_bound(edges)
        priced_at = perf_counter()
        layer, n_new = self.add_columns(priced, edges)
        if not self.is_worth_solving(layer, n_new):
            return self.end(priced.learners)
        report = self.solve(layer)
        changes = self.columns.changes(self.master.coef_matrix)
        objective = self.record(report, changes, priced_at - start, perf_counter() - priced_at)
        return self.schedule.goes_on(objective)

    def round_of_cells(self) -> bool:
        """Do one round with a learner whose cells all classes share: every class steps in each.

        Stage-wise only: the coefficients never change again, so that no column is kept.
        """
        start = perf_counter()
        self.pricer.round = self.n_rounds + 1
        for _ in range(MOST_DRAWS):
            division = self.divide()
            divided_at = perf_counter()
            n_classes = self.pricer.n_targets
            steps = self.master.step_cells(division, n_classes, self.settings.step, PAYS)
            if any_above(steps.edges, PAYS):
                break
        else:
            return self.end(division.learners)
        self.n_steps += np.count_nonzero(steps.coef)
        learners = division.learners.graded(steps.outputs, steps.cover)
        ids = self.add_learners(learners, steps.edges.sum(keepdims=True))
        changes = Changes(
            places=np.empty(0, dtype=np.int64),
            ids=np.repeat(ids, n_classes),
            classes=np.arange(self.first_priced, self.master.n_classes),
            values=steps.coef,
            before=np.full(n_classes, np.nan),
        )
        report = SolverReport(np.nan, 1, n_classes)
        objective = self.record(report, changes, divided_at - start, perf_counter() - divided_at)
        return self.schedule.goes_on(objective)

    def divide(self) -> Division:
        """Return a division of the examples by a learner, from those that the round draws."""
        rows = self.sampler.draw_rows(self.master.n_samples, self.rng)
        return self.pricer.divide(self.master.weights[self.first_priced :], PricingRequest(rows))

    def price(self) -> tuple[Priced, np.ndarray]:
        """Return the best weak learners per class and their edges in units of 1 (eq. colgen).

        The first target is the class `first_priced`.
        """
        self.pricer.round, self.pricer.least_edge = self.n_rounds + 1, PAYS * self.master.q
        for _ in range(1 if self.exact else MOST_DRAWS):
            priced = self.price_sample()
            edges = priced.edges / self.master.q
            if any_above(edges, PAYS):
                break
        return priced, edges

    def price_sample(self) -> Priced:
        """Return the best weak learners per class on a sample of the examples."""
        weights, rows = self.sampler.draw(self.master, self.rng)
        return self.pricer.price(weights, PricingRequest(rows))

    def observe_bound(self, edges) -> None:
        """Raise the dual bound, if pricing covers the whole family (eq. mcg-exp-dual)."""
        if self.exact:
            bound = self.master.dual_bound(largest(edges, 0.0))
            # Also where there is none yet: a comparison with NaN is false.
            self.best_bound = self.best_bound if self.best_bound >= bound else bound

    def add_columns(self, priced, edges) -> tuple[np.ndarray, int]:
        """Add the columns that violate their dual constraint.

        Return the row of each class's column in the master, (n_classes,), -1 for none, and the
        number of columns that were not there already.
        """
        classes = np.arange(self.first_priced, self.master.n_classes)
        layer, new, classes, rows = self.master.add_paying(priced, edges, PAYS, classes)
        if len(new):
            learners = priced.learners if len(new) == len(edges) else priced.learners.take(new)
            ids = self.add_learners(learners, edges[new])
            self.columns.assign(classes, rows, ids, self.master.coef_matrix.shape[1])
        return layer, len(new)

    def add_learners(self, learners, edges) -> np.ndarray:
        """Add learners to the model, with edges as shares of all weight; return their ids."""
        return self.model.add_learners(learners, edges / self.master.C)

    def is_worth_solving(self, layer, n_new) -> bool:
        """Decide by the columns that pay whether to solve the master, and how precisely."""
        if n_new:
            self.schedule.loosen()
            return True
        if self.settings.stagewise and (layer >= 0).any():
            return True
        return self.n_rounds > 0 and self.schedule.tighten(self.master.objective)

    def solve(self, layer) -> SolverReport:
        """Solve the restricted master, beginning with the columns of `layer` (Algorithm 2)."""
        if self.settings.solver == "lbfgsb":
            report = lbfgsb(self.master)
        else:
            printed = self.settings.solver == "fcd_printed"
            report = fcd(
                self.master,
                layer,
                epsilon=self.schedule.epsilon,
                max_working_sets=self.schedule.max_working_sets,
                order="random" if printed else "permutation",
                rng=self.rng,
                step=self.settings.step,
                subspace_steps=not printed,
            )
        self.master.note_solve()
        return report

    def record(self, report, changes, pricing_seconds, solver_seconds, **extra) -> float:
        """Add the round to the model; return its objective."""
        objective = self.master.objective
        entry = {
            "learning_rate": self.settings.step,
            "objective": objective,
            **certificate(self.best_bound, objective, self.pricer.fault),
            "max_violation": report.max_violation,
            "n_nonzero": self.n_steps + np.count_nonzero(self.master.coef_matrix),
            "pricing_seconds": pricing_seconds,
            "solver_seconds": solver_seconds,
            "train_error": self.master.train_error,
            **extra,
        }
        self.model.end_round(changes.ids, changes.classes, changes.values, changes.before, entry)
        self.columns.record(changes)
        self.between_rounds = True
        return objective

    def end(self, learners) -> bool:
        """End training, since none of these learners pays; return False."""
        if self.n_rounds:
            # This pricing saw the last round's weights: its bound belongs to that round.
            objective = self.model.latest["objective"]
            self.model.amend_latest(**certificate(self.best_bound, objective, self.pricer.fault))
        else:
            self.model.add_learners(learners.take([]), [])
        self.schedule.end()
        self.between_rounds = True
        return False
