"""`CWBoostClassifierCV`: cross-validation of C, along a path of warm starts if it can be."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import check_is_fitted

from cwboost.calibration.metrics import is_scorer, takes_weight
from cwboost.classifier import CWBoostClassifier
from cwboost.input.checks import check_auto, check_Cs
from cwboost.input.columns import as_columns
from cwboost.input.examples import Arguments
from cwboost.input.labels import read_labels
from cwboost.input.splits import folds
from cwboost.recipe.constants import ROUNDS
from cwboost.recipe.parameters import Parameters
from cwboost.support.weights import check_weight

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from cwboost.support.types import Features, FilePath

DEFAULT_CS = {"total": (1e2, 1e3, 1e4, 1e5), "stagewise": (1e4, 1e8, 1e12)}
"""Values of C to choose from, by correction, if none are given."""


class CWBoostClassifierCV(ClassifierMixin, BaseEstimator):
    """`CWBoostClassifier` with C chosen by cross-validation.

    With total correction the values of C share one path of warm starts. On each fold, training does
    the estimator's ``n_estimators`` rounds with the smallest C, which may end earlier by itself;
    each larger C continues from the columns and coefficients of the previous one and adds a few
    rounds. The final model is trained along the same path on all examples up to the chosen C, and
    then with that C up to ``n_estimators`` rounds, if it has fewer.

    Stage-wise training never corrects the coefficients of an earlier C, so each C is a separate
    fit of ``n_estimators`` rounds.

    Parameters
    ----------
    estimator : CWBoostClassifier or None, default=None
        Provides all parameters except C; ``early_stopping`` must be False if ``correction`` is
        "total". None uses the defaults.
    Cs : array-like of float or None, default=None
        Values of C, > 0; the order does not matter. None is 1e2, 1e3, 1e4 and 1e5 with total
        correction; in stage-wise training 1e4, 1e8 and 1e12, the last of which is the default.
    rounds_per_C : int or "auto", default="auto"
        Number of rounds that each further C adds; "auto" is a tenth of the estimator's
        ``n_estimators``. With more rounds, scores of larger C are closer to those of separate fits.
        Stage-wise training does not use it.
    cv : int, cross-validation generator or iterable, default=5
        A number of folds keeps `groups`, or else equal rows, together. Within a fold, `cv` of the
        estimator decides.
    n_jobs : int or None, default=None
        Number of folds trained at a time.
    scoring : str, callable or None, default=None
        Scorer of scikit-learn by which C is chosen, such as "neg_log_loss" or
        "balanced_accuracy"; None is accuracy.

    Attributes
    ----------
    C_ : float
        The value of best mean score on the held-out folds, the smallest in case of ties.
    Cs_ : ndarray of shape (n_Cs,), float64
        Values tried, ascending.
    scores_ : ndarray of shape (n_Cs, n_folds), float64
        Score on the held-out part.
    scorer_ : callable
    best_estimator_ : CWBoostClassifier
        Trained with ``C_`` on all examples. Plots, explanations and staged predictions take it.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X had string feature names.

    Examples
    --------
    >>> from cwboost import CWBoostClassifier, CWBoostClassifierCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> stumps = CWBoostClassifier("stump", correction="total", n_estimators=20)
    >>> search = CWBoostClassifierCV(stumps, Cs=[1e2, 1e4], cv=3).fit(X, y)
    >>> search.C_ in (1e2, 1e4)
    True
    """

    def __init__(
        self,
        estimator: CWBoostClassifier | None = None,
        Cs: ArrayLike | None = None,
        rounds_per_C: int | str = "auto",
        cv: Any = 5,
        n_jobs: int | None = None,
        scoring: str | Callable[..., float] | None = None,
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.rounds_per_C = rounds_per_C
        self.cv = cv
        self.n_jobs = n_jobs
        self.scoring = scoring

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

    def _checked(self) -> tuple[CWBoostClassifier, np.ndarray, int, int]:
        """Check the parameters; return template, values of C, rounds per C and rounds in all."""
        template = self._template()
        if template.early_stopping and template.correction == "total":
            raise ValueError("estimator must have early_stopping=False for a path over C")
        n_rounds = Parameters.of(template).n_estimators or ROUNDS
        given = DEFAULT_CS[template.correction] if self.Cs is None else self.Cs
        Cs = np.array(check_Cs("Cs", given))
        rounds = check_auto("rounds_per_C", self.rounds_per_C, Integral, 1)
        return template, Cs, rounds or max(1, n_rounds // 10), n_rounds

    def fit(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose C and train.

        Parameters
        ----------
        X, y, sample_weight, groups
            As for `CWBoostClassifier.fit`.

        Returns
        -------
        self
        """
        template, Cs, rounds, n_rounds = self._checked()
        scorer = self._scorer(template, sample_weight)
        # A frame keeps its feature names; sparse formats without row indexing become CSR.
        rows: Any = nw.to_native(as_columns(X), pass_through=True)
        rows = rows.tocsr() if sparse.issparse(rows) else rows
        # The checks and messages of the classifier.
        problem = template._learn(Arguments(rows, y, sample_weight, groups)).problem
        labels: np.ndarray = read_labels(y)
        weight = check_weight(sample_weight, len(labels))
        used = np.arange(len(labels)) if weight is None else np.flatnonzero(weight)
        examples = Arguments(rows, labels, weight, problem.holder.groups)
        parts = folds(self.cv, labels, used, problem)
        scores = Parallel(n_jobs=self.n_jobs)(
            delayed(_score_path)(template, Cs, rounds, scorer, examples, fold) for fold in parts
        )
        scores = np.array(scores).T
        best = int(np.argmax(scores.mean(axis=1)))
        needed = Cs[: best + 1] if template.correction == "total" else Cs[best : best + 1]
        *_, model = _models(template, needed, rounds, n_rounds, examples)
        model = model._with({}).set_params(warm_start=False)
        self.Cs_, self.scores_, self.scorer_, self.C_ = Cs, scores, scorer, float(Cs[best])
        self.best_estimator_ = model
        self.classes_ = model.classes_
        self.n_features_in_ = model.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        return self

    def _scorer(self, template: CWBoostClassifier, sample_weight) -> Callable[..., float]:
        if self.scoring is not None and not is_scorer(self.scoring):
            raise ValueError(
                "scoring must be the name of a scikit-learn scorer, a scorer or None, got "
                f"{self.scoring!r}"
            )
        scorer = check_scoring(template, self.scoring)
        if sample_weight is not None and not takes_weight(scorer):
            raise ValueError(
                "scoring must be a scorer with the parameter sample_weight if there are weights, "
                f"got {self.scoring!r}"
            )
        return scorer

    def _fitted(self) -> CWBoostClassifier:
        check_is_fitted(self)
        return self.best_estimator_

    def predict(self, X: Features) -> np.ndarray:
        """As `CWBoostClassifier.predict`."""
        return self._fitted().predict(X)

    def predict_proba(self, X: Features) -> NDArray[np.float64]:
        """As `CWBoostClassifier.predict_proba`."""
        return self._fitted().predict_proba(X)

    def predict_log_proba(self, X: Features) -> NDArray[np.float64]:
        """As `CWBoostClassifier.predict_log_proba`."""
        return self._fitted().predict_log_proba(X)

    def score(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the score of `scoring` for `X` on `y`, by `sample_weight`; default: accuracy."""
        model = self._fitted()
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.scorer_(model, X, y, **weight)

    def decision_function(self, X: Features) -> NDArray[np.float64]:
        """As `CWBoostClassifier.decision_function`."""
        return self._fitted().decision_function(X)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """As `CWBoostClassifier.feature_importances_`."""
        return self._fitted().feature_importances_

    def save(self, path: FilePath, *, staged: bool = True) -> None:
        """Save ``best_estimator_`` as by `CWBoostClassifier.save`; it is loaded as one of these."""
        self._fitted().save(path, staged=staged)


def _models(template, Cs, rounds: int, at_least: int, train: Arguments):
    """Yield a model per value of C: a path of warm starts, or separate fits if stage-wise.

    With each further C, the path does `rounds` more, and with the last at least `at_least` in all.
    """
    is_path = template.correction == "total"
    model = clone(template).set_params(warm_start=is_path)
    for C in Cs.tolist():
        model.set_params(C=C)
        if is_path and Cs[0] < C:
            n_rounds = model.n_iter_ + rounds
            model.set_params(n_estimators=max(n_rounds, at_least) if Cs[-1] == C else n_rounds)
        yield model.fit(train.X, train.y, train.sample_weight, train.groups)


def _score_path(template, Cs, rounds: int, scorer, examples: Arguments, fold):
    """Return the score on the held-out rows of a fold after each C."""
    train, test = (_rows(examples, at) for at in fold)
    weight = {} if test.sample_weight is None else {"sample_weight": test.sample_weight}
    models = _models(template, Cs, rounds, 0, train)
    return [scorer(model, test.X, test.y, **weight) for model in models]


def _rows(examples: Arguments, at) -> Arguments:
    """Return some of the examples."""
    weight, groups = (
        None if one is None else one[at] for one in (examples.sample_weight, examples.groups)
    )
    return Arguments(_safe_indexing(examples.X, at), examples.y[at], weight, groups)
