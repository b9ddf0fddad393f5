"""The base class of every classifier of cwboost: prediction, calibration, explanations, files.

Everything here reads the `FittedModel` that a training leaves behind, and nothing of the training.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cwboost.calibration.calibration import LeftOut
from cwboost.ensemble import inspection, shapley, tables
from cwboost.ensemble.export_rules import export_rule, require_votes, rule_of
from cwboost.ensemble.scorecard import Scorecard, scorecard_of
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.discovery import resolve_weak_learner
from cwboost.families.sealing.forms import check_scores
from cwboost.fitted_model import FittedModel
from cwboost.input.categories import check_categories
from cwboost.input.checks import check_n_jobs, errors_naming
from cwboost.input.examples import Examples
from cwboost.input.labels import encode_labels, read_labels
from cwboost.input.reading import Arguments, read, read_held_out
from cwboost.input.schema import InputSchema
from cwboost.kernels import log_softmax, softmax
from cwboost.model_file.saving import save
from cwboost.support.checks import check_number
from cwboost.support.extras import extra
from cwboost.training.sklearn_callbacks import CallbackSupportMixin

if TYPE_CHECKING:
    import pandas
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from cwboost.ensemble.model import Ensemble
    from cwboost.fitted_model import BaseScores
    from cwboost.support.types import Features, FilePath

PREFIX = "weak_learner__"


class Explanation(NamedTuple):
    """Scores by feature: ``base + init + values.sum(axis=1)`` are the scores.

    Parameters
    ----------
    base : ndarray of shape (n_classes,), float64
        What every example has.
    values : ndarray of shape (n_samples, n_features, n_classes), float64
        What each feature adds.
    init : ndarray of shape (n_samples, n_classes), float64
        What an init model adds that cannot split its scores; zeros otherwise.
    """

    base: np.ndarray
    values: np.ndarray
    init: np.ndarray


class BoostingClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Base of the classifiers: a subclass sets ``model_`` and ``history_`` in ``fit``."""

    _model_attributes: ClassVar[dict[str, type]] = {}
    """Fitted attributes that a model file must hold besides those of all classifiers."""

    classes_: np.ndarray
    history_: dict[str, np.ndarray]
    model_: FittedModel
    n_features_in_: int

    # ---------------------------------------------------------------- parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        With `deep`, those of the weak learner are among them, as ``weak_learner__NAME``, with their
        defaults if it is given by name.
        """
        params = super().get_params(deep)
        if deep and not isinstance(self.weak_learner, WeakLearnerFamily):
            try:
                family = resolve_weak_learner(self.weak_learner)
            except (TypeError, ValueError):
                return params  # `fit` raises the error of the weak learner.
            nested = family.get_params()
            params.update((f"{PREFIX}{name}", value) for name, value in nested.items())
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of the weak learner as ``weak_learner__NAME``; return self.

        A weak learner that is given by name becomes a family with its own of the `params`.
        """
        if any(name.startswith(PREFIX) for name in params):
            spec: Any = params.get("weak_learner", self.weak_learner)
            if not isinstance(spec, WeakLearnerFamily):
                params["weak_learner"] = resolve_weak_learner(spec)
        return super().set_params(**params)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "model_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            capabilities = resolve_weak_learner(self.weak_learner).capabilities
        except (TypeError, ValueError):
            return tags
        tags.input_tags.allow_nan = capabilities.missing_values
        tags.input_tags.sparse = capabilities.sparse_input
        return tags

    # ---------------------------------------------------------------- columns of X

    @property
    def _schema(self) -> InputSchema:
        """The columns of X as `fit` has found them."""
        return InputSchema(
            family=self.family_,
            categorical_features=self.categorical_features,
            n_features=self.n_features_in_,
            names=getattr(self, "feature_names_in_", None),
            categories=getattr(self, "categories_", {}),
        )

    def _learn(self, arguments: Arguments, known=None) -> Examples:
        """Read training examples and learn their columns.

        `known` are the categories of a model that training goes on from.
        """
        learn = partial(
            InputSchema.learn,
            family=resolve_weak_learner(self.weak_learner),
            categorical_features=self.categorical_features,
            known=known,
        )
        return read(arguments, learn, type(self), getattr(self, "class_weight", None))

    def _read(self, arguments: Arguments) -> Examples:
        """Read examples that a method of the fitted model was given."""
        schema = self._schema
        return read(arguments, lambda *_: schema, type(self), self.class_weight, self.classes_)

    def _encoded(self, X):
        """Return X as the matrix of numbers that the weak learners read."""
        if not hasattr(self, "model_"):
            check_is_fitted(self)  # raises; it would ask for the capabilities of the family
        return self._schema.encode(X, type(self))

    @property
    def _compared(self) -> tuple[list[str], dict[int, dict[Any, float]]]:
        """Names of the features that learners compare, and by feature the value of each category.

        Categories are compared by their codes or by target statistics.
        """
        schema, statistics = self._schema, self.model_.statistics
        compared = schema if statistics is None else schema.with_statistics(statistics)
        levels: dict[int, dict[Any, float]] = {
            place: {value: code for code, value in enumerate(known.tolist())}
            for place, known in compared.categories.items()
        }
        if statistics is not None:
            for feature, values in statistics.levels().items():
                known = schema.categories[int(statistics.column[feature])]
                levels[feature] = dict(zip(known.tolist(), values.tolist()))
        return compared.feature_names, levels

    # ---------------------------------------------------------------- after training

    @property
    def ensemble_(self) -> Ensemble:
        """The weak learners of the fitted model, and the path of their coefficients."""
        return self.model_.ensemble

    @property
    def init_(self) -> BaseScores | None:
        """The fitted init model with the factor of its scores; None if there is none."""
        return self.model_.base

    @property
    def probability_scale_(self) -> float:
        """Factor of the scores in the softmax of the probabilities.

        Raises AttributeError if the probabilities have no scale, as those of AdaBoost.
        """
        self._require_scale(AttributeError)
        return self.model_.scale

    def _scores(self, X, n_estimators=None) -> np.ndarray:
        """Return the scores of every class, shape (n_samples, n_classes)."""
        X = self._encoded(X)
        scores = self.model_.scores(X, n_estimators, check_n_jobs(self.n_jobs))
        shape = X.shape[0], self.ensemble_.n_scores
        return self._class_scores(check_scores(scores, self.family_, shape))

    def _staged_scores(self, X):
        X = self._encoded(X)
        for scores in self.model_.staged_scores(X):
            yield self._class_scores(scores)

    @export_rule("identity")
    def _class_scores(self, scores) -> np.ndarray:
        """Decode ensemble scores; identity unless they are code bits."""
        return scores

    def _decision(self, scores) -> np.ndarray:
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _labels(self, scores) -> np.ndarray:
        return self.classes_[np.argmax(scores, axis=1)]

    def decision_function(
        self, X: Features, n_estimators: int | None = None
    ) -> NDArray[np.float64]:
        """Return the scores F(x, y) of the classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        n_estimators : int, default=None
            Use the first rounds only; all by default.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), float64
            With two classes, of shape (n_samples,): the second score minus the first.
        """
        return self._decision(self._scores(X, n_estimators))

    def predict(self, X: Features, n_estimators: int | None = None) -> np.ndarray:
        """Return the class of largest score, the first one in case of ties.

        Parameters
        ----------
        X, n_estimators
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,), of the dtype of ``classes_``
        """
        return self._labels(self._scores(X, n_estimators))

    def predict_proba(self, X: Features, n_estimators: int | None = None) -> NDArray[np.float64]:
        """Return the class probabilities, ``softmax(probability_scale_ * scores)``.

        Those of the AdaBoost classifiers are the ones at which their losses are least.
        `CWBoostClassifier` fits the scale (see its parameter `probability_scale`). If a holdout run
        did so, the first `n_estimators` rounds have a scale of their own. Other classifiers have
        2, which inverts the loss: the minimiser of the expected pairwise exponential loss has
        exp(F_y) proportional to sqrt(P(y | x)). A model that fits its training data closely is
        then overconfident; see `calibrate`.

        Parameters
        ----------
        X, n_estimators
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), float64, rows sum to one
        """
        return softmax(self._logits(self._scores(X, n_estimators), n_estimators))

    def predict_log_proba(
        self, X: Features, n_estimators: int | None = None
    ) -> NDArray[np.float64]:
        """Return the logarithms of `predict_proba`, finite also where probabilities round to 0.

        `X` and `n_estimators` are those of `predict_proba`, and so are shape and dtype.
        """
        return log_softmax(self._logits(self._scores(X, n_estimators), n_estimators))

    def staged_decision_function(self, X: Features) -> Iterator[NDArray[np.float64]]:
        """Yield the scores of `X` after each round, as `decision_function` returns them.

        The last ones are those of the whole model, which without a round has one stage.
        """
        for scores in self._staged_scores(X):
            yield self._decision(scores)

    def staged_predict(self, X: Features) -> Iterator[np.ndarray]:
        """Yield the predictions for `X` after each round, as `predict` returns them."""
        for scores in self._staged_scores(X):
            yield self._labels(scores)

    def staged_predict_proba(self, X: Features) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities for `X` after each round, as `predict_proba` returns them."""
        for n_rounds, scores in enumerate(self._staged_scores(X), 1):
            yield softmax(self._logits(scores, n_rounds))

    def score(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of `predict` for `X` on the labels `y`, by `sample_weight`."""
        return super().score(X, read_labels(y), sample_weight)

    # ---------------------------------------------------------------- files and calibration

    def save(self, path: FilePath, *, staged: bool = True, training_state: bool = False) -> None:
        """Save the fitted model to a file that `cwboost.load_model` reads.

        The file is replaced in one step: a crash while saving leaves an existing file intact. It
        holds no code. Callbacks, ``cv``, a function given as ``early_stopping`` and a generator
        object given as ``random_state`` are not stored: the loaded model has the defaults of these
        parameters. Nor is ``plan_``.

        Parameters
        ----------
        path : path-like
        staged : bool, default=True
            Store the coefficients of every round. False stores only those after the last round:
            the file is smaller after total correction, but the model cannot predict with fewer
            rounds.
        training_state : bool, default=False
            Store the pair weights of a model trained with ``warm_start``, so that the loaded model
            continues training with the same bits.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            If a value cannot be stored, or there is no state of training; the message names it.
        OSError
            If the file cannot be written.
        """
        save(self, path, staged=staged, training_state=training_state)

    def _check_model(self) -> None:
        """Check that the values of a model file are consistent; raise a ValueError if not."""
        check_categories(self._schema.categories, self.n_features_in_)
        if self.model_.statistics is not None:
            self.model_.statistics.check(self._schema.n_categories)
        self._check_scores()

    def _check_scores(self) -> None:
        """Check that the ensemble has the scores that the classes need."""
        ensemble, classes = self.ensemble_, self.classes_
        if ensemble.n_scores != len(classes):
            raise ValueError(
                f"the ensemble has {ensemble.n_scores} scores for {len(classes)} classes"
            )

    def calibrate(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the scale of `predict_proba` on examples that the model was not trained on.

        Predictions and scores do not change. The examples also calibrate `predict_set`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), >= 0, default=None

        Returns
        -------
        self
        """
        self._require_scale()
        held_out = read_held_out(self._scores(X), y, sample_weight, self.classes_)
        self.model_ = LeftOut.of(held_out).calibrated(self.model_, held_out.X)
        return self

    def _require_scale(self, error: type[Exception] = TypeError) -> None:
        if rule_of(self, "_logits") != "scaled":
            raise error(f"{type(self).__name__} computes probabilities without a scale")

    def predict_set(
        self, X: Features, alpha: float = 0.1, by_class: bool = False, allow_empty: bool = True
    ) -> np.ndarray:
        """Return the classes that may be right: sets that rarely lack the true class.

        A set has the classes whose probability is at least a threshold, which examples left out of
        training give (split conformal prediction). On new examples of the same distribution, the
        set lacks the true class with probability `alpha` at most. That is a guarantee for examples
        by which no more than the scale was chosen, those of `calibrate`, but not for the default,
        which calibrates on its holdout run and then trains on all examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        alpha : float, default=0.1
            In (0, 1]: the share of the sets that may lack the true class.
        by_class : bool, default=False
            True keeps that share for the examples of every class, with larger sets. A class with
            fewer than ``1 / alpha - 1`` examples left out is then in every set.
        allow_empty : bool, default=True
            False puts the most probable class into every set, which then lacks the true class less
            often than `alpha` says.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), dtype bool
            True for the classes, in the order of ``classes_``, that belong to the set. Uncertain
            examples have several, those whose most probable class is unlikely may have none.

        Raises
        ------
        ValueError
            If no examples that were left out of training calibrated the model: call `calibrate`.
        TypeError
            If the classifier computes probabilities without a scale.
        """
        self._require_scale()
        check_is_fitted(self)
        conformity = self.model_.conformity
        if conformity is None:
            raise ValueError(
                "predict_set needs examples that training left out: call calibrate(X, y) with some"
            )
        check_number("alpha", alpha, Real, 0.0, 1.0, low_open=True)
        p = self.predict_proba(X)
        sets = p >= conformity.thresholds(float(alpha), p.shape[1], bool(by_class))
        if not allow_empty:
            sets[np.arange(len(p)), p.argmax(axis=1)] = True
        return sets

    @export_rule("scaled")
    def _logits(self, scores, n_rounds: int | None = None) -> np.ndarray:
        """Return what `predict_proba` takes the softmax of; it must increase with the scores.

        The scores are those after the first rounds, None for all.
        """
        return self.model_.scale_at(n_rounds) * scores

    # ---------------------------------------------------------------- inside the model

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the mean squared SHAP values of the scores.

        An ndarray of shape (n_features,), float64, of sum 1, or zeros if no feature moves a score:
        the squares of `shap_values`, added over the classes (of AdaBoost.MO, over the bits) and up
        to 128 training examples, evenly spaced by weight and class: a feature that differs in few
        of all may have 0. They are computed when they are first asked for, or the model is stored.

        Raises AttributeError if the model has no SHAP values, as with learners without a flat form,
        or if the init model does not split its scores.
        """
        self.model_ = self.model_.settled(check_n_jobs(self.n_jobs))
        importances = self.model_.importances
        if importances is None:
            raise AttributeError(
                "feature_importances_ needs a model with SHAP values of all of its scores: use "
                "sklearn.inspection.permutation_importance"
            )
        return importances

    def class_columns(self, label: object) -> inspection.ClassColumns:
        """Return the weak learners of the class `label`, by decreasing absolute coefficient.

        Of two classes, one may have all learners, since only the difference of the scores counts.
        """
        check_is_fitted(self)
        require_votes(self)
        (index,) = encode_labels([label], self.classes_, "label")
        return inspection.class_columns(self.ensemble_, int(index))

    def explain(
        self, X: Features, n_estimators: int | None = None, background: Features | None = None
    ) -> Explanation:
        """Split the scores by feature, exactly.

        Stump models are sums of functions of one feature each: without a background, the parts are
        the values of these functions. Otherwise they are those of `shap_values`.

        Parameters
        ----------
        X, n_estimators, background
            As for `shap_values`.

        Returns
        -------
        Explanation
            ``base + init + values.sum(axis=1)`` are the scores up to rounding: of dense X and stump
            models without an init model (and without the constants of AdaBoost.ECC) bit for bit,
            added in the order of the features.

        Raises
        ------
        TypeError
            If learners have no flat form, as some of third parties, or if the classes' scores are
            not the sums of the learners' votes, as those of AdaBoost.MO.
        ValueError
            If the model needs a background, see `shap_values`.
        """
        check_is_fitted(self)
        require_votes(self)
        ensemble = self.ensemble_
        if background is not None or not inspection.is_additive(ensemble):
            return self.shap_values(X, background, n_estimators)
        X = self._encoded(X)
        ensemble.path.check_rounds(n_estimators, "n_estimators")
        features = self.model_.features(X)
        constant, parts = inspection.contributions(ensemble, features, n_estimators)
        return self._with_init(constant, self.model_.by_column(parts), X, None)

    def shap_values(
        self, X: Features, background: Features | None = None, n_estimators: int | None = None
    ) -> Explanation:
        """Return the SHAP values of the scores: how far each feature moves each class's score.

        Trees and stumps have path-dependent values as of TreeSHAP, exact: the Shapley values of the
        game in which, at a comparison of a feature that is not known, both sides count by the
        weight of the background examples there. Thresholds on directions have Aumann-Shapley
        values: the difference from a background example is spread along the straight line to it,
        and the mean taken over the background. The init model "kernel" has Aumann-Shapley values
        along the line from the mean of the background, integrated with an error below a thousandth
        of the scores' deviation; the scores of init models without such values are not split. The
        values of an example do not depend on the other rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        background : array-like or sparse matrix of shape (n_background, n_features), default=None
            Examples to compare with. None takes those of training, whose weights the trees of
            stage-wise training hold; other models need some, such as those of training. Of
            a model with directions, 100 rows are used, evenly spaced.
        n_estimators : int, default=None
            Use the first rounds only; all by default.

        Returns
        -------
        Explanation
            ``values`` in the order of ``classes_``, also for two classes; ``base`` are the mean
            votes of the background that is used, plus what the init model gives its mean.

        Raises
        ------
        TypeError
            If learners have no flat form, as some of third parties, or if the classes' scores are
            not the sums of the learners' votes.
        ValueError
            If the model needs a background.

        Notes
        -----
        For the plots of the package shap, with a frame `X`: ``shap.Explanation(values, base + init,
        data=np.asarray(X), feature_names=list(X.columns))``. It takes no frame as data.
        """
        X = self._encoded(X)
        with errors_naming("background"):
            background = None if background is None else self._encoded(background)
        self.ensemble_.path.check_rounds(n_estimators, "n_estimators")
        require_votes(self)
        model = self.model_
        compared = None if background is None else model.features(background)
        values, base = shapley.shapley_values(
            model.ensemble, model.features(X), compared, n_estimators, check_n_jobs(self.n_jobs)
        )
        return self._with_init(base, model.by_column(values), X, background)

    def _with_init(self, base, values, X, background) -> Explanation:
        """Return the explanation of the votes with the base scores added, split if they can be."""
        init, n_threads = self.init_, check_n_jobs(self.n_jobs)
        shape = len(values), values.shape[2]
        part = None if init is None else init.shapley_values(X, background, n_threads)
        if part is not None:
            return Explanation(base + part[1], values + part[0], np.zeros(shape))
        left = np.zeros(shape) if init is None else init(X, n_threads)
        return Explanation(base, values, left)

    def to_frame(self, n_estimators: int | None = None) -> pandas.DataFrame:
        """Return the nodes of all learners as a pandas DataFrame, one row per node.

        Parameters
        ----------
        n_estimators : int, default=None
            Use the first rounds only; all by default.

        Returns
        -------
        pandas.DataFrame
            Columns ``learner``, ``round``, ``class``, ``coef``, ``edge`` name the learner and the
            class that it votes for; a learner that votes for several classes is repeated. An edge
            is a share of all weight before the first round; that of a tree in whose leaves all
            classes step is the sum of theirs. ``node``, ``depth``, ``feature``, ``direction``,
            ``threshold``, ``categories``, ``missing``, ``left``, ``right``, ``output`` describe the
            node. An inner node sends an example to node ``right`` if its feature, or the sum of
            features times the entries of its direction (a dict by names), exceeds the threshold, or
            is one of the categories: these are named, too, if the threshold divides their codes. A
            leaf has an output.

        Raises
        ------
        TypeError
            If learners have no flat form, as some of third parties.
        ImportError
            Without pandas.
        """
        with extra("frames", "to_frame needs pandas"):
            import pandas
        check_is_fitted(self)
        self.ensemble_.path.check_rounds(n_estimators, "n_estimators")
        names, levels = self._compared
        rows = tables.node_rows(self.ensemble_, self.classes_, names, levels, n_estimators)
        return pandas.DataFrame(rows, columns=list(tables.COLUMNS))

    def scorecard(self) -> Scorecard:
        """Return the model as tables of points, if every leaf compares at most two columns.

        Stumps give a table per column, trees of depth 2 also tables of pairs. An example gets the
        points of one row of every table; the probabilities that follow from their sum are those of
        `predict_proba`. With ``rounded()``, points are whole numbers.

        Returns
        -------
        Scorecard
            ``to_frame()`` for pandas, ``print`` for text; notebooks show a table.

        Raises
        ------
        TypeError
            If the model has an init model, or learners without comparisons of single columns.
        ValueError
            If a leaf compares more than two columns.

        Examples
        --------
        >>> from cwboost import CWBoostClassifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = CWBoostClassifier("stump", correction="total", C=10, random_state=0).fit(X, y)
        >>> len(clf.scorecard().rounded().to_frame()) < 20
        True
        """
        check_is_fitted(self)
        require_votes(self)
        model, schema = self.model_, self._schema
        scales = {"scaled": model.scale, "scores": 1.0}
        if (rule := rule_of(self, "_logits")) not in scales:
            raise TypeError(
                "a scorecard must be of a model whose probabilities are the softmax of its scores, "
                f"got {type(self).__name__}"
            )
        _, learners, coef = model.ensemble.used()
        trees = learners.flat_form()
        if model.base is not None or trees is None or trees.directions is not None:
            what = "its learners" if model.base is None else f"init={model.base.model.name!r}"
            raise TypeError(
                "a scorecard must be of stumps or trees without an init model, got a model with "
                f"{what}: fit it with correction='total'"
            )
        every = np.arange(schema.n_features)
        return scorecard_of(
            trees,
            coef,
            offset=model.ensemble.offset(),
            scale=scales[rule],
            classes=self.classes_,
            names=schema.feature_names,
            categories=schema.categories,
            column_of=every if model.statistics is None else model.statistics.column,
            compared=model.features,
            encode=self._encoded,
        )

    def strongest(self, label: object = None, n_learners: int = 10) -> pandas.DataFrame:
        """Return the learners of largest coefficients in words, as a pandas DataFrame.

        Parameters
        ----------
        label : a label of ``classes_``, default=None
            One class; None takes all.
        n_learners : int, default=10
            Number of learners per class.

        Returns
        -------
        pandas.DataFrame
            Columns ``class``, ``coef``, ``edge``, ``round`` and ``votes +1 if``.
        """
        check_is_fitted(self)
        check_number("n_learners", n_learners, Integral, 0)
        with extra("frames", "strongest needs pandas"):
            import pandas
        names, levels = self._compared
        parts = [
            tables.strongest(self.class_columns(each), each, names, levels, n_learners)
            for each in (self.classes_ if label is None else [label])
        ]
        rows = [row for part in parts for row in part]
        return pandas.DataFrame(rows, columns=list(tables.STRONGEST))
