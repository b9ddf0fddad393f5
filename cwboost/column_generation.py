"""Column generation, Algorithm 1: price, add columns, solve the restricted master, stop."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from cwboost.ensemble.growing import GrowingEnsemble
from cwboost.ensemble.recorded_columns import RecordedColumns
from cwboost.families.contract import Priced, Pricer
from cwboost.master import RestrictedMaster
from cwboost.solvers.fcd import SolverReport, fcd
from cwboost.solvers.lbfgsb import lbfgsb
from cwboost.solvers.schedule import Schedule, Settings

__all__ = ["ColumnGeneration"]

PAYS = 1.0 + 1e-10
"""A column enters when its edge is above this: one, and the rounding of an edge."""

MOST_DRAWS = 10
"""Turns of pricing in a row without a column that pays, after which training ends, if pricing does
not cover the whole family on all examples."""


class ColumnGeneration:
    """Training in progress.

    Parameters
    ----------
    pricer : Pricer
        The family, bound to the training matrix.
    master : RestrictedMaster
    settings : Settings
    rng : numpy.random.Generator
        The one source of randomness, shared with the pricer.
    held_out : HeldOutScores or None, default=None
        Scores on held-out examples, which follow every round.
    extra_names : tuple of str, default=()
        Names of history arrays that only this kind of training has.

    Attributes
    ----------
    model : GrowingEnsemble
        The model of the finished rounds, with their history.
    schedule : Schedule
        Decides how precisely to solve and when to end.
    best_bound : float
        Largest dual bound so far, NaN if pricing is not exact.
    between_rounds : bool
        False while a round is unfinished, so that the master is ahead of the model.
    """

    def __init__(self, pricer, master, settings, rng, held_out=None, extra_names=()):
        self.pricer: Pricer = pricer
        self.master: RestrictedMaster = master
        self.settings: Settings = settings
        self.rng: np.random.Generator = rng
        self.covers_family = pricer.exact and settings.subsample == 1.0
        self.model = GrowingEnsemble(master.n_classes, held_out, extra_names)
        self.schedule = Schedule(settings, self.covers_family)
        self.columns = RecordedColumns(master.n_classes)
        self.best_bound = np.nan
        self.between_rounds = True

    @property
    def n_rounds(self) -> int:
        """Number of finished rounds."""
        return self.model.n_rounds

    @property
    def history(self) -> dict[str, list[float]]:
        """One list per name, with one entry per finished round."""
        return self.model.history

    @property
    def stop_reason(self) -> str | None:
        """Why the last round said to stop; see `Schedule`."""
        return self.schedule.stop_reason

    def round(self) -> bool:
        """Do one round of Algorithm 1; return False when training is over."""
        self.between_rounds = False
        start = perf_counter()
        priced, edges = self.price()
        self.observe_bound(edges)
        priced_at = perf_counter()
        layer, n_new = self.add_columns(priced, edges)
        if not self.is_worth_solving(layer, n_new):
            return self.end(priced)
        report = self.solve(layer)
        objective = self.record(report, priced_at - start, perf_counter() - priced_at)
        return self.schedule.goes_on(objective)

    def price(self) -> tuple[Priced, np.ndarray]:
        """Return the best weak learner of each class and its edge in units of 1 (eq. colgen)."""
        for _ in range(1 if self.covers_family else MOST_DRAWS):
            priced = self.pricer.price(self._pricing_weights())
            edges = priced.edges / self.master.q
            if edges.max() > PAYS:
                break
        return priced, edges

    def _pricing_weights(self) -> np.ndarray:
        """Return R, with weight zero for the examples that this round leaves out."""
        weights, share = self.master.weights, self.settings.subsample
        if share == 1.0:
            return weights
        n_samples = weights.shape[1]
        kept = np.zeros(n_samples, dtype=bool)
        kept[self.rng.permutation(n_samples)[: max(1, round(share * n_samples))]] = True
        return weights * (kept / share)

    def observe_bound(self, edges) -> None:
        """Raise the dual bound, if pricing covers the whole family (eq. mcg-exp-dual)."""
        if self.covers_family:
            bound = self.master.dual_bound(float(edges.max()))
            # Also where there is none yet: a comparison with NaN is false.
            self.best_bound = self.best_bound if self.best_bound >= bound else bound

    def add_columns(self, priced, edges) -> tuple[np.ndarray, int]:
        """Add the columns that violate their dual constraint.

        Returns
        -------
        layer : ndarray of shape (n_classes,), int
            The row of each class's column in the master, -1 for none.
        n_new : int
            Number of columns that were not there already.
        """
        layer = np.full(self.master.n_classes, -1)
        classes = np.flatnonzero(edges > PAYS)
        outputs = priced.outputs if len(classes) == len(edges) else priced.outputs[classes]
        layer[classes], is_new = self.master.add(classes, outputs)
        new = classes[is_new]
        if len(new):
            learners = priced.learners if len(new) == len(edges) else priced.learners.take(new)
            ids = self.model.add_learners(learners, edges[new])
            self.columns.assign(new, layer[new], ids, self.master.coef_matrix.shape[1])
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
            report = fcd(
                self.master,
                [layer],
                epsilon=self.schedule.epsilon,
                max_working_sets=self.schedule.max_working_sets,
                rng=self.rng,
                step=self.settings.step,
            )
        self.master.note_solve()
        return report

    def record(self, report, pricing_seconds, solver_seconds, **extra) -> float:
        """Add the round to the model; return its objective."""
        coef, objective = self.master.coef_matrix, self.master.objective
        changes = self.columns.changes(coef)
        entry = {
            "objective": objective,
            "dual_bound": self.best_bound,
            "gap": objective - self.best_bound,
            "max_violation": report.max_violation,
            "n_nonzero": np.count_nonzero(coef),
            "pricing_seconds": pricing_seconds,
            "solver_seconds": solver_seconds,
            "train_error": self.master.n_errors / self.pricer.n_samples,
            **extra,
        }
        self.model.end_round(changes.ids, changes.classes, changes.values, changes.before, entry)
        self.columns.record(changes)
        self.between_rounds = True
        return objective

    def end(self, priced) -> bool:
        """End training, since no column pays; return False."""
        if self.n_rounds:
            # This pricing saw the last round's weights: its bound belongs to that round.
            gap = self.model.latest["objective"] - self.best_bound
            self.model.amend_latest(dual_bound=self.best_bound, gap=gap)
        else:
            self.model.add_learners(priced.learners.take([]), [])
        self.schedule.end()
        self.between_rounds = True
        return False
