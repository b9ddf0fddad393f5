"""Column generation, Algorithm 1: price, add columns, solve the restricted master, stop.

Each round asks the weak-learner family for the best learner of every class under the present
pair weights (eq. colgen), adds those that violate their dual constraint to the restricted master,
and corrects the coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from cwboost.ensemble.model import Ensemble, PathBuilder
from cwboost.families.contract import Pricer, WeakLearners, pack_outputs
from cwboost.master import RestrictedMaster
from cwboost.solvers.fcd import SolverReport, fcd
from cwboost.solvers.lbfgsb import lbfgsb

__all__ = ["HISTORY_NAMES", "ColumnGeneration", "Settings"]

PAYS = 1.0 + 1e-10
"""A column enters when its edge is above this: one, and the rounding of an edge."""

MOST_DRAWS = 10
"""Where pricing does not cover the whole family on all examples, training ends only when so many
turns in a row bring no column that pays."""

POLISH_EPSILON, POLISH_WORKING_SETS = 1e-6, 2
"""Where no new column pays, epsilon falls by tenths to this, with so many passes more each time."""

HISTORY_NAMES = (
    "objective",
    "dual_bound",
    "gap",
    "max_violation",
    "n_nonzero",
    "pricing_seconds",
    "solver_seconds",
    "train_error",
    "valid_error",
)


@dataclass(frozen=True)
class Settings:
    """What a round of column generation needs to know, besides its data.

    Parameters
    ----------
    max_working_sets : int
        Passes of coordinate descent a round; 1 is the stage-wise mode.
    epsilon : float
        Violation at which a column enters a later working set.
    learning_rate : float
        Shrinkage of a new coefficient, stage-wise only.
    solver : {"fcd", "lbfgsb"}
    order : {"permutation", "random", "layers"}
        See `cwboost.solvers.fcd.fcd`.
    tol : float
        Stop when a round lowers the objective by less than this share of it.
    subsample : float
        Share of the examples, drawn anew each round, whose weights are priced.
    """

    max_working_sets: int = 2
    epsilon: float = 0.1
    learning_rate: float = 1.0
    solver: str = "fcd"
    order: str = "permutation"
    tol: float = 1e-7
    subsample: float = 1.0

    @property
    def stagewise(self) -> bool:
        return self.solver == "fcd" and self.max_working_sets == 1


@dataclass
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
    validation : cwboost.estimator.held_out.ValidationScores or None
        Scores on held-out examples, followed round by round.

    Attributes
    ----------
    stop_reason : {None, "optimal", "no column", "tol"}
        Why the last round said to stop. "optimal": exact pricing found no violated column that is
        not there already, and the restricted master is solved; "no column": pricing found none (in
        `MOST_DRAWS` turns, where it is not exact or sees only some of the examples),
        which proves nothing of a family without exact pricing or of stage-wise coefficients.
    resumed : dict or None
        The state from which training went on bit for bit.
    best_bound : float
        Largest dual bound so far, NaN where pricing is not exact.
    """

    pricer: Pricer
    master: RestrictedMaster
    settings: Settings
    rng: np.random.Generator
    validation: object = None
    stop_reason: str | None = None
    resumed: dict | None = None
    best_bound: float = np.nan
    history: dict = field(default_factory=lambda: {name: [] for name in HISTORY_NAMES})

    def __post_init__(self):
        self._batches: list[WeakLearners] = []
        self._learner_edges: list[np.ndarray] = []
        self._path = PathBuilder()
        self._first_of_problem = 0
        self._n_learners = 0
        self._loosen()
        # Learner behind each column of the master, and its coefficient as last recorded.
        self._ids = np.zeros((self.master.n_classes, 16), dtype=np.int64)
        self._recorded = np.zeros((self.master.n_classes, 16))

    @property
    def n_rounds(self) -> int:
        """Rounds done."""
        return self._path.n_rounds

    def round(self) -> bool:
        """One round of Algorithm 1; False when training is over (see `stop_reason`)."""
        start = perf_counter()
        priced, edges = self._price()
        priced_at = perf_counter()
        self._bound(edges)
        layer, n_new = self._add_columns(priced, edges)
        if not (layer >= 0).any() or (n_new == 0 and not self.settings.stagewise):
            self._batches = self._batches or [priced.learners.take([])]
            return self._finish(layer)
        report = self._solve([layer])
        self._record(report, priced_at - start, perf_counter() - priced_at)
        return self._goes_on()

    def _price(self):
        """The round's learners and their edges; where chance has a part, more than one try."""
        whole = self.pricer.exact and self.settings.subsample == 1.0
        for _ in range(1 if whole else MOST_DRAWS):
            priced = self.pricer.price(self._pricing_weights())
            edges = priced.edges / self.master.q
            if edges.max() > PAYS:
                break
        return priced, edges

    def _pricing_weights(self) -> np.ndarray:
        """R, with the examples that this round leaves out at weight zero."""
        weights = self.master.weights
        if self.settings.subsample == 1.0:
            return weights
        n_samples = weights.shape[1]
        n_kept = max(1, round(self.settings.subsample * n_samples))
        kept = np.zeros(n_samples, dtype=bool)
        kept[self.rng.permutation(n_samples)[:n_kept]] = True
        return weights * (kept / self.settings.subsample)

    def _bound(self, edges) -> None:
        """Raise the dual bound, where pricing covers the whole family."""
        if self.pricer.exact and self.settings.subsample == 1.0:
            bound = self.master.dual_bound(float(edges.max()))
            self.best_bound = bound if np.isnan(self.best_bound) else max(self.best_bound, bound)

    def _add_columns(self, priced, edges):
        """Add the columns that pay: the row of each class, -1 for none, and how many are new."""
        rows = np.full(self.master.n_classes, -1)
        classes = np.flatnonzero(edges > PAYS)
        outputs = priced.outputs
        if len(classes) < len(edges):
            outputs = outputs[classes]
        rows[classes], new = self.master.add(classes, outputs)
        fresh = classes[new]
        if len(fresh):
            self._keep(priced.learners, fresh, rows[fresh], edges[fresh])
            self._loosen()
        return rows, len(fresh)

    def _keep(self, learners, classes, rows, edges) -> None:
        """Remember the learners of new columns and which column each is."""
        self._grow_tables()
        ids = self._n_learners + np.arange(len(classes))
        self._ids[classes, rows] = ids
        # Not a coefficient, so that the round records the column even if it stays at zero.
        self._recorded[classes, rows] = np.nan
        kept = learners if len(classes) == len(learners) else learners.take(classes)
        self._batches.append(kept)
        self._learner_edges.append(edges)
        self._n_learners += len(classes)
        if self.validation is not None:
            self.validation.add(kept)

    def _grow_tables(self) -> None:
        missing = self.master.coef_matrix.shape[1] - self._ids.shape[1]
        if missing > 0:
            self._ids = np.pad(self._ids, ((0, 0), (0, missing)))
            self._recorded = np.pad(self._recorded, ((0, 0), (0, missing)))

    def _solve(self, layers, **tighter) -> SolverReport:
        """Solve the restricted master, starting from the columns of `layers`."""
        settings = self.settings
        if settings.solver == "lbfgsb":
            report = lbfgsb(self.master)
        else:
            options = {
                "epsilon": settings.epsilon,
                "max_working_sets": settings.max_working_sets,
                "order": settings.order,
                "rng": self.rng,
                "step": settings.learning_rate if settings.stagewise else 1.0,
            }
            report = fcd(self.master, layers, **(options | tighter))
        self.master.note_solve()
        return report

    def _loosen(self) -> None:
        """Solve as settings say again, since there are new columns or another problem."""
        self._precision, self._n_tighter, self._polished = self.settings.epsilon, 0, False

    def _finish(self, layer) -> bool:
        """No new column pays: solve the master more precisely, in steps; at the last, the end."""
        if self.n_rounds and not (self.settings.stagewise or self._polished):
            start, before = perf_counter(), self.master.objective
            if self._precision > POLISH_EPSILON:
                self._precision = max(self._precision / 10.0, POLISH_EPSILON)
                self._n_tighter += 1
            # Few at first: often a new column pays as soon as the master is solved a little better.
            passes = max(self.settings.max_working_sets, 1 + POLISH_WORKING_SETS * self._n_tighter)
            report = self._solve([layer], epsilon=self._precision, max_working_sets=passes)
            change = before - self.master.objective
            self._polished = self._precision <= POLISH_EPSILON and change <= 1e-9 * before
            self._record(report, 0.0, perf_counter() - start)
            return True
        if self.n_rounds:
            # This pricing saw the last round's weights: its bound belongs to that round.
            self.history["dual_bound"][-1] = self.best_bound
            self.history["gap"][-1] = self.history["objective"][-1] - self.best_bound
        proven = self.pricer.exact and not self.settings.stagewise
        self.stop_reason = "optimal" if proven else "no column"
        return False

    def _record(self, report, pricing_seconds, solver_seconds) -> None:
        """Append the round to the coefficient path and the history."""
        coef = self.master.coef_matrix
        changed = np.flatnonzero(coef != self._recorded)
        classes = changed // coef.shape[1]
        values, ids = coef.take(changed), self._ids.take(changed)
        self._path.append(ids, classes, values, self._n_learners)
        valid_error = np.nan
        if self.validation is not None:
            before = np.nan_to_num(self._recorded.take(changed))
            valid_error = self.validation.move(ids, classes, values - before)
        np.put(self._recorded, changed, values)
        objective = self.master.objective
        entry = (
            objective,
            self.best_bound,
            objective - self.best_bound,
            report.max_violation,
            np.count_nonzero(coef),
            pricing_seconds,
            solver_seconds,
            self.master.n_errors / self.pricer.n_samples,
            valid_error,
        )
        for name, value in zip(HISTORY_NAMES, entry):
            self.history[name].append(value)

    def _goes_on(self) -> bool:
        """False when the objective has stopped falling."""
        objectives = self.history["objective"][self._first_of_problem :]
        if len(objectives) < 2:
            return True
        before, now = objectives[-2:]
        if self.settings.tol > 0.0 and before - now < self.settings.tol * before:
            self.stop_reason = "tol"
            return False
        return True

    def change_C(self, C) -> None:
        """Go on with another C: another problem, of which bound and objective so far say nothing.

        The same, bit for bit, as `resume` on a new master from this one's state.
        """
        self.master.change_C(C)
        self.stop_reason, self.best_bound = None, np.nan
        self._first_of_problem = self.n_rounds
        self._loosen()

    def ensemble(self) -> Ensemble:
        """The model of the rounds done so far."""
        learners = type(self._batches[0]).concatenate(self._batches)
        self._batches = [learners]
        return Ensemble(
            learners,
            self._path.path(),
            self.master.n_classes,
            np.concatenate([*self._learner_edges, []]),
        )

    def state(self) -> dict:
        """What continues training bit for bit, besides ensemble, history and data."""
        return {
            "pairs": self.master.pairs.state(),
            "solves_since_rebuild": self.master.solves_since_rebuild,
            "best_bound": self.best_bound,
            "q": self.master.q,
            "precision": [self._precision, self._n_tighter, bool(self._polished)],
            "generator": self.rng.bit_generator.state,
        }

    def resume(self, ensemble: Ensemble, X, history: dict, state: dict | None) -> None:
        """Take up training where `ensemble` ended.

        Parameters
        ----------
        ensemble : Ensemble
        X : ndarray or sparse matrix
            The training matrix the pricer is bound to.
        history : dict of arrays
            History of the ensemble's rounds.
        state : dict or None
            What `state` returned, for a continuation that equals one uninterrupted run bit for
            bit; None forms the pair weights from the coefficients.
        """
        self._restore_columns(ensemble, X)
        self._path = PathBuilder(ensemble.path)
        self.history = {name: list(history[name]) for name in HISTORY_NAMES}
        if state is None:
            self.master.rebuild()
            self._first_of_problem = self.n_rounds
            return
        self.master.pairs.restore(state["pairs"])
        self.master.solves_since_rebuild = state["solves_since_rebuild"]
        if state["q"] == self.master.q:
            self.best_bound = state["best_bound"]
            self._precision, self._n_tighter, self._polished = state["precision"]
        else:
            # Another C is another problem: the bound and the last objective say nothing of it.
            self._first_of_problem = self.n_rounds
        self.rng.bit_generator.state = state["generator"]

    def _restore_columns(self, ensemble: Ensemble, X) -> None:
        """Columns, ids and coefficients of the master from a fitted ensemble."""
        n_learners = len(ensemble.learners)
        of_class = np.zeros(n_learners, dtype=np.int64)
        of_class[ensemble.path.column] = ensemble.path.score_index
        values = np.asarray(ensemble.coef().sum(axis=1)).ravel()
        for start in range(0, n_learners, 256):
            ids = np.arange(start, min(start + 256, n_learners))
            packed = pack_outputs(ensemble.learners.take(ids).outputs(X))
            classes = of_class[ids]
            rows, _ = self.master.add(classes, packed)
            self._grow_tables()
            self._ids[classes, rows] = ids
            np.add.at(self.master.coef_matrix, (classes, rows), values[ids])
        self._recorded[:] = self.master.coef_matrix
        self._batches = [ensemble.learners]
        self._learner_edges = [ensemble.edges]
        self._n_learners = n_learners
        if self.validation is not None:
            self.validation.add(ensemble.learners)
            coef = ensemble.coef().tocoo()
            self.validation.move(coef.row, coef.col, coef.data)
