"""Measures of a model on held-out examples, by name, by scikit-learn scorer or by function."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names

from cwboost.kernels import exp, softmax


@dataclass(frozen=True)
class Metric:
    """A measure of the scores of held-out examples.

    `of` maps `HeldOutScores` to a float. Early stopping keeps the last round whose value is at most
    the fraction `tolerance` above the least.
    """

    name: str
    of: Callable
    greater_is_better: bool = False
    tolerance: float = 0.0


def _error(held_out) -> float:
    scores, y = held_out.class_scores, held_out.y
    return float(np.average(np.argmax(scores, axis=1) != y, weights=held_out.weight))


def _loss(held_out) -> float:
    scores, y = held_out.class_scores, held_out.y
    rows = np.arange(len(y))
    pairs = exp(np.minimum(scores - scores[rows, y][:, None], 700.0))
    pairs[rows, y] = 0.0
    per_example = pairs.sum(axis=1) / (pairs.shape[1] - 1)
    return float(np.average(per_example, weights=held_out.weight))


def _logloss(held_out) -> float:
    return held_out.left_out.scale_and_loss(held_out.class_scores)[1]


ERROR = Metric("error", _error)
"""Fraction of the examples whose largest score is not that of their class."""
LOSS = Metric("loss", _loss)
"""Mean over the pairs of exp(-margin)."""
LOGLOSS = Metric("logloss", _logloss, tolerance=0.02)
"""Mean negative log-likelihood of the labels at the best scale of the scores. While it is flat, the
error still falls: hence the tolerance."""
NAMED = {metric.name: metric for metric in (LOGLOSS, ERROR, LOSS)}


def stopping_metric(early_stopping) -> Metric | None:
    """Return the metric of the parameter `early_stopping`, None for False."""
    if isinstance(early_stopping, bool | np.bool_):
        return LOGLOSS if early_stopping else None
    scorer, is_name = early_stopping, isinstance(early_stopping, str)
    if is_name and scorer in NAMED:
        return NAMED[scorer]
    if not is_scorer(scorer):
        raise (ValueError if is_name else TypeError)(
            f"early_stopping must be a bool, one of {tuple(NAMED)}, the name of a scikit-learn "
            f"scorer or a function scorer(estimator, X, y), got {scorer!r}"
        )
    scorer = get_scorer(scorer)
    inner = getattr(scorer, "_score_func", scorer)
    name = early_stopping if is_name else getattr(inner, "__name__", type(scorer).__name__)
    return Metric(name, partial(_scored, scorer, name, takes_weight(scorer)), True)


def is_scorer(given) -> bool:
    """Return whether `given` is the name of a scorer of scikit-learn, or a function."""
    if isinstance(given, str):
        return given in get_scorer_names()
    return callable(given) and not isinstance(given, type)


def takes_weight(scorer) -> bool:
    """Return whether a scorer has the parameter `sample_weight`, or takes any."""
    parameters = signature(getattr(scorer, "_score_func", scorer)).parameters
    return "sample_weight" in parameters or any(
        one.kind is one.VAR_KEYWORD for one in parameters.values()
    )


def _scored(scorer, name: str, is_weighted: bool, held_out) -> float:
    """Call a scorer with the growing model, as scikit-learn calls it with a fitted one."""
    has_weight, weights, rows = held_out.weight is not None, {}, None
    if has_weight and is_weighted:
        weights = {"sample_weight": held_out.weight}
    elif has_weight:
        rows = _copies(held_out.weight, name)
    model = _GrowingModel(held_out, rows)
    expected = "early_stopping must be a scorer that gives these labels a number, got"
    try:
        value = scorer(model, model.X, model.y, **weights)
    except ValueError as error:
        raise ValueError(f"{expected} {name!r}, which failed: {error}") from error
    if not isinstance(value, Real) or np.isnan(value):
        raise ValueError(f"{expected} {value!r} from {name!r}")
    return float(value)


def _copies(weight, name: str) -> np.ndarray:
    """Return rows, each as often as it weighs, for a scorer that takes no weights."""
    in_units = np.ldexp(weight, 32)
    with np.errstate(invalid="ignore"):  # of weights above 2**31, which become others
        times = in_units.astype(np.int64)
    if (times != in_units).any():
        raise ValueError(
            "early_stopping must be a scorer with the parameter sample_weight, since the weights "
            f"of the held-out examples are not numbers of copies, got {name!r}"
        )
    return np.repeat(np.arange(len(weight)), times // np.gcd.reduce(times))


class _GrowingModel(ClassifierMixin, BaseEstimator):
    """The model of the rounds so far, with the scores of some rows of a set of examples."""

    def __init__(self, held_out, rows=None):
        self.held_out = held_out
        self.rows = slice(None) if rows is None else rows
        self.X = held_out.X if rows is None or held_out.X is None else held_out.X[rows]
        self.classes_ = held_out.classes
        self.y = self.classes_[held_out.y[self.rows]]

    def __sklearn_is_fitted__(self):
        return True

    def _scores(self, X) -> np.ndarray:
        if X is not self.X:
            raise ValueError("X must be the array that the scorer was given")
        return self.held_out.class_scores[self.rows]

    def decision_function(self, X):
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X):
        return self.classes_[np.argmax(self._scores(X), axis=1)]

    def predict_proba(self, X):
        held_out = self.held_out
        scale, _ = held_out.left_out.scale_and_loss(held_out.class_scores)
        return softmax(scale * self._scores(X))
