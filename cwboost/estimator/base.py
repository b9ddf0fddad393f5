"""The base class of every classifier of cwboost: input checks, labels, prediction.

A booster fits in class-sorted order on the examples of positive weight and leaves an `Ensemble`
behind; this module prepares the first and predicts from the second. It holds no mathematics of
boosting.
"""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.validation import (
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from cwboost.estimator.export_rules import export_rule
from cwboost.estimator.fitted import FittedModel
from cwboost.estimator.input.categories import (
    as_columns,
    categorical_facts,
    encode,
    learn_categories,
    refuse_new_categories,
)
from cwboost.estimator.input.columns import call
from cwboost.estimator.input.monotonic import read_constraints
from cwboost.estimator.nested import NestedWeakLearner
from cwboost.estimator.parameters import check_jobs, check_weight
from cwboost.estimator.problem import (
    Problem,
    check_labels,
    find_missing,
    read_only,
    sort_by_class,
)
from cwboost.estimator.rounds import Fit, Outcome
from cwboost.families.contract import BindContext
from cwboost.families.discovery import check_capabilities, resolve_weak_learner
from cwboost.families.sealing import SealedPricer, bind_family
from cwboost.kernels import canonical, readable, usable_threads

__all__ = ["BoostingClassifier"]

FEATURE_DTYPES = (np.float64, np.float32, np.uint8)


class BoostingClassifier(NestedWeakLearner, FittedModel, ClassifierMixin, BaseEstimator):
    """Base of the classifiers: a subclass sets ``ensemble_`` and ``history_`` in ``fit``."""

    def __sklearn_is_fitted__(self):
        return hasattr(self, "ensemble_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            capabilities = resolve_weak_learner(self.weak_learner).capabilities
        except (TypeError, ValueError):
            return tags
        tags.input_tags.allow_nan = capabilities.missing_values
        tags.input_tags.sparse = capabilities.sparse_input
        return tags

    # ---------------------------------------------------------------- before training

    def _check_X(self, X, *, reset, family):
        """Check a feature matrix for this estimator and what its family can take."""
        if sparse.issparse(X) and X.ndim == 2:
            # First of all: conversions write where the indices point.
            X = canonical(X)
        columns = as_columns(X)
        if reset:
            self._set_categories(learn_categories(columns, self.categorical_features))
        categories = self._categories()
        refuse_new_categories(columns, categories, self.categorical_features)
        if categories:
            validate_data(self, X, reset=reset, skip_check_array=True)  # names and their number
            X = encode(columns, categories, FEATURE_DTYPES)
        else:
            encode(columns, {}, FEATURE_DTYPES)  # refuses what is not a number
            X = validate_data(
                self,
                X,
                reset=reset,
                accept_sparse=["csr", "csc"],
                dtype=FEATURE_DTYPES,
                ensure_all_finite=False,
            )
        X = X if sparse.issparse(X) else readable(X)
        check_capabilities(family, n_categories=self._n_categories_by_name())
        has_missing = find_missing(X, family)
        check_capabilities(family, has_missing=has_missing, is_sparse=sparse.issparse(X))
        return X

    def _set_categories(self, categories: dict) -> None:
        """Set or remove ``categories_``, which only models with categorical columns have."""
        self.__dict__.pop("categories_", None)
        if categories:
            self.categories_ = categories

    def _n_categories_by_name(self) -> dict[str, int]:
        """Return the number of categories of each categorical column, by its name or place."""
        names = getattr(self, "feature_names_in_", None)
        return {call(place, names): len(known) for place, known in self._categories().items()}

    def _prepare(self, X, y, sample_weight=None) -> tuple[Problem, object]:
        """Check X, y and the weights; set ``classes_``: the sorted problem, the family."""
        family = resolve_weak_learner(self.weak_learner)
        X = self._check_X(X, reset=True, family=family)
        problem, self.classes_ = self._sorted(X, y, sample_weight)
        return problem, family

    def _sorted(self, X, y, sample_weight) -> tuple[Problem, np.ndarray]:
        """Check y and the weights for a checked X: the sorted problem, the classes."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        assert_all_finite(y, input_name="y")
        check_labels(y)
        class_weight = getattr(self, "class_weight", None)
        return sort_by_class(X, y, sample_weight, class_weight)

    def _check_validation(self, X_val, y_val, family):
        """Held-out examples given to `fit`, y encoded: None, or (X_val, y_val)."""
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val must be given together")
        if X_val is None:
            return None
        return self._check_held_out(X_val, y_val, None, family)[:2]

    def _check_held_out(self, X, y, weight, family, names=("X_val", "y_val", "sample_weight_val")):
        """Check examples that training only follows; return X, y encoded, and the weights."""
        X = self._check_X(X, reset=False, family=family)
        y = self._encode(column_or_1d(y), names[1])
        if len(y) != X.shape[0]:
            raise ValueError(
                f"{names[0]} has {X.shape[0]} rows and {names[1]} {len(y)}: they must be equal"
            )
        return X, y, check_weight(weight, len(y), names[2])

    def _generator(self) -> np.random.Generator:
        """The one generator of a fit, from ``random_state``."""
        seed = check_random_state(self.random_state).randint(2**32, size=4, dtype=np.uint32)
        return np.random.Generator(np.random.PCG64([int(word) for word in seed]))

    def _bind(self, problem: Problem, family, n_targets: int, rng) -> SealedPricer:
        """The family bound to the problem, its pricing sealed."""
        has_names = hasattr(self, "feature_names_in_")
        monotonic = self._monotonic(family)
        context = BindContext(
            n_targets=n_targets,
            random_state=rng,
            n_threads=self._n_threads(),
            y=read_only(problem.y),
            class_counts=read_only(problem.counts),
            feature_names=tuple(self._feature_names()) if has_names else None,
            monotonic=None if monotonic is None else read_only(monotonic),
            **categorical_facts(self._categories(), self.n_features_in_),
        )
        return bind_family(family, problem.X, context)

    def _monotonic(self, family):
        """The monotonic constraints by class and feature, None if there are none."""
        given = getattr(self, "monotonic_cst", None)
        names = getattr(self, "feature_names_in_", None)
        found = read_constraints(
            given, self.classes_, self.n_features_in_, names, self._categories()
        )
        if found is not None:
            check_capabilities(family, requires=["monotonic"])
        return found

    def _n_threads(self) -> int:
        """Threads for ``n_jobs``: None is one outside a joblib context, -1 all."""
        return usable_threads(effective_n_jobs(check_jobs(self.n_jobs)))

    def _encode(self, y, name="y_val") -> np.ndarray:
        """Class index of each label; an unknown label is an error that calls `y` by `name`."""
        index = np.searchsorted(self.classes_, y)
        index = np.minimum(index, len(self.classes_) - 1)
        if not np.array_equal(self.classes_[index], y):
            unknown = np.asarray(y)[self.classes_[index] != y][0]
            raise ValueError(f"{name} must hold only training labels, got {unknown!r}")
        return index

    # ---------------------------------------------------------------- training

    @contextmanager
    def _whole(self):
        """Keep the former model whole if `fit` ends before it has another one."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            if self.__dict__.get("ensemble_") is before.get("ensemble_"):
                self.__dict__.clear()
                self.__dict__.update(before)
            raise

    def _run(self, fit: Fit) -> None:
        """Do the rounds of a fit and take what they give, also if an error ended them early."""
        try:
            outcome = fit.run()
            self._take(fit, outcome)
        except KeyboardInterrupt as error:
            # It came while the model was put together: do that again, then pass it on.
            outcome = Outcome("interrupted", error)
            self._take(fit, outcome)
        if outcome.error is not None:
            raise outcome.error

    def _take(self, fit: Fit, outcome: Outcome) -> None:
        """Become the model of the finished rounds; stay the former one if there are none."""
        if outcome.error is None or fit.training.n_rounds:
            self.__dict__.update(self._fitted_attributes(fit, outcome.stop_reason))

    def _fitted_attributes(self, fit: Fit, stop_reason: str) -> dict:
        """Return the fitted attributes by name; a subclass adds its own."""
        ensemble = fit.training.model.ensemble()
        history = fit.training.model.history
        return {
            "ensemble_": ensemble,
            "n_iter_": ensemble.n_rounds,
            "history_": {name: np.array(values) for name, values in history.items()},
            "family_": fit.family,
            "stop_reason_": stop_reason,
        }

    def _snapshot(self, fit: Fit):
        """Return a copy of this classifier from which training can go on."""
        raise TypeError(f"{type(self).__name__} has no warm start, hence no checkpoints")

    # ---------------------------------------------------------------- after training

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first."
            )

    def _check_predict(self, X):
        self._require_fitted()
        return self._expanded(self._check_X(X, reset=False, family=self.family_))

    def _expanded(self, X):
        """Return a checked X with the columns that the classifier adds, if it adds any."""
        return X

    def _n_columns(self) -> int:
        """Return the number of columns that weak learners see."""
        return self.n_features_in_

    def _scores(self, X, n_estimators=None) -> np.ndarray:
        """Return the scores of every class, shape (n_samples, n_classes)."""
        X = self._check_predict(X)
        self.ensemble_.path.check_rounds(n_estimators, "n_estimators")
        scores = self.ensemble_.scores(X, n_rounds=n_estimators, n_threads=self._n_threads())
        return self._class_scores(scores)

    def _staged_scores(self, X):
        X = self._check_predict(X)
        for scores in self.ensemble_.staged_scores(X):
            yield self._class_scores(scores)

    @export_rule("identity")
    def _class_scores(self, scores) -> np.ndarray:
        """Return class scores from ensemble scores; the same unless those are scores of bits."""
        return scores

    def _decision(self, scores) -> np.ndarray:
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _labels(self, scores) -> np.ndarray:
        return self.classes_[np.argmax(scores, axis=1)]

    def decision_function(self, X, n_estimators=None):
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

    def predict(self, X, n_estimators=None):
        """Return the class of largest score, the first one in case of ties.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        n_estimators : int, default=None
            Use the first rounds only; all by default.

        Returns
        -------
        ndarray of shape (n_samples,), of the dtype of the training labels
        """
        return self._labels(self._scores(X, n_estimators))

    def predict_proba(self, X, n_estimators=None):
        """Return the class probabilities, ``softmax(probability_scale_ * scores)``.

        `CWBoostClassifier` fits the scale (see its parameter `probability_scale`). Elsewhere it is
        2, which inverts the loss: the minimiser of the expected pairwise exponential loss has
        exp(F_y) proportional to sqrt(P(y | x)). A model that fits its training data closely is
        then overconfident; see `calibrate`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        n_estimators : int, default=None
            Use the first rounds only; all by default.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), float64, rows sum to one
        """
        return softmax(self._logits(self._scores(X, n_estimators)), axis=1)

    def predict_log_proba(self, X, n_estimators=None):
        """Return the logarithms of the class probabilities, finite also where those round to 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        n_estimators : int, default=None
            Use the first rounds only; all by default.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), float64
        """
        return log_softmax(self._logits(self._scores(X, n_estimators)), axis=1)

    def staged_decision_function(self, X):
        """Yield the scores of `X` after each round, as `decision_function` returns them."""
        for scores in self._staged_scores(X):
            yield self._decision(scores)

    def staged_predict(self, X):
        """Yield the predictions for `X` after each round, as `predict` returns them."""
        for scores in self._staged_scores(X):
            yield self._labels(scores)

    def staged_predict_proba(self, X):
        """Yield the probabilities for `X` after each round, as `predict_proba` returns them."""
        for scores in self._staged_scores(X):
            yield softmax(self._logits(scores), axis=1)
