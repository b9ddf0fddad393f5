"""Inspection of a fitted model: the columns of a class, scores by feature."""

from dataclasses import dataclass

import numpy as np

from cwboost.ensemble.model import Ensemble
from cwboost.families.contract import WeakLearners
from cwboost.kernels.additive import AdditiveScores


@dataclass(frozen=True)
class ClassColumns:
    """The weak learners of one class, by decreasing absolute coefficient.

    Parameters
    ----------
    index : ndarray of shape (n_columns,), int
        Position among all learners of the ensemble.
    coef : ndarray of shape (n_columns,), float64
        Not zero.
    edge : ndarray of shape (n_columns,), float64
        Edge with which the learner was priced, as a share of all weight before the first round; of
        a tree in whose leaves all classes step, the sum of theirs; NaN if unknown.
    round : ndarray of shape (n_columns,), int
        Round, from 0, that added the learner.
    learners : WeakLearners
        The learners themselves, in the same order.
    """

    index: np.ndarray
    coef: np.ndarray
    edge: np.ndarray
    round: np.ndarray
    learners: WeakLearners


def class_columns(ensemble: Ensemble, score: int) -> ClassColumns:
    """Return the columns of one class, by its index."""
    if not 0 <= score < ensemble.n_scores:
        raise ValueError(f"score must lie in 0..{ensemble.n_scores - 1}, got {score}")
    coef = ensemble.coef().tocsc()[:, [score]].toarray().ravel()
    index = np.flatnonzero(coef)
    index = index[np.argsort(-np.abs(coef[index]), kind="stable")]
    edges = ensemble.edges if ensemble.edges is not None else np.full(len(coef), np.nan)
    rounds = np.searchsorted(ensemble.path.learners_offsets, index, side="right") - 1
    learners = ensemble.learners.take(index)
    return ClassColumns(index, coef[index], edges[index], rounds, learners)


def additive(ensemble: Ensemble, n_rounds=None) -> AdditiveScores:
    """Return the step functions of a model whose learners compare one feature each, once."""
    _, learners, coef = ensemble.used(n_rounds)
    flat = learners.flat_form()
    stumps = None if flat is None else flat.stumps()
    if stumps is None:
        raise TypeError(
            "only models of stumps are sums of functions of one feature each, got learners of "
            f"type {type(ensemble.learners).__name__}"
        )
    return AdditiveScores(*stumps, coef)


def is_additive(ensemble: Ensemble) -> bool:
    """Return True if the learners compare one feature each with a threshold, once."""
    flat = ensemble.learners.flat_form()
    return flat is not None and flat.stumps() is not None


def contributions(ensemble: Ensemble, X, n_rounds=None) -> tuple[np.ndarray, np.ndarray]:
    """Split scores of stumps by feature, exactly.

    Return a constant, (n_scores,), and parts, (n_samples, n_features, n_scores). The constant, and
    then the parts added to it one feature after the other, give the scores bit for bit (for sparse
    X up to rounding: there they are added from the zeros; so for an ensemble with offsets, which
    the constant holds).
    """
    constant, functions = additive(ensemble, n_rounds).functions()
    constant = constant + ensemble.offset(n_rounds)
    parts = np.zeros((*X.shape, ensemble.n_scores))
    for feature, function in functions.items():
        column = X[:, [feature]]
        column = column.toarray() if hasattr(column, "toarray") else column
        parts[:, feature] = function(column.ravel())
    return constant, parts
