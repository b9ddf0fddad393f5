"""`CWBoostClassifierCV`: cross-validation of C along a path of warm starts."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from cwboost.classifier import CWBoostClassifier
from cwboost.estimator.parameters import check_number

__all__ = ["CWBoostClassifierCV"]


class CWBoostClassifierCV(ClassifierMixin, BaseEstimator):
    """`CWBoostClassifier` with C chosen by cross-validation along a path of warm starts.

    On each fold, training starts with the smallest C; each larger C continues from the columns
    and coefficients of the previous one and adds a few rounds. The final model is trained along
    the same path on all examples up to the chosen C, and then with that C up to the estimator's
    ``n_estimators`` rounds: a few rounds suffice to choose C, but not to reach its lowest error.

    Parameters
    ----------
    estimator : CWBoostClassifier or None, default=None
        Provides all parameters except C; ``correction`` must be "total", since stage-wise training
        does not correct the coefficients from an earlier C. None uses the defaults.
    Cs : array-like of float, default=(1e2, 1e3, 1e4, 1e5)
        Values of C, > 0; the order does not matter.
    rounds_per_C : int or "auto", default="auto"
        Number of rounds that each further C adds; "auto" is a tenth of the estimator's
        ``n_estimators``. With more rounds, scores of larger C are closer to those of separate fits.
    cv : int, cross-validation generator or iterable, default=5
    n_jobs : int or None, default=None
        Number of folds trained at a time.

    Attributes
    ----------
    C_ : float
        The value of best mean accuracy on the held-out folds, the smallest in case of ties.
    Cs_ : ndarray of shape (n_Cs,), float64
        Values tried, ascending.
    scores_ : ndarray of shape (n_Cs, n_folds), float64
        Accuracy on the held-out part.
    best_estimator_ : CWBoostClassifier
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X had string feature names.
    """

    def __init__(
        self,
        estimator=None,
        Cs=(1e2, 1e3, 1e4, 1e5),
        rounds_per_C="auto",
        cv=5,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.Cs = Cs
        self.rounds_per_C = rounds_per_C
        self.cv = cv
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._template()).input_tags
        return tags

    def _template(self) -> CWBoostClassifier:
        if self.estimator is None:
            return CWBoostClassifier()
        if not isinstance(self.estimator, CWBoostClassifier):
            raise TypeError(f"estimator must be a CWBoostClassifier, got {self.estimator!r}")
        return clone(self.estimator)

    def _checked(self) -> tuple[CWBoostClassifier, np.ndarray, int]:
        """Check the parameters; return template, ascending values of C and rounds per C."""
        template = self._template()
        if template.correction != "total":
            raise ValueError(
                "estimator must have correction='total' for a path over C, got "
                f"correction={template.correction!r}"
            )
        if template.early_stopping:
            raise ValueError("estimator must have early_stopping=False for a path over C")
        Cs = np.unique(np.asarray(self.Cs, dtype=np.float64))
        if Cs.ndim != 1 or len(Cs) == 0 or not np.all((Cs > 0) & np.isfinite(Cs)):
            raise ValueError(f"Cs must hold positive finite numbers, got {self.Cs!r}")
        rounds = self.rounds_per_C
        if isinstance(rounds, str) and rounds == "auto":
            rounds = max(1, int(template.n_estimators) // 10)
        return template, Cs, int(check_number("rounds_per_C", rounds, Integral, 1))

    def fit(self, X, y, sample_weight=None):
        """Choose C and train.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), >= 0, default=None

        Returns
        -------
        self
        """
        template, Cs, rounds = self._checked()
        template._prepare(X, y, sample_weight)  # the checks and messages of the classifier
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        y = np.asarray(y).ravel()
        # A frame keeps its feature names; sparse formats without row indexing become CSR.
        rows = X.tocsr() if sparse.issparse(X) else X if hasattr(X, "shape") else np.asarray(X)
        folds = list(check_cv(self.cv, y, classifier=True).split(rows, y))
        scores = Parallel(n_jobs=self.n_jobs)(
            delayed(_score_path)(template, Cs, rounds, rows, y, sample_weight, *fold)
            for fold in folds
        )
        self.Cs_, self.scores_ = Cs, np.array(scores).T
        best = int(np.argmax(self.scores_.mean(axis=1)))
        self.C_ = float(Cs[best])
        *_, model = clone(template)._fit_path(
            rows, y, sample_weight, Cs[: best + 1], rounds, at_least=template.n_estimators
        )
        self.best_estimator_ = model
        self.classes_ = model.classes_
        self.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        return self

    def predict(self, X):
        """As `CWBoostClassifier.predict`."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def predict_proba(self, X):
        """As `CWBoostClassifier.predict_proba`."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    def decision_function(self, X):
        """As `CWBoostClassifier.decision_function`."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @property
    def feature_importances_(self):
        """As `CWBoostClassifier.feature_importances_`."""
        check_is_fitted(self)
        return self.best_estimator_.feature_importances_

    def save(self, path, *, staged=True):
        """Save ``best_estimator_``; `cwboost.load_model` returns it as a `CWBoostClassifier`."""
        check_is_fitted(self)
        self.best_estimator_.save(path, staged=staged)


def _score_path(template, Cs, rounds, X, y, sample_weight, train, test):
    """Return the accuracy on the held-out rows after each C."""
    X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
    weight = None if sample_weight is None else sample_weight[train]
    test_weight = None if sample_weight is None else sample_weight[test]
    return [
        model.score(X_test, y[test], sample_weight=test_weight)
        for model in clone(template)._fit_path(X_train, y[train], weight, Cs, rounds)
    ]
