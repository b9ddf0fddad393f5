"""`CWBoostClassifier`: the parameters, and `fit` from top to bottom."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cwboost.base import BoostingClassifier
from cwboost.input.reading import Arguments
from cwboost.recipe.parameters import Parameters
from cwboost.support.clock import Clock
from cwboost.training.one_machine import OneMachine
from cwboost.training.place import Place
from cwboost.training.refitting import check_has_leaves, refitted
from cwboost.training.resumption import PreviousFit, previous_fit
from cwboost.training.sklearn_callbacks import fit_task, with_callbacks
from cwboost.training.thinning import checked_Cs, thinned

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from sklearn.base import ClassifierMixin
    from typing_extensions import Self

    from cwboost.families.contract import WeakLearnerFamily
    from cwboost.families.init_contract import InitModel
    from cwboost.support.types import Features


class CWBoostClassifier(BoostingClassifier):
    r"""Boosted trees for two classes or many, with settings chosen by the data.

    Without an argument, `fit` takes a table as it is, with categories and gaps. It starts from a
    kernel or logistic regression if that helps out of sample, grows one tree per round for all
    classes, and does as many rounds as a holdout run finds best, which also chooses the depth of
    the trees and the scale of the probabilities. ``plan_`` has what was decided, with reasons. The
    same data and `random_state` give the same model, bit for bit, on any number of threads.

    With ``correction="total"``, it is the method of the paper [1]_: few weak learners, whose
    coefficients are certified by a dual bound; see Notes. ``CWBoostClassifier("stump",
    correction="total")`` gives the smallest certified model: the data choose `C`, which decides on
    its size, and the scale of its probabilities.

    Parameters
    ----------
    weak_learner : str, WeakLearnerFamily or list of these, default="auto"
        Registered name of a family, an instance with its hyper-parameters, or several to mix.
        "auto" is "tree", with the automatic settings of `cwboost.TreeFamily`.
    init : str, InitModel, classifier or None, default="auto"
        Model whose scores boosting starts from: the name of an init model ("kernel", "linear"), an
        `InitModel`, or a classifier of scikit-learn with ``predict_proba``. Its scores of the
        training examples are out of sample. In stage-wise training without constraints, "auto" is
        the one of these two with which a holdout run ends lowest, if it is low enough alone; else
        None, which is pure boosting.
    n_estimators : int or "auto", default="auto"
        Number of rounds; each adds one tree, or at most one column per class. In stage-wise
        training, "auto" is the number that a holdout run finds best, at most
        ``30 / learning_rate``; if fit gets X_val, early stopping on these examples replaces the
        holdout run. With "total" it is 400, and 1000 in all along a path of `C`.
    learning_rate : float or None, default=None
        From 1e-12 to 1. Fraction of the exact coordinate step taken for a new coefficient. None is
        0.1 with "stagewise", and less if a holdout run finds that fewer than 80 rounds suffice: fit
        then does up to 80 smaller ones. "total" solves for every coefficient: None or 1.
    early_stopping : bool, {"logloss", "error", "loss"}, str or callable, default=False
        Stop by a measure on held-out examples: the log loss of calibrated probabilities
        ("logloss" or True), the error rate, the mean pair loss, or a scikit-learn scorer, by name
        or as ``scorer(estimator, X, y)``. The model keeps the rounds up to the best, with log
        loss up to the last that is within 2% of it.
    categorical_features : array-like of bool, int or str, str or None, default="from_dtype"
        Columns of categories: a mask, places or names; "from_dtype" takes the columns of a
        frame with text, bools or a categorical dtype, None takes none. Categories may be text,
        numbers or bools; missing ones, and those not seen in `fit`, count as missing values.
    category_encoding : {"auto", "rank", "target"}, default="auto"
        What weak learners compare of a column of ten categories or more: its rank by frequency
        ("rank"), or the shares of the classes among the rows of the category ("target"), shrunk to
        those of all rows and, for a training row, without its own label (cross-fitted, by `groups`
        and `cv`). Missing and unknown categories get the shares of all. "auto" takes the one whose
        holdout run ends lower, and ranks where none chooses the number of rounds, or C.
    monotonic_cst : array-like or dict, default=None
        1, -1 or 0 per column: the score of the second of two classes never falls, or never rises,
        with it. By class: an array (n_classes, n_features), or a dict of dicts by label. Missing
        values have no order.
    interaction_cst : {"no_interactions", "pairwise"}, sequence of sets or None, default=None
        Sets of columns, by place or name, that may interact: scores become sums of functions of one
        set each. Columns in none of the sets are a further one; the names stand for all sets of one
        column, or of two.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weights of the examples of a class; "balanced" gives all the same total.
        Given held-out examples keep their weights.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices: what the family draws, `subsample`, the order of coordinate
        updates, the split for early stopping (an int; else this is always the same, so that fits
        that go on hold out the same examples). An int makes fits repeatable.
    n_jobs : int or None, default=None
        Number of threads, at most one per core: None is one, or what `joblib.parallel_config` sets;
        -1 all that joblib and ``OMP_NUM_THREADS`` leave. The model does not depend on it. BLAS,
        which fits a kernel model, has threads of its own (``OPENBLAS_NUM_THREADS``).
    verbose : int, default=0
        1 shows a progress bar with loss, gap and errors.
    subsample : float, default=1.0
        In (0, 1]. Fraction of the examples on which a round prices weak learners, drawn at random
        every round.
    validation_fraction : float, default=0.1
        Fraction of the examples held out (stratified) for early stopping, unless fit gets X_val or
        `cv` is given.
    cv : splitter of scikit-learn, iterable of (train, test) rows, or None, default=None
        Chooses which examples the holdout run and early stopping leave out: the test part of the
        last split, in the holdout run on small data also those of up to two splits before it. With
        `TimeSeriesSplit`, the last part of time is held out. None draws by class: whole `groups`
        of `fit`, or without these single rows. A splitter gets all rows, those of weight 0 too.
    n_iter_no_change : int or "auto", default="auto"
        Rounds without improvement after which early stopping stops. "auto" is
        ``15 / learning_rate``, and at least 20.
    tol : float, default=1e-7
        Training stops if a round lowers the objective by less than this fraction of it; if rounds
        draw examples, or the weak learner draws what it prices, if five rounds in a row do.
    probability_scale : float or "auto", default="auto"
        Factor of the scores in the softmax of `predict_proba`. "auto" fits it on held-out examples
        if there are any (X_val, or early stopping), else, in stage-wise training of 20 rounds or
        more, on the examples that a holdout run leaves out, else it is 2, which inverts the loss.
        With `warm_start` and other examples, that of the fitted model stays in place of the run.
    warm_start : bool, default=False
        Continue from the fitted model, with more rounds or other parameters, but weak learners of
        the same kind; what is trained already, the init model too, stays as it is, so that no
        constraints can be added. With the same data and parameters, the result equals that of one
        uninterrupted fit, bit for bit. With other examples, a holdout run cannot imitate the
        training: `n_estimators` must be a number, or X_val given.
    callbacks : list or None, default=None
        Objects with ``on_round_end(state)``; one that returns True stops training. The method
        ``on_fit_end()``, if there is one, is called however training ends.

    Other Parameters
    ----------------
    correction : {"stagewise", "classwise", "total"}, default="stagewise"
        What a round adds and corrects. "stagewise" grows one tree for all classes, and every class
        takes its own step in every leaf; with weak learners that have no leaves to share, such as
        stumps, and with `monotonic_cst` it is "classwise". "classwise" adds one column per class, a
        weak learner with outputs -1 and +1, and corrects the new coefficients (CW-1 of the paper).
        "total" adds the same columns and corrects all coefficients (CW, the method of the paper).
    C : float or None, default=None
        Weight of the loss relative to the sum of the coefficients, or of the steps of leaves; at
        most 1e150: more of it keeps more columns. With "total", None lets the data choose: C
        grows from 2 on, by a factor of 2 in two steps. Each value begins with the columns and
        coefficients before it, and ends when the dual bound proves the objective within 1% of the
        optimum over all weak learners of the family, or, if pricing is not exact, when five rounds
        in a row lower it by less than 0.2% each. Of these models, a holdout run (X_val if it is
        given) takes the first whose log loss is within 2% of the lowest, and training repeats the
        path. Else None is 1e12: the penalty of coefficients then counts nothing, and steps of
        leaves have none.
    max_columns : int, "one_se" or None, default=None
        A smaller model on the path of `C`: the last with at most this number of coefficients, for
        which bisection looks between two values of C, or the smallest within one standard error of
        the lowest log loss.
    max_working_sets : int, default=2
        Passes of coordinate descent per round (tau_max); "stagewise" always does one.
    epsilon : float, default=0.1
        Violation above which "total" corrects a coefficient again; "stagewise" does not use it.
    solver : {"fcd", "fcd_printed", "lbfgsb"}, default="fcd"
        Solver of the restricted master; the others are for comparison, and for "total" only.
        "fcd_printed" is Algorithm 2 exactly as printed: later passes draw with replacement and
        take no subspace steps.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X had string feature names.
    categories_ : dict of int to ndarray
        Categories of each categorical column, by its place, most frequent first; defined if there
        are any.
    family_ : WeakLearnerFamily
        What `weak_learner` names, or a candidate of it that the data chose: deeper trees.
    model_ : FittedModel
        Base scores, weak learners, scale and labels as one value.
    init_ : BaseScores or None
        The fitted init model.
    ensemble_ : Ensemble
        The weak learners.
    history_ : dict of ndarrays of shape (n_rounds,)
        C, learning_rate, objective, dual_bound (best so far, NaN if pricing is not exact, which the
        family claims), gap, max_violation (at the solver's last violation scan, before its last
        pass; NaN if stage-wise), n_nonzero (coefficients of ``ensemble_``; those of leaves that
        have steps are not part of the objective), pricing_seconds, solver_seconds, train_error,
        valid_error (NaN without X_val and early stopping); with early stopping also ``valid_`` and
        the name of the measure; NAME_error, NAME_logloss (at the scale best for the set) and that
        measure of each set in `eval_sets`. The scores of an init model are out of sample in
        objective and train_error.
    n_iter_ : int
        Number of rounds trained.
    best_iteration_ : int
        Number of rounds that the model keeps; less than ``n_iter_`` after early stopping.
    learning_rate_ : float
        The step that these rounds took, see `learning_rate`.
    plan_ : Plan
        What `fit` decided before the first round, and why: ``family``, ``init``, ``n_rounds``,
        ``learning_rate``, ``scale``, ``reasons``, and ``curves``, the log loss of the holdout run
        from each start. Not stored in model files.
    path_ : dict of ndarrays of shape (n_values,)
        Defined if the data chose `C`. What the holdout run measured at each value: C, n_nonzero
        (coefficients), gap (as a share of the objective), error, log_loss with its standard error
        log_loss_se, and scale. ``plan_.Cs[-1]`` is the choice. Not stored in model files.
    probability_scale_ : float
        Factor of the scores in the softmax of `predict_proba`.
    stop_reason_ : str
        "n_estimators", "tol", "optimal", "gap", "no column", "early stopping", "callback",
        "time limit", "interrupted", "failed"; after `thin` "thinned", in a checkpoint "checkpoint".
        With "optimal" exact pricing found no weak learner of the family that could lower the
        objective, with "gap" the dual bound is within 1% of it.

    Notes
    -----
    Every round prices weak learners and corrects the coefficients by fast coordinate descent on

    .. math::

        \min_{\mathrm{coef} \ge 0} \; \sum_j \mathrm{coef}_j + \frac{C}{p}
        \sum_i w_i \sum_{y \ne y_i} e^{-\mathrm{margin}_{i,y}}, \qquad p = (K - 1) \sum_i w_i,

    over K classes and examples of weight w_i. The margin of an example over a class y is the score
    of its own class minus that of y. Stage-wise training has no penalty that counts unless `C` is
    given, and takes a fraction `learning_rate` of each step. Total correction solves the
    problem over all columns in every round; if pricing is exact, as that of stumps, ``history_``
    has a lower bound on its optimum over all weak learners of the family. Early in training this
    bound is far below it: the gap is then much larger than the distance from the optimum.

    The paper's protocol is ``CWBoostClassifier("stump", correction="total", C=1e4)``.

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
        *,
        init: InitModel | ClassifierMixin | str | None = "auto",
        n_estimators: int | str = "auto",
        learning_rate: float | None = None,
        early_stopping: bool | str | Callable[..., float] = False,
        categorical_features: ArrayLike | str | None = "from_dtype",
        category_encoding: str = "auto",
        monotonic_cst: ArrayLike | Mapping[Any, Any] | None = None,
        interaction_cst: Sequence[Collection[Any]] | str | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        subsample: float = 1.0,
        validation_fraction: float = 0.1,
        cv: Any = None,
        n_iter_no_change: int | str = "auto",
        tol: float = 1e-7,
        probability_scale: float | str = "auto",
        warm_start: bool = False,
        callbacks: list[Any] | None = None,
        correction: str = "stagewise",
        C: float | None = None,
        max_columns: int | str | None = None,
        max_working_sets: int = 2,
        epsilon: float = 0.1,
        solver: str = "fcd",
    ) -> None:
        self.weak_learner = weak_learner
        self.init = init
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.early_stopping = early_stopping
        self.categorical_features = categorical_features
        self.category_encoding = category_encoding
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.subsample = subsample
        self.validation_fraction = validation_fraction
        self.cv = cv
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.probability_scale = probability_scale
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.correction = correction
        self.C = C
        self.max_columns = max_columns
        self.max_working_sets = max_working_sets
        self.epsilon = epsilon
        self.solver = solver

    @with_callbacks
    def fit(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
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
            Bools, integers, whole floats or text; at least two classes.
        sample_weight : array-like of shape (n_samples,), >= 0, default=None
            Factors of the examples' losses. A common factor of all changes nothing but rounding.
        groups : array-like of shape (n_samples,), default=None
            Which examples belong together, such as those of one patient, as integers, text or
            dates. Whatever leaves examples out of training leaves out whole groups. Without groups,
            every row is left out by itself, whatever its values.
        X_val, y_val : array-likes, default=None
            Held-out examples, for early stopping and the scale of the probabilities; the history
            records their error.
        sample_weight_val : array-like of shape (n_val,), >= 0, default=None
            Weights of these examples in every measure.
        eval_sets : dict, default=None
            Further examples whose error and log loss, at the scale that is best for them, the
            history records, by name: (X, y) or (X, y, sample_weight).

        Returns
        -------
        self
        """
        start, task = perf_counter(), fit_task(self, X, y)
        # Read: what was asked for, and the rows, checked and encoded.
        parameters, previous = Parameters.of(self), previous_fit(self)
        arguments = Arguments(
            X, y, sample_weight, groups, X_val, y_val, sample_weight_val, eval_sets
        )
        with closing(self._place(arguments, parameters, previous)) as place:
            # Decide: where boosting starts, how long it goes on, and the scale of probabilities.
            runner = place.decide(Clock(start, parameters.time_limit))
            # Train, round by round, and keep what the finished rounds have made.
            runner.train_and_keep(self, start, task)
        return self

    def _place(
        self, arguments: Arguments, parameters: Parameters, previous: PreviousFit | None
    ) -> Place:
        """Return the place of the fit: this machine, with the examples checked and encoded."""
        known = None if previous is None else previous.schema.categories
        return OneMachine(self._learn(arguments, known), parameters, previous)

    # ---------------------------------------------------------------- after training

    def thin(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        C: float | Sequence[float] | str = "auto",
        X_val: Features | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Return a model with fewer columns: solve for all coefficients at once over its columns.

        The solve is totally corrective, whatever `correction` trained the columns, and gives most
        of them coefficient zero; these are left out. Of a tree that all classes share, the signs of
        each class are a column, hence a tree of its own: at the same size, the first rounds of such
        a model have the lower error. This classifier does not change.

        Parameters
        ----------
        X, y, sample_weight, groups
            As for `fit`, with the same classes; usually the training data.
        C : float, sequence of float or "auto", default="auto"
            Weight of the loss relative to the sum of the coefficients: smaller values keep fewer
            columns. Of several values, the one of smallest log loss on the held-out examples is
            taken, the smallest in case of ties. "auto" tries 11 values from 10 to 1e6.
        X_val, y_val : array-likes, default=None
            Examples that the columns were not trained on: they choose C, and set the prediction
            sets and, unless `probability_scale` is a number, the scale of `predict_proba`. Needed
            unless `C` is one number; without them, "auto" is a scale of 2.
        sample_weight_val : array-like of shape (n_val,), >= 0, default=None

        Returns
        -------
        CWBoostClassifier
            Fitted, with the parameters, the init model and ``plan_`` of this one. Its staged
            methods have one stage, and ``history_`` one entry per name: the chosen ``C``, the
            objective, the errors.

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
        arguments = Arguments(X, y, sample_weight, groups, X_val, y_val, sample_weight_val)
        examples = self._read(arguments)
        if not np.array_equal(labels := examples.classes, self.classes_):
            raise ValueError(f"y must have the classes {self.classes_}, got {labels}")
        return self._with(thinned(self.model_, examples, Parameters.of(self), Cs))

    def refit(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        X_val: Features | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Return the model for new rows: its trees, with leaves that have moved to suit the rows.

        Every class takes one more step in every leaf, tree by tree, from the scores that the model
        gives the rows. This costs a fraction of `fit`, and neither the size of the model nor the
        time of predictions changes. The probabilities are calibrated again. This classifier does
        not change.

        Parameters
        ----------
        X, y, sample_weight, groups
            As for `fit`: rows that the model was not trained on. Unknown categories count as
            missing values, as in `predict`. Classes without a row keep their leaves.
        X_val, y_val : array-likes, default=None
            Further rows, to set the scale of `predict_proba` and the prediction sets. Without them
            a fifth of the rows, left out of a second refit, does.
        sample_weight_val : array-like of shape (n_val,), >= 0, default=None

        Returns
        -------
        CWBoostClassifier
            Fitted, with the parameters, the init model and the history of this one.

        Raises
        ------
        NotFittedError
        ValueError
            For a bad argument, an unknown class, or a model whose weak learners have no leaves with
            steps, such as stumps: see `thin`.
        """
        check_is_fitted(self)
        check_has_leaves(self.ensemble_)
        parameters = Parameters.of(self)
        arguments = Arguments(X, y, sample_weight, groups, X_val, y_val, sample_weight_val)
        examples = self._read(arguments)
        if not np.isin(labels := examples.classes, self.classes_).all():
            raise ValueError(
                f"y must have the classes {self.classes_} or some of them, got {labels}: the trees "
                "divide no others, so fit a new model, on rows of all classes"
            )
        return self._with(
            {"model_": refitted(self.model_, examples, parameters, self.learning_rate_)}
        )

    def _with(self, attributes: dict[str, Any]) -> Self:
        """Return a copy with other fitted attributes, which no training can go on from exactly."""
        other = copy.copy(self)
        other.__dict__.pop("_state", None)
        other.__dict__.update(attributes)
        return other
