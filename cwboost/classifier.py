"""`CWBoostClassifier`: class-wise boosting as a scikit-learn estimator."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import ClassVar

from cwboost.column_generation import ColumnGeneration
from cwboost.estimator.base import BoostingClassifier
from cwboost.estimator.defaults import chosen, settings_of
from cwboost.estimator.held_out.calibration import LOSS_SCALE, predict_prior
from cwboost.estimator.held_out.fitting import FitsWithHeldOut
from cwboost.estimator.held_out.pilot import Pilots
from cwboost.estimator.input.resemblance import UsesSimilarity
from cwboost.estimator.problem import fingerprint
from cwboost.estimator.resumption import (
    change_C,
    check_continues,
    family_to_continue,
    previous_fit,
    resume,
    training_state,
)
from cwboost.estimator.rounds import Fit
from cwboost.estimator.thinning import ThinModels
from cwboost.families.discovery import check_capabilities
from cwboost.master import RestrictedMaster

__all__ = ["CWBoostClassifier"]


class CWBoostClassifier(FitsWithHeldOut, UsesSimilarity, ThinModels, BoostingClassifier):
    """Multi-class boosting by column generation with separate weak learners for each class.

    Every round prices one weak learner per class and corrects the coefficients by fast coordinate
    descent on

        min over coef >= 0 of  sum coef + (C/p) sum over i, y != y_i of w_i exp(-margin_(i,y)),

    with p = (n_classes - 1) sum w_i [1]_.

    Parameters
    ----------
    weak_learner : str, WeakLearnerFamily or list of these, default="auto"
        Registered name of a family, an instance with its hyper-parameters, or several to mix.
        "auto" mixes trees with discriminant directions; see `cwboost.families.AutoFamily`.
    n_estimators : int, default=400
        Number of rounds; each adds at most one column per class. Up to 400, stage-wise training
        with the weak learner "auto" ends before, where later rounds hardly change the model: when
        learning rates sum up to 15 (150 rounds) if scores of similarity vote or there are more than
        65,536 examples, and to 20 if these scores are nearly as good as a pilot.
    C : float or None, default=None
        Weight of the loss relative to the sum of the coefficients; at most 1e150. None is 1e4 with
        "total"; with "stagewise" it means no penalty of the coefficients, computed with 1e12.
    correction : {"stagewise", "total"}, default="stagewise"
        Correct only the new coefficients of each round (CW-1) or all of them (CW, the method of
        the paper).
    columns_per_round : int, default=1
        Largest number of columns per class and round. Several need fewer rounds for the same
        objective, and less time if the search for weak learners dominates it. Stumps only: the best
        stumps of as many random groups of features.
    max_working_sets : int, default=2
        Passes of coordinate descent per round (tau_max); "stagewise" always does one.
    epsilon : float, default=0.1
        Violation above which "total" corrects a coefficient again; "stagewise" does not use it.
    learning_rate : float or None, default=None
        In (0, 1]. Fraction of the exact coordinate step taken for a new coefficient. None is 0.1
        with "stagewise". "total" solves for every coefficient, so that it must be None or 1.
    subsample : float or None, default=None
        In (0, 1]. Fraction of the examples on which a round prices weak learners, drawn at random
        every round. None is 0.5 with "stagewise" and 1 with "total".
    sampling : {"uniform", "mvs"}, default="uniform"
        How these are drawn: each with the same probability, or with one proportional to the sum of
        its pair weights (minimal variance sampling), which needs fewer examples for the same error.
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
        Columns of categories: a mask, places or names; "from_dtype" takes the columns of a pandas
        or polars frame that have a categorical dtype, None takes none. Categories may be text,
        numbers or bools; missing ones, and those not seen in `fit`, count as missing values.
    monotonic_cst : array-like or dict, default=None
        1, -1 or 0 per column: the score of the second of two classes never falls, or never rises,
        with it. By class: an array (n_classes, n_features), or a dict of dicts by label.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weights of the examples of a class; "balanced" gives all the same total.
    warm_start : bool, default=False
        Continue from the fitted model, with more rounds or other parameters. With the same data
        and parameters, the result equals that of one uninterrupted fit, bit for bit.
    callbacks : list or None, default=None
        Objects with ``on_round_end(state)``; one that returns True stops training.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices: what the family draws, `subsample`, the order of coordinate
        updates, the split for early stopping. An int makes fits repeatable.
    n_jobs : int or None, default=None
        Number of threads: None is one, -1 all. The model does not depend on it.
    verbose : int, default=0
        1 shows a progress bar with loss, gap and errors.
    probability_scale : float or "auto", default="auto"
        Factor of the scores in the softmax of `predict_proba`. "auto" fits it on held-out examples
        if there are any (X_val, or early stopping), else on examples that a short pilot training
        leaves out; models of fewer than 20 rounds have 2, which inverts the loss.
    similarity : bool or "auto", default="auto"
        Give weak learners further columns: scores of a kernel ridge regression, which say how much
        an example resembles the training examples of each class. "auto" does with the weak learner
        "auto" and dense numbers, if none is missing, there are no constraints, and no pilot without
        scores is clearly better. With this weak learner, scores also vote: they are added to those
        of the model, if they predict examples left out better. True keeps all rounds then.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X had string feature names.
    categories_ : dict of int to ndarray
        Sorted categories of each categorical column, by its place; defined if there are any.
    family_ : WeakLearnerFamily
        What `weak_learner` names, with the parameters that a pilot has chosen; see `AutoFamily`.
    ensemble_ : Ensemble
    history_ : dict of ndarrays of shape (n_rounds,)
        Of the weak learners alone: objective, dual_bound (best so far, NaN if pricing is not
        exact), gap, max_violation (at the solver's last violation scan, before its last pass; NaN
        if stage-wise), n_nonzero, pricing_seconds, solver_seconds, train_error, valid_error; with
        early stopping also ``valid_`` and the name of the measure; NAME_error and NAME_logloss of
        each set in `eval_sets`.
    n_iter_ : int
        Number of rounds trained.
    best_iteration_ : int
        Number of rounds that the model keeps; less than ``n_iter_`` after early stopping.
    probability_scale_ : float
        Factor of the scores in the softmax of `predict_proba`.
    similarity_ : SimilarityScores
        Defined if weak learners have scores of similarity as last columns.
    similarity_votes_ : int
        How many of the learners, the first ones, write votes of similarity; if `similarity_` is.
    stop_reason_ : str
        "n_estimators", "enough", "tol", "optimal", "no column", "early stopping", "callback"
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
        "stop_reason_": str,
        "probability_scale_": float,
    }

    def __init__(
        self,
        weak_learner="auto",
        n_estimators=400,
        C=None,
        correction="stagewise",
        columns_per_round=1,
        max_working_sets=2,
        epsilon=0.1,
        learning_rate=None,
        subsample=None,
        sampling="uniform",
        solver="fcd",
        tol=1e-7,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change="auto",
        categorical_features="from_dtype",
        monotonic_cst=None,
        class_weight=None,
        warm_start=False,
        callbacks=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
        probability_scale="auto",
        similarity="auto",
    ):
        self.weak_learner = weak_learner
        self.n_estimators = n_estimators
        self.C = C
        self.correction = correction
        self.columns_per_round = columns_per_round
        self.max_working_sets = max_working_sets
        self.epsilon = epsilon
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.sampling = sampling
        self.solver = solver
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.probability_scale = probability_scale
        self.similarity = similarity

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        X_val=None,
        y_val=None,
        sample_weight_val=None,
        eval_sets=None,
    ):
        """Train.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            uint8, float32 and float64 are read as they are; other numbers and bools become
            float64. Columns of categories are encoded, see `categorical_features`.
        y : array-like of shape (n_samples,)
            Labels of any type; at least two classes.
        sample_weight : array-like of shape (n_samples,), >= 0, default=None
            Factors of the examples' losses; a common factor changes nothing.
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
        start = perf_counter()
        with self._whole():
            settings = settings_of(self)
            previous = previous_fit(self)
            problem, family = self._prepare(X, y, sample_weight)
            if previous is not None:
                check_continues(self, previous)
            given = X_val, y_val, sample_weight_val
            problem, *others = self._held_out(problem, family, given, eval_sets)
            training, resumed, pilots = self._training(problem, family, settings, others, previous)
            decision = self._decided(training, pilots)
            self.__dict__.pop("_state", None)
            enough = self._enough(training, decision)
            self._run(self._fit(training, resumed, start, enough))
            self._learn_scale(training, pilots, decision)
        return self

    def _fit_path(self, X, y, sample_weight, Cs, rounds, at_least=0, calibrated=False):
        """Train with the first C, then `rounds` more with each further C; yield self after each.

        Train with the last C until there are `at_least` rounds. The results equal those of calls
        of `fit` with ``warm_start``, bit for bit, but columns and sorted features are reused. The
        scale of the probabilities is fitted only if `calibrated`.
        """
        start = perf_counter()
        self.C = float(Cs[0])
        settings = settings_of(self)
        problem, family = self._prepare(X, y, sample_weight)
        training, _, pilots = self._training(problem, family, settings, (None, {}), None)
        self._run(self._fit(training, None, start))
        if calibrated:
            self._learn_scale(training, pilots, self._decided(training, pilots))
        yield self
        for C in Cs[1:]:
            self.C = float(C)
            self.n_estimators = training.n_rounds + rounds
            if Cs[-1] == C:
                self.n_estimators = max(self.n_estimators, at_least)
            change_C(training, self.C)
            self._run(self._fit(training, None, perf_counter()))
            if calibrated:
                self._learn_scale(training, pilots, self._decided(training, pilots))
            yield self

    # ---------------------------------------------------------------- training

    def _training(self, problem, family, settings, others, previous):
        """Append scores, bind the family, set up the restricted master, take up an earlier model.

        `others` are the held-out examples and the evaluation sets that training follows.

        Returns
        -------
        training : ColumnGeneration
        resumed : dict or None
            The state from which training goes on bit for bit.
        pilots : Pilots
        """
        if settings.columns_per_round > 1:
            check_capabilities(family, requires=["several_columns"])
        rng, n_threads = self._generator(), self._n_threads()
        run_trial = partial(self._trial, family=family, settings=settings, rng=rng)
        problem, trial = self._with_similarity(problem, family, previous, run_trial)
        held_out = self._followed_sets(*others)
        pilots = Pilots(problem, n_threads, rng) if trial is None else trial.pilots
        if previous is None:
            pricer = self._chosen_pricer(problem, family, settings, rng, pilots, trial)
        else:
            family = family_to_continue(family, previous["family"])
            pricer = self._bind(problem, family, len(self.classes_), rng)
        master = RestrictedMaster(problem.counts, chosen(self).C, problem.weight, n_threads)
        training = ColumnGeneration(pricer, master, settings, rng, held_out)
        if previous is None:
            # This takes a pass over all data, so do it only if a continuation may need it.
            self._data = fingerprint(problem) if self._keeps_state() else None
            return training, None, pilots
        state = previous["state"]
        needed = state is not None or self._keeps_state()
        self._data = fingerprint(problem) if needed else None
        resumed = state if state is not None and state["data"] == self._data else None
        resume(training, previous["ensemble"], problem.X, previous["history"], resumed)
        return training, resumed, pilots

    def _keeps_state(self) -> bool:
        """Return True if the state for an exact continuation may be needed."""
        wanted = (
            getattr(callback, "needs_training_state", False) for callback in self.callbacks or []
        )
        return self.warm_start or any(wanted)

    def _fit(self, training, resumed, start, enough=None) -> Fit:
        """Return the fit in progress, ready to run."""
        stopping = self._stopping(None if resumed is None else resumed.get("early_stopping"))
        family = training.pricer.family
        return Fit(self, training, family, list(self.callbacks or []), start, stopping, enough)

    def _snapshot(self, fit) -> CWBoostClassifier:
        """Return a copy of this classifier with all rounds so far, from which it can go on."""
        snapshot = copy.copy(self)
        whole = replace(fit, early_stopping=None)
        snapshot.__dict__.update(self._fitted_attributes(whole, "checkpoint"))
        snapshot._state = {**training_state(fit.training), "data": self._data}
        if fit.early_stopping is not None:
            snapshot._state["early_stopping"] = fit.early_stopping.state()
        return snapshot

    def _fitted_attributes(self, fit, stop_reason) -> dict:
        attributes = self._kept_attributes(fit, stop_reason)
        goes_on = self.warm_start and 0 < attributes["n_iter_"] == attributes["best_iteration_"]
        if goes_on and (state := training_state(fit.training)) is not None:
            attributes["_state"] = {**state, "data": self._data}
        return attributes

    def _kept_attributes(self, fit, stop_reason) -> dict:
        """Return the attributes of the rounds that the model keeps."""
        attributes = super()._fitted_attributes(fit, stop_reason)
        n_rounds, stopping = attributes["n_iter_"], fit.early_stopping
        if n_rounds == 0:
            weights = fit.training.master.class_weights
            return attributes | {
                "ensemble_": predict_prior(attributes["ensemble_"], weights, chosen(self).C),
                "best_iteration_": 0,
                "probability_scale_": LOSS_SCALE,
            }
        best = stopping.kept_round if stopping else n_rounds
        ensemble, held_out = attributes["ensemble_"], fit.training.model.held_out
        if best < n_rounds:
            ensemble = ensemble.truncate(best)
        return attributes | {
            "ensemble_": ensemble,
            "best_iteration_": best,
            "probability_scale_": self._scale(ensemble, held_out),
        }
