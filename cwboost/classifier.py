"""`CWBoostClassifier`: class-wise boosting as a scikit-learn estimator."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cwboost.automatic import recipe
from cwboost.automatic.constants import DEFAULT_FAMILY, FEWEST_ROUNDS
from cwboost.column_generation import ColumnGeneration
from cwboost.estimator.base import BoostingClassifier
from cwboost.estimator.defaults import settings_of
from cwboost.estimator.held_out import sets
from cwboost.estimator.held_out.calibration import LOSS_SCALE, predict_prior
from cwboost.estimator.held_out.metrics import LOGLOSS, watched_metric
from cwboost.estimator.held_out.stopping import EarlyStopping, patience_for
from cwboost.estimator.initial import start_again, start_from
from cwboost.estimator.input.categories import categorical_facts
from cwboost.estimator.problem import fingerprint
from cwboost.estimator.resumption import (
    change_C,
    check_continues,
    ensemble_and_state,
    previous_fit,
    resume,
    training_state,
)
from cwboost.estimator.rounds import RoundLoop
from cwboost.estimator.sklearn_callbacks import with_callbacks
from cwboost.estimator.thinning import checked_Cs, solve_thin
from cwboost.families.discovery import check_capabilities
from cwboost.families.init_models import resolve_init
from cwboost.families.sealing.pricer import SealedPricer, bind_family
from cwboost.master import RestrictedMaster
from cwboost.solvers.schedule import Settings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from sklearn.base import ClassifierMixin
    from typing_extensions import Self

    from cwboost.families.contract import WeakLearnerFamily
    from cwboost.families.init_contract import InitModel
    from cwboost.support.types import Features

__all__ = ["CWBoostClassifier"]


class CWBoostClassifier(BoostingClassifier):
    r"""Multi-class boosting by column generation with separate weak learners for each class.

    Every round prices one weak learner per class and corrects the coefficients by fast coordinate
    descent on

    .. math::

        \min_{\mathrm{coef} \ge 0} \; \sum_j \mathrm{coef}_j + \frac{C}{p}
        \sum_i w_i \sum_{y \ne y_i} e^{-\mathrm{margin}_{i,y}}, \qquad p = (K - 1) \sum_i w_i,

    over K classes and examples of weight w_i [1]_. The margin of an example over a class y is the
    score of its own class minus that of y.

    Parameters
    ----------
    weak_learner : str, WeakLearnerFamily or list of these, default="auto"
        Registered name of a family, an instance with its hyper-parameters, or several to mix.
        "auto" is trees with the settings that do best on most data; see `cwboost.AutoFamily`.
    init : str, InitModel, classifier or None, default="auto"
        Model whose scores boosting starts from: the name of an init model ("kernel"), an
        `InitModel`, or a classifier of scikit-learn with ``predict_proba``. Its scores of the
        training examples are out of sample. "auto" is, with the weak learner "auto" and without
        `monotonic_cst`, "kernel" where this tells enough about the classes and a holdout run ends
        lower with it; else None, which is pure boosting.
    n_estimators : int or "auto", default="auto"
        Number of rounds; each adds at most one column per class. With the weak learner "auto" and
        stage-wise correction, "auto" is the number that a holdout run finds best, at most
        ``30 / learning_rate``; if fit gets X_val, these examples tell instead. Else it is 400.
    C : float or None, default=None
        Weight of the loss relative to the sum of the coefficients; at most 1e150. None is 1e4 with
        "total"; with "stagewise" it means no penalty of the coefficients, computed with 1e12.
    correction : {"stagewise", "total"}, default="stagewise"
        Correct only the new coefficients of each round (CW-1) or all of them (CW, the method of
        the paper). With "stagewise", every leaf of a tree takes its own step, so that trees have
        graded outputs; with "total" and with constraints, outputs are -1 and +1.
    columns_per_round : int, default=1
        Largest number of columns per class and round. Stumps only: the best stumps of as many
        random groups of features.
    max_working_sets : int, default=2
        Passes of coordinate descent per round (tau_max); "stagewise" always does one.
    epsilon : float, default=0.1
        Violation above which "total" corrects a coefficient again; "stagewise" does not use it.
    learning_rate : float or None, default=None
        In (0, 1]. Fraction of the exact coordinate step taken for a new coefficient. None is 0.1
        with "stagewise", and less if a holdout run finds that fewer than 80 rounds suffice: fit
        then does up to 80 smaller ones. "total" solves for every coefficient: None or 1.
    subsample : float or None, default=None
        In (0, 1]. Fraction of the examples on which a round prices weak learners, drawn at random
        every round. None is 0.5 with "stagewise" and 1 with "total".
    solver : {"fcd", "fcd_printed", "lbfgsb"}, default="fcd"
        Solver of the restricted master; the others are for comparison, and for "total" only.
        "fcd_printed" is Algorithm 2 exactly as printed: later passes draw with replacement and
        take no subspace steps.
    tol : float, default=1e-7
        Training stops if a round lowers the objective by less than this fraction of it; if rounds
        draw examples, or the weak learner draws what it prices, if ten rounds in a row do.
    early_stopping : bool, {"logloss", "error", "loss"}, str or callable, default=False
        Stop by a measure on held-out examples: the log loss of calibrated probabilities
        ("logloss" or True), the error rate, the mean pair loss, or a scikit-learn scorer, by name
        or as ``scorer(estimator, X, y)``. The model keeps the rounds up to the best, with log
        loss up to the last that is within 2% of it.
    validation_fraction : float, default=0.1
        Fraction of the examples held out (stratified) for early stopping, unless fit gets X_val.
    n_iter_no_change : int or "auto", default="auto"
        Rounds without improvement after which early stopping stops. "auto" is
        ``15 / learning_rate``, and at least 20.
    categorical_features : array-like of bool, int or str, str or None, default="from_dtype"
        Columns of categories: a mask, places or names; "from_dtype" takes the columns of a
        frame that have a categorical dtype, None takes none. Categories may be text, numbers or
        bools; missing ones, and those not seen in `fit`, count as missing values.
    monotonic_cst : array-like or dict, default=None
        1, -1 or 0 per column: the score of the second of two classes never falls, or never rises,
        with it. By class: an array (n_classes, n_features), or a dict of dicts by label.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weights of the examples of a class; "balanced" gives all the same total.
    warm_start : bool, default=False
        Continue from the fitted model, with more rounds or other parameters, but weak learners of
        the same kind; what is trained already stays as it is. With the same data and parameters,
        the result equals that of one uninterrupted fit, bit for bit.
    callbacks : list or None, default=None
        Objects with ``on_round_end(state)``; one that returns True stops training.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices: what the family draws, `subsample`, the order of coordinate
        updates, the split for early stopping. An int makes fits repeatable.
    n_jobs : int or None, default=None
        Number of threads: None is one, -1 all that joblib and ``OMP_NUM_THREADS`` leave, but at
        most one per core. The model does not depend on it.
    verbose : int, default=0
        1 shows a progress bar with loss, gap and errors.
    probability_scale : float or "auto", default="auto"
        Factor of the scores in the softmax of `predict_proba`. "auto" fits it on held-out examples
        if there are any (X_val, or early stopping), else, in stage-wise training of 20 rounds or
        more, on the examples that a holdout run leaves out, else it is 2, which inverts the loss.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X had string feature names.
    categories_ : dict of int to ndarray
        Sorted categories of each categorical column, by its place; defined if there are any.
    family_ : WeakLearnerFamily
        What `weak_learner` names.
    model_ : FittedModel
        Base scores, weak learners, scale and labels as one value.
    init_ : BaseScores or None
        The fitted init model.
    ensemble_ : Ensemble
        The weak learners.
    history_ : dict of ndarrays of shape (n_rounds,)
        objective, dual_bound (best so far, NaN if pricing is not exact, which the family claims),
        gap, max_violation (at the solver's last violation scan, before its last pass; NaN if
        stage-wise), n_nonzero, pricing_seconds, solver_seconds, train_error, valid_error; with
        early stopping also ``valid_`` and the name of the measure; NAME_error and NAME_logloss of
        each set in `eval_sets`.
    n_iter_ : int
        Number of rounds trained.
    best_iteration_ : int
        Number of rounds that the model keeps; less than ``n_iter_`` after early stopping.
    learning_rate_ : float
        The step that these rounds took, see `learning_rate`.
    probability_scale_ : float
        Factor of the scores in the softmax of `predict_proba`.
    stop_reason_ : str
        "n_estimators", "tol", "optimal", "no column", "early stopping", "callback"
        or, after `thin`, "thinned". With "optimal" exact pricing found no weak learner of the
        family that could lower the objective.

    References
    ----------
    .. [1] Lin, Shen, van den Hengel and Suter, "Fast training of effective multi-class boosting
       using coordinate descent optimization", ACCV 2012.

    Examples
    --------
    >>> from cwboost import CWBoostClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(CWBoostClassifier(n_estimators=20).fit(X, y).score(X, y) > 0.95)
    True
    """

    _model_attributes: ClassVar[dict[str, type]] = {
        "n_iter_": int,
        "best_iteration_": int,
        "learning_rate_": float,
        "stop_reason_": str,
    }

    def __init__(
        self,
        weak_learner: str | WeakLearnerFamily | Sequence[str | WeakLearnerFamily] = "auto",
        init: InitModel | ClassifierMixin | str | None = "auto",
        n_estimators: int | str = "auto",
        C: float | None = None,
        correction: str = "stagewise",
        columns_per_round: int = 1,
        max_working_sets: int = 2,
        epsilon: float = 0.1,
        learning_rate: float | None = None,
        subsample: float | None = None,
        solver: str = "fcd",
        tol: float = 1e-7,
        early_stopping: bool | str | Callable[..., float] = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | str = "auto",
        categorical_features: ArrayLike | str | None = "from_dtype",
        monotonic_cst: ArrayLike | Mapping[Any, Any] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        warm_start: bool = False,
        callbacks: list[Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        probability_scale: float | str = "auto",
    ) -> None:
        self._keep_parameters(locals())

    @with_callbacks
    def fit(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_val: Features | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
        eval_sets: Mapping[str, tuple[Any, ...]] | None = None,
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            uint8, float32 and float64 are read as they are; other numbers and bools become
            float64. Columns of categories are encoded, see `categorical_features`.
        y : array-like of shape (n_samples,)
            Labels of any type; at least two classes.
        sample_weight : array-like of shape (n_samples,), >= 0, default=None
            Factors of the examples' losses. A common factor of all changes nothing but rounding.
        X_val, y_val : array-likes, default=None
            Held-out examples, for early stopping and the scale of the probabilities; the history
            records their error.
        sample_weight_val : array-like of shape (n_val,), >= 0, default=None
            Weights of these examples in every measure.
        eval_sets : dict, default=None
            Further examples whose error and log loss the history records, by name: (X, y) or
            (X, y, sample_weight).

        Returns
        -------
        self
        """
        start, task = perf_counter(), self._fit_task(X, y)
        with self._whole():
            settings, previous = settings_of(self), previous_fit(self)
            problem, family = self._prepare(X, y, sample_weight)
            if previous is not None:
                check_continues(self, family, previous)
            given = X_val, y_val, sample_weight_val
            problem, examples = self._held_out(problem, family, given, eval_sets)
            loop = self._begin(problem, family, settings, start, examples, previous)
            del problem  # and with it X in the order of the classes, unless the family keeps it
            self.__dict__.pop("_state", None)
            self._run(loop, task)
        return self

    # ---------------------------------------------------------------- before the first round

    def _held_out(self, problem, family, given, eval_sets):
        """Return the training examples, and by name the others, that training only follows."""
        followed = {"valid": self._check_validation(*given, family)}
        for name, one in sets.check_eval_sets(eval_sets).items():
            names = [f"eval_sets[{name!r}][{k}]" for k in range(3)]
            followed[name] = self._check_held_out(*one, family, names)
        if followed["valid"] is None and self.early_stopping:
            share, seed = self.validation_fraction, self.random_state
            problem, followed["valid"] = sets.split_off(problem, self.classes_, share, seed)
        return problem, {name: one for name, one in followed.items() if one is not None}

    def _start_from(self, problem, family, previous, rng):
        """Return the base scores of a model, and the problem with those of its examples."""
        facts = categorical_facts(self._categories(), self.n_features_in_)
        given = problem, rng, self._n_threads(), facts
        if previous is not None:
            return start_again(previous.init_, *given)
        is_default = family.name == DEFAULT_FAMILY and self.monotonic_cst is None
        model = resolve_init(recipe.init_of(self.init, is_default))
        if model is not None and self.monotonic_cst is not None:
            raise ValueError(
                "init must be 'auto' or None with monotonic_cst, since an init model keeps no "
                f"constraints, got {self.init!r}"
            )
        if self._may_drop(model, previous) and not recipe.is_worth_it(model, *given):
            model = None
        return start_from(model, *given)

    def _may_drop(self, start, previous) -> bool:
        """Return True if the recipe decides whether boosting begins at a start from scores."""
        is_auto = isinstance(self.init, str) and self.init == "auto"
        return is_auto and start is not None and previous is None

    def _plan(self, family, settings: Settings, has_held_out: bool, run) -> recipe.Plan:
        """Settle rounds, scale and early stopping; a holdout run tells what is automatic."""
        is_default = family.name == DEFAULT_FAMILY and settings.stagewise
        watched = watched_metric(self.early_stopping)
        chooses = is_default and isinstance(self.n_estimators, str) and watched is None
        is_auto = isinstance(self.probability_scale, str)
        plan = recipe.Plan(
            recipe.most_rounds(self.n_estimators, is_default, settings),
            LOSS_SCALE if is_auto else float(self.probability_scale),
            LOGLOSS if chooses and has_held_out else watched,
        )
        learns_scale = is_auto and settings.stagewise and plan.n_rounds >= FEWEST_ROUNDS
        if has_held_out or not (chooses or learns_scale):
            return plan
        found = run(plan.n_rounds, chooses) or plan
        found = found.with_enough_rounds() if chooses and self.learning_rate is None else found
        return found if is_auto else replace(found, scale=plan.scale, conformity=None)

    # ---------------------------------------------------------------- training

    def _begin(self, problem, family, settings, start, examples, previous=None):
        """Return the loop of a training that is ready for its first round."""
        rng = self._generator()
        init_rng, run_rng = rng.spawn(2)
        base, problem = self._start_from(problem, family, previous, init_rng)
        bind = self._binding(family, settings, previous)
        run = partial(recipe.holdout_run, problem, bind, self._n_threads(), settings)
        may_drop_base = self._may_drop(base, previous)
        run = partial(recipe.best_run, run, problem.counts, run_rng, may_drop_base)
        plan = self._plan(family, settings, "valid" in examples, run)
        if not plan.keeps_base:
            base, problem = None, replace(problem, base=None)
        followed = sets.followed_sets(examples, self.classes_, plan.watched, base)
        pricer = bind(problem, rng)
        settings = replace(settings, learning_rate=plan.step * settings.learning_rate)
        training = self._training(problem, pricer, settings, followed, previous, rng)
        return self._loop(training, base, plan, start)

    def _binding(self, family, settings: Settings, previous):
        """Return a function that binds the family to a problem with a generator.

        The trainings of one fit differ in weights alone: the next one binds the pricer again, if
        that can be. X goes once the family needs it no more.
        """
        if settings.columns_per_round > 1:
            check_capabilities(family, requires=["several_columns"])
        n_priced = family.capabilities.n_priced(len(self.classes_))
        releases = previous is None and not self._keeps_state()
        first = None

        def bind(problem, rng) -> SealedPricer:
            nonlocal first
            context = self._context(problem, rng, family, n_priced)
            again = None if first is None else first.rebound(context)
            if again is not None:
                return again
            first = None  # and with it what it keeps of X
            first = bind_family(family, problem.matrix[0], context, problem.rows)
            if releases and first.rebound(context) is not None:
                problem.release()
            return first

        return bind

    def _training(self, problem, pricer, settings: Settings, followed, previous, rng):
        """Set up the restricted master, take up an earlier model."""
        master = RestrictedMaster(
            problem.counts, settings.C, problem.weight, self._n_threads(), base=problem.base
        )
        training = ColumnGeneration(pricer, master, settings, rng, followed)
        # This takes a pass over all data, so do it only if a continuation may need it.
        self._data = fingerprint(problem) if self._keeps_state() else None
        if previous is None:
            return training
        ensemble, state = ensemble_and_state(previous)
        if state is None or state["data"] != self._data:
            ensemble, state = previous.ensemble_, None
        resume(training, ensemble, problem.X(), previous.history_, state)
        return training

    def _keeps_state(self) -> bool:
        """Return True if the state for an exact continuation may be needed."""
        asked = [getattr(one, "needs_training_state", False) for one in self.callbacks or []]
        return self.warm_start or any(asked)

    def _loop(self, training, base, plan: recipe.Plan, start) -> RoundLoop:
        """Return the loop over rounds, ready to run."""
        stopping = None
        if plan.watched is not None:
            patience = patience_for(self.n_iter_no_change, training.settings.learning_rate)
            stopping = EarlyStopping(plan.watched, patience)
        n_rounds = max(plan.n_rounds, training.n_rounds)
        known = {"base": base, "scale": plan.scale, "conformity": plan.conformity}
        callbacks = list(self.callbacks or [])
        return RoundLoop(self, training, n_rounds, callbacks, start, stopping, known)

    def _fit_path(self, X, y, sample_weight, Cs, rounds, at_least=0):
        """Train with the first C, then `rounds` more with each further C; yield self after each.

        Train with the last C until there are `at_least` rounds. The results equal those of calls
        of `fit` with ``warm_start``, bit for bit, but columns and sorted features are reused.
        """
        start = perf_counter()
        self.C = float(Cs[0])
        settings = settings_of(self)
        # Of the problem no name stays here, so that X in the order of the classes can go.
        loop = self._begin(*self._prepare(X, y, sample_weight), settings, start, {})
        self._run(loop)
        yield self
        for C in Cs[1:]:
            self.C = float(C)
            n_rounds = loop.training.n_rounds + rounds
            if Cs[-1] == C:
                n_rounds = max(n_rounds, at_least)
            self.n_estimators = n_rounds
            change_C(loop.training, self.C)
            self._run(replace(loop, n_rounds=n_rounds, start=perf_counter()))
            yield self

    # ---------------------------------------------------------------- after training

    def thin(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        C: float | Sequence[float] | str = "auto",
        X_val: Features | None = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Return a model with fewer columns: solve for all coefficients at once over its columns.

        The solve is totally corrective, whatever `correction` trained the columns, and gives most
        of them coefficient zero; these are left out. This classifier does not change.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`, with the same classes; usually the training data.
        C : float, sequence of float or "auto", default="auto"
            Weight of the loss relative to the sum of the coefficients: smaller values keep fewer
            columns. Of several values, the one of smallest log loss on the held-out examples is
            taken, the smallest in case of ties. "auto" tries 11 values from 10 to 1e6.
        X_val, y_val : array-likes, default=None
            Examples that the columns were not trained on: they choose C and set the scale of
            `predict_proba`. Needed unless `C` is one number.

        Returns
        -------
        CWBoostClassifier
            Fitted, with the parameters and the init model of this one. Its staged methods have one
            stage, and ``history_`` one entry per name: the chosen ``C``, the objective, the errors.

        Raises
        ------
        NotFittedError
        TypeError, ValueError
            For a bad argument, other classes than those of the fitted model, or a `C` so small
            that no column stays.

        Warns
        -----
        ConvergenceWarning
            If the solve at the chosen C ended before its violations were small.
        """
        check_is_fitted(self)
        Cs = checked_Cs(C, X_val is not None)
        X = self._check_X(X, reset=False, family=self.family_)
        problem, classes = self._sorted(X, y, sample_weight)
        if not np.array_equal(classes, self.classes_):
            raise ValueError(f"y must have the classes {self.classes_}, got {classes}")
        held_out = self._check_validation(X_val, y_val, None, self.family_)
        rng = self._generator()
        _, problem = self._start_from(problem, self.family_, self, rng.spawn(1)[0])
        thin = copy.copy(self)
        thin.__dict__.pop("_state", None)
        found = solve_thin(self.model_, problem, Cs, rng, self._n_threads(), held_out)
        thin.__dict__.update(found)
        return thin

    def _snapshot(self, fit: RoundLoop) -> CWBoostClassifier:
        """Return a copy of this classifier with all rounds so far, from which it can go on."""
        snapshot = copy.copy(self)
        whole = replace(fit, early_stopping=None)
        snapshot.__dict__.update(self._fitted_attributes(whole, "checkpoint"))
        snapshot._state = self._state_of(fit)
        return snapshot

    def _state_of(self, fit: RoundLoop) -> dict | None:
        """Return what an exact continuation needs."""
        return training_state(fit.training, self._data)

    def _fitted_attributes(self, fit: RoundLoop, stop_reason) -> dict:
        """Return the attributes of the rounds that the model keeps."""
        attributes = super()._fitted_attributes(fit, stop_reason)
        n_rounds, training = attributes["n_iter_"], fit.training
        attributes["learning_rate_"] = training.settings.learning_rate
        model = attributes["model_"]
        if model.base is not None:
            model = replace(model, base_share=training.share_of_base)
        if n_rounds == 0:
            model = predict_prior(model, training.master.class_weights, training.settings.C)
            return attributes | {"model_": model, "best_iteration_": 0}
        best = fit.early_stopping.kept_round if fit.early_stopping else n_rounds
        whole = model.ensemble
        if best < n_rounds:
            model = model.truncate(best)
        for one in training.model.held_out:
            model = one.calibrated(model, isinstance(self.probability_scale, str))
        state = self._state_of(fit) if self.warm_start else None
        if state is not None and best < n_rounds:
            # The rounds after the best one are what an uninterrupted training would go on from.
            state["ensemble"] = whole
        attributes |= {"model_": model, "best_iteration_": best}
        return attributes if state is None else attributes | {"_state": state}
