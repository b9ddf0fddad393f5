"""The init model that ``init`` asks for, scikit-learn classifiers as init models, their scores."""

from dataclasses import dataclass

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import (
    GridSearchCV,
    PredefinedSplit,
    RandomizedSearchCV,
    cross_val_predict,
)
from sklearn.utils.validation import has_fit_parameter

from cwboost.families.discovery import get_init
from cwboost.families.init_contract import FittedInit, InitContext, InitModel
from cwboost.families.sealing.faults import check_array
from cwboost.kernels import log
from cwboost.support.warnings import warn_caller

SMALLEST_PROBABILITY = 1e-6
"""Least probability of a class whose logarithm is a score: trees and neighbours give zero."""

MOST_COPIES = 4
"""Copies per example that a classifier without weights may get in their place, in the mean."""


def resolve_init(spec) -> InitModel | None:
    """Return the init model that ``init`` asks for: by name, an instance, a classifier, or None."""
    if spec is None or isinstance(spec, InitModel):
        return spec
    if isinstance(spec, str):
        return get_init(spec)()
    if _has_probabilities(spec):
        return SklearnInit(spec)
    raise TypeError(
        "init must be 'auto', None, the name of an init model, an InitModel, or a classifier with "
        f"predict_proba, got {spec!r}"
    )


def _has_probabilities(spec) -> bool:
    is_estimator = isinstance(spec, BaseEstimator)
    return is_estimator and is_classifier(spec) and hasattr(spec, "predict_proba")


def checked_fit(found, model: InitModel):
    """Return the fitted model and its scores; raise a TypeError unless `found` is this pair."""
    if not (isinstance(found, tuple) and len(found) == 2):
        raise TypeError(
            f"init model {model.name!r}: fit must return the fitted model and the scores of the "
            f"training examples, or (None, None), got {type(found).__name__}"
        )
    return found


def checked_scores(scores, model: InitModel, shape) -> np.ndarray:
    """Return scores of an init model; raise a ValueError unless they are finite, of a shape."""
    what = f"init model {model.name!r}: scores"
    check_array(what, scores, np.dtype(np.float64), shape, ValueError)
    if not np.isfinite(scores).all():
        raise ValueError(f"{what} must be finite")
    return scores


@dataclass(frozen=True, eq=False)
class OpaqueInit(FittedInit):
    """A fitted classifier whose form is unknown, and which no file can hold."""

    model: BaseEstimator

    def scores(self, X, n_threads: int = 1) -> np.ndarray:
        return _scores_of(self.model.predict_proba(X))

    def arrays(self):
        raise TypeError(
            f"init is a fitted {type(self.model).__name__}, which a model file cannot hold: it has "
            "no form in flat arrays, and the file holds no pickle. Registered init models, such as "
            "'linear' and 'kernel', can be saved"
        )

    @classmethod
    def from_arrays(cls, arrays, n_features, n_classes):
        raise ValueError("init: a fitted classifier of this type is in no model file")


class SklearnInit(InitModel):
    """A classifier of scikit-learn as init model, cross-fitted on the training examples.

    Parameters
    ----------
    estimator : classifier or pipeline with ``predict_proba``
        It sees X as weak learners do: categories as codes, missing values as NaN.
    """

    name = "sklearn"
    api_version = 1
    fitted_type = OpaqueInit

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y, context: InitContext):
        if not _has_probabilities(self.estimator):
            raise ValueError(
                f"estimator must be a classifier with predict_proba, got {self.estimator!r}"
            )
        n_folds = int(context.folds.max()) + 1
        if np.bincount(np.unique(y * n_folds + context.folds) // n_folds).min() < 2:
            return None, None  # without its fold, a class has no examples
        folds, first = context.folds, slice(None)
        params, copies = _weighing(self.estimator, context.weight)
        if copies is not None:
            rows, first = np.repeat(np.arange(len(y)), copies), np.cumsum(copies) - copies
            X, y, folds = X[rows], y[rows], folds[rows]
        # With routing, weights would go to those alone who have asked for them.
        with config_context(enable_metadata_routing=False):
            cv, method = PredefinedSplit(folds), "predict_proba"
            predicted = cross_val_predict(self.estimator, X, y, cv=cv, params=params, method=method)
            model = clone(self.estimator).fit(X, y, **params)
        return OpaqueInit(model), _scores_of(predicted[first])


def _weighing(estimator, weight) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
    """Return the arguments by which `fit` of a classifier takes weights, and copies of the rows.

    The numbers of copies stand for weights that a classifier does not take, if they are few; else
    they are None, and a warning is issued.
    """
    if (weight == weight[0]).all():
        return {}, None
    prefix = ""
    from sklearn.pipeline import Pipeline

    while isinstance(estimator, Pipeline | GridSearchCV | RandomizedSearchCV):
        if isinstance(estimator, Pipeline):
            step, estimator = estimator.steps[-1]
            prefix += f"{step}__"
        else:
            estimator = estimator.estimator
    if has_fit_parameter(estimator, "sample_weight"):
        # Mean one, as the defaults of scikit-learn expect.
        return {f"{prefix}sample_weight": weight / weight.mean()}, None
    copies = weight / weight.min()
    if (copies == np.rint(copies)).all() and copies.mean() <= MOST_COPIES:
        return {}, copies.astype(np.int64)
    warn_caller(
        f"init: {type(estimator).__name__} takes no sample_weight and is fitted without; the "
        "weights count in boosting only"
    )
    return {}, None


def _scores_of(probabilities) -> np.ndarray:
    return log(np.maximum(probabilities, SMALLEST_PROBABILITY))
