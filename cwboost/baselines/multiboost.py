"""`MultiBoostClassifier`: column generation with weak learners that all classes share."""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from cwboost.baselines.base import BaselineClassifier
from cwboost.calibration.calibration import predict_prior
from cwboost.calibration.scores import held_out_scores
from cwboost.families.contract import WeakLearnerFamily
from cwboost.input.checks import check_choice, check_n_jobs
from cwboost.input.examples import Examples
from cwboost.master import LARGEST_C, RestrictedMaster, largest
from cwboost.solvers.lbfgsb import lbfgsb
from cwboost.solvers.schedule import BoostingSettings
from cwboost.support.checks import check_number
from cwboost.support.warnings import warn_caller
from cwboost.training.column_generation import ColumnGeneration
from cwboost.training.outcome import ModelOutcome
from cwboost.training.training import PAYS

POLISH = 1e-3
"""Fraction of ``gap_tol`` to which L-BFGS-B goes on when no column pays."""


def relative_gap(master: RestrictedMaster) -> float:
    """Return (objective - bound) / objective, the duality gap over the columns of `master`."""
    objective = master.objective
    return (objective - master.dual_bound(largest(master.edges()))) / objective


class SharedColumnGeneration(ColumnGeneration):
    """Column generation with one column per round, the same for every class.

    L-BFGS-B solves each restricted master up to the relative gap over the columns `gap_tol`;
    `n_unsolved` rounds ended with a larger one.
    """

    extra_names = ("master_gap",)

    def __init__(self, pricer, master, settings, rng, held_out, gap_tol):
        super().__init__(pricer, master, settings, rng, held_out)
        self.gap_tol = gap_tol
        self.n_unsolved = 0

    def add_columns(self, priced, edges):
        """Add the best of the learners priced for the classes, for all classes (eq. colgen_mb)."""
        n_classes = self.master.n_classes
        if not (edges > PAYS).any():
            return np.full(n_classes, -1), 0
        best = int(np.argmax(edges))
        (row,), (is_new,) = self.master.add([best], priced.outputs[[best]])
        if is_new:
            (learner,) = self.add_learners(priced.learners.take([best]), edges[[best]])
            self.columns.assign([best], [row], [learner], self.master.coef_matrix.shape[1])
            self.columns.share(row, learner)
        return np.full(n_classes, row), int(is_new)

    def solve(self, layer):
        """Solve the restricted master: in a few passes, or by L-BFGS-B until its gap is small."""
        if self.settings.solver == "fcd":
            return super().solve(layer)
        gap_tol = self.gap_tol * (POLISH if self.schedule.polishing else 1.0)
        report = lbfgsb(
            self.master, tol=0.0, ftol=0.0, stop=lambda: relative_gap(self.master) <= gap_tol
        )
        self.master.note_solve()
        return report

    def record(self, changes, entry):
        """Add the round to the model, with the final gap of the solver."""
        gap = relative_gap(self.master)
        self.n_unsolved += self.settings.solver == "lbfgsb" and gap > self.gap_tol
        return super().record(changes, {"master_gap": gap, **entry})


class SharedOutcome(ModelOutcome):
    """The outcome of `SharedColumnGeneration`; it warns of rounds that ended with a large gap."""

    def attributes(self, stop_reason: str) -> dict[str, Any]:
        attributes, training = super().attributes(stop_reason), self.training
        if attributes["n_iter_"] == 0:
            model, weights = attributes["model_"], training.master.class_weights
            return attributes | {"model_": predict_prior(model, weights, training.settings.C)}
        if training.n_unsolved:
            worst = attributes["history_"]["master_gap"].max()
            warn_caller(
                f"{training.n_unsolved} of {attributes['n_iter_']} rounds ended with a larger "
                f"relative gap than gap_tol={training.gap_tol} (up to {worst:.2g}): rounding "
                "allows no less",
                ConvergenceWarning,
            )
        return attributes


class MultiBoostClassifier(BaselineClassifier):
    r"""Multi-class boosting by column generation with weak learners that all classes share.

    MultiBoost with the exponential loss [1]_. All classes score with the same weak learners
    h_1, ..., h_n and coefficients of their own, a matrix ``coef >= 0`` of shape
    (n_classes, n_rounds): F_y(x) = sum_j coef[y, j] h_j(x). As for `CWBoostClassifier` [2]_,

    .. math::

        \min_{\mathrm{coef} \ge 0} \; \sum_j \mathrm{coef}_j + \frac{C}{p}
        \sum_i w_i \sum_{y \ne y_i} e^{-\mathrm{margin}_{i,y}}, \qquad p = (K - 1) \sum_i w_i,

    over K classes, with margin_(i,y) = F_{y_i}(x_i) - F_y(x_i). With the pair
    weights mu_(i,y) = w_i exp(-margin_(i,y)), and r_c(i) = sum over y of mu_(i,y) where y_i = c,
    -mu_(i,c) elsewhere, a round adds the one weak learner of largest edge over all classes,

    .. math:: \operatorname*{argmax}_{h, c} \; \sum_i r_c(i) \, h(x_i),

    which gives every class a new coordinate, and solves for all coefficients. Training ends as that
    of `CWBoostClassifier` does.

    Parameters
    ----------
    weak_learner : str, WeakLearnerFamily or list of these, default="stump"
        As for `CWBoostClassifier`.
    n_estimators : int, default=200
        Number of rounds; each adds one weak learner.
    C : float, default=1e4
        Weight of the loss relative to the sum of the coefficients.
    solver : {"lbfgsb", "fcd"}, default="lbfgsb"
        L-BFGS-B, as in [1]_, on one thread, or fast coordinate descent as `CWBoostClassifier`.
    gap_tol : float in (0, 1], default=1e-2
        Relative duality gap over the columns, (objective - bound) / objective, to which L-BFGS-B
        solves in every round.
    max_working_sets : int, default=5
        Passes of fast coordinate descent per round, at least 2.
    tol : float, default=1e-7
        Training stops if a round lowers the objective by less than this fraction of it.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weights of the examples of a class, by label; "balanced" gives every class
        the same total weight.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices: what the family draws and the order of coordinate updates.
    categorical_features, callbacks, n_jobs, verbose
        As for `CWBoostClassifier`, with the same defaults.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, categories_, family_, model_, n_iter_
        As of `CWBoostClassifier`.
    ensemble_ : Ensemble
    history_ : dict of ndarrays of shape (n_rounds,)
        objective, dual_bound (over all weak learners, best so far, NaN if pricing is not
        exact), gap, max_violation, n_nonzero, pricing_seconds, solver_seconds, train_error,
        valid_error, learning_rate (1), and master_gap, the final relative gap over the columns.
    stop_reason_ : str
        "n_estimators", "tol", "optimal", "no column", "interrupted", "failed" or that of a
        callback.

    Warns
    -----
    ConvergenceWarning
        If rounding stopped L-BFGS-B before `gap_tol` in some round; see ``master_gap``.

    References
    ----------
    .. [1] Shen and Hao, "A direct formulation for totally-corrective multi-class boosting",
       CVPR 2011.
    .. [2] Lin, Shen, van den Hengel and Suter, "Fast training of effective multi-class boosting
       using coordinate descent optimization", ACCV 2012.

    Examples
    --------
    >>> from cwboost import MultiBoostClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(MultiBoostClassifier(n_estimators=20, random_state=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    _outcome_type: ClassVar = SharedOutcome

    def __init__(
        self,
        weak_learner: str | WeakLearnerFamily | Sequence[str | WeakLearnerFamily] = "stump",
        n_estimators: int = 200,
        C: float = 1e4,
        solver: str = "lbfgsb",
        gap_tol: float = 1e-2,
        max_working_sets: int = 5,
        tol: float = 1e-7,
        categorical_features: ArrayLike | str | None = "from_dtype",
        class_weight: Mapping[Any, float] | str | None = None,
        callbacks: list[Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.weak_learner = weak_learner
        self.n_estimators = n_estimators
        self.C = C
        self.solver = solver
        self.gap_tol = gap_tol
        self.max_working_sets = max_working_sets
        self.tol = tol
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.callbacks = callbacks
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("C", self.C, Real, 0.0, LARGEST_C, low_open=True)
        check_choice("solver", self.solver, ("lbfgsb", "fcd"))
        check_number("gap_tol", self.gap_tol, Real, 0.0, 1.0, low_open=True)
        check_number("tol", self.tol, Real, 0.0)
        check_number("max_working_sets", self.max_working_sets, Integral, 2)

    def _training(self, examples: Examples, rng) -> SharedColumnGeneration:
        n_classes = len(examples.classes)
        master = examples.master(float(self.C), check_n_jobs(self.n_jobs), shared=True)
        settings = BoostingSettings(
            C=float(self.C),
            solver=self.solver,
            tol=float(self.tol),
            max_working_sets=int(self.max_working_sets),
        )
        return SharedColumnGeneration(
            pricer=self._bind(examples, rng, n_targets=n_classes),
            master=master,
            settings=settings,
            rng=rng,
            held_out=held_out_scores(examples.held_out, examples.classes, n_scores=n_classes),
            gap_tol=float(self.gap_tol),
        )
