"""Column generation, Algorithm 1: price, add columns, solve the restricted master, stop."""

from time import perf_counter

import numpy as np

from cwboost._kernels.common.arrays import any_above, largest
from cwboost.ensemble.recorded_columns import Changes, RecordedColumns
from cwboost.families.contract import Priced, PricingRequest
from cwboost.families.sealing.pricer import certificate
from cwboost.recipe.path_of_C import next_C
from cwboost.solvers.fcd import SolverReport, fcd
from cwboost.solvers.lbfgsb import lbfgsb
from cwboost.training.training import MOST_DRAWS, PAYS, Training


class ColumnGeneration(Training):
    """Training by columns: one weak learner per class and round, each with its coefficient.

    Along a path of C, `later_C` are the values that follow.
    """

    extra_names = ("C",)

    def __init__(self, pricer, master, settings, rng, held_out=()):
        super().__init__(pricer, master, settings, rng, held_out)
        self.columns = RecordedColumns(master.n_classes)
        self.later_C = settings.later_C

    def round(self) -> bool:
        """Do one round of Algorithm 1; return False when training is over.

        If it is over at the present C, go on at the next one, which does no round yet.
        """
        return self.round_at_C() or self.next_C()

    def next_C(self) -> bool:
        """Go on at the next value of C; return False if there is none."""
        C = next_C(self.model.history, self.later_C, self.settings.most_columns)
        if C is not None:
            self.change_C(C)
        return C is not None

    def change_C(self, C: float) -> None:
        """Go on at another value of C, from the columns and coefficients that are there.

        Along a path of growing C, every solution is feasible for the next value.
        """
        self.master.change_C(C)
        self.later_C = tuple(later for later in self.later_C if later > C)
        self.begin(C)

    def take_place(self, C: float, values_of_C) -> None:
        """Take the place on the path that a training had: its C, and that of each of its rounds."""
        self.change_C(C)
        self.rounds_before = int(np.count_nonzero(values_of_C != C))

    def round_at_C(self) -> bool:
        """Do one round at the present C; return False when training is over there."""
        self.between_rounds = False
        start = perf_counter()
        priced, edges = self.price()
        self.observe_bound(edges)
        priced_at = perf_counter()
        if self.is_proven():
            return self.end(priced.learners)
        layer, n_new = self.add_columns(priced, edges)
        if not self.is_worth_solving(layer, n_new):
            return self.end(priced.learners)
        report = self.solve(layer)
        changes = self.columns.changes(self.master.coef_matrix)
        seconds = {
            "pricing_seconds": priced_at - start,
            "solver_seconds": perf_counter() - priced_at,
        }
        objective = self.record(changes, {"max_violation": report.max_violation, **seconds})
        return self.schedule.goes_on(objective)

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

    def is_proven(self) -> bool:
        """Return True if the bound is close enough to the objective of the last round.

        The first round at a value of C makes its own objective.
        """
        if self.n_rounds == self.rounds_before:
            return False
        return self.schedule.is_close(self.master.objective, self.best_bound)

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

    def record(self, changes: Changes, entry) -> float:
        """Add the round to the model, with bound and gap; return its objective."""
        entry = {
            "C": self.C,
            **certificate(self.best_bound, self.master.objective, self.pricer.fault),
            "n_nonzero": np.count_nonzero(self.master.coef_matrix),
            **entry,
        }
        objective = super().record(changes, entry)
        self.columns.record(changes)
        return objective

    def end(self, learners) -> bool:
        """End training at the present C without these learners; return False."""
        if self.n_rounds > self.rounds_before:
            # This pricing saw the last round's weights: its bound belongs to that round.
            objective = self.model.latest["objective"]
            self.model.amend_latest(**certificate(self.best_bound, objective, self.pricer.fault))
        return super().end(learners)
