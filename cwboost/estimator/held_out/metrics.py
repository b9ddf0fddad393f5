"""Measures of a model on held-out examples, by name, by scikit-learn scorer or by function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names

from cwboost.estimator.held_out.calibration import fit_scale, scale_and_loss
from cwboost.kernels import exp, softmax

__all__ = ["ERROR", "LOGLOSS", "NAMED", "Metric", "metric_for"]


@dataclass(frozen=True)
class Metric:
    """A measure of the scores of held-out examples.

    Parameters
    ----------
    name : str
        The history has it under this name, after that of the examples.
    of : callable
        Maps `HeldOutScores` to a float.
    greater_is_better : bool, default=False
    tolerance : float, default=0.0
        Early stopping keeps the last round whose value is at most this fraction above the least.
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
    return scale_and_loss(held_out.class_scores, held_out.y, held_out.weight)[1]


ERROR = Metric("error", _error)
"""Fraction of the examples whose largest score is not that of their class."""
LOSS = Metric("loss", _loss)
"""Mean over the pairs of exp(-margin)."""
LOGLOSS = Metric("logloss", _logloss, tolerance=0.02)
"""Mean negative log-likelihood of the labels at the best scale of the scores. While it is flat, the
error still falls: hence the tolerance."""
NAMED = {metric.name: metric for metric in (LOGLOSS, ERROR, LOSS)}


def metric_for(value, parameter: str) -> Metric:
    """Return the metric that the value of a parameter stands for.

    Parameters
    ----------
    value : str or callable
        A name of `NAMED`, the name of a scikit-learn scorer, or ``scorer(estimator, X, y)``.
    parameter : str
        What an error calls it.

    Raises
    ------
    ValueError, TypeError
        Naming the parameter, what was expected and what came.
    """
    wanted = (
        f"{parameter} must be a bool, one of {tuple(NAMED)}, the name of a scikit-learn scorer or "
        f"a function scorer(estimator, X, y), got {value!r}"
    )
    if isinstance(value, str):
        if value in NAMED:
            return NAMED[value]
        if value not in get_scorer_names():
            raise ValueError(wanted)
        return Metric(value, partial(_scored, get_scorer(value), parameter), True)
    if not callable(value) or isinstance(value, type):
        raise TypeError(wanted)
    inner = getattr(value, "_score_func", value)
    name = getattr(inner, "__name__", type(value).__name__)
    return Metric(name, partial(_scored, value, parameter), True)


def _scored(scorer, parameter, held_out) -> float:
    """Call a scorer with the growing model, as scikit-learn calls it with a fitted one."""
    labels = held_out.classes[held_out.y]
    weights = {} if held_out.weight is None else {"sample_weight": held_out.weight}
    value = scorer(_GrowingModel(held_out), held_out.X, labels, **weights)
    if not isinstance(value, Real) or np.isnan(value):
        raise ValueError(f"the scorer of {parameter} must return a number, got {value!r}")
    return float(value)


class _GrowingModel(ClassifierMixin, BaseEstimator):
    """The model of the rounds so far, which knows the scores of one set of examples."""

    def __init__(self, held_out):
        self.held_out = held_out
        self.classes_ = held_out.classes

    def __sklearn_is_fitted__(self):
        return True

    def _scores(self, X) -> np.ndarray:
        if X is not self.held_out.X:
            raise ValueError("X must be the array that the scorer was given")
        return self.held_out.class_scores

    def decision_function(self, X):
        """Return the scores of the classes; with two, the second minus the first."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X):
        """Return the labels of largest score."""
        return self.classes_[np.argmax(self._scores(X), axis=1)]

    def predict_proba(self, X):
        """Return the class probabilities at the best scale of the scores."""
        scores, held_out = self._scores(X), self.held_out
        scale = fit_scale(scores, held_out.y, held_out.weight)
        return softmax(scale * scores)
