"""The methods that the paper compares, as estimators with the paper's settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cwboost

__all__ = ["C_GRID", "METHODS", "Method"]

C_GRID = (1e2, 1e3, 1e4, 1e5)
EPSILON = 0.1
STAGEWISE_C = 1e8


@dataclass(frozen=True)
class Method:
    """A method of the paper, one curve of its figures.

    Parameters
    ----------
    name : str
    make : callable
        ``make(**parameters)`` returns the estimator; the parameters include `C` if `grid` is set.
    grid : tuple of float
        Values of C to choose from by validation; empty if the method has no C to choose.
    limited : bool
        True if the time limit of AdaBoost.MO applies.
    """

    name: str
    make: Callable
    grid: tuple[float, ...] = ()
    limited: bool = False


def _cw(**parameters):
    # Without a pilot for the probabilities, which the paper's experiments do not use or time.
    parameters = {"weak_learner": "stump", "probability_scale": 2.0, **parameters}
    return cwboost.CWBoostClassifier(
        correction="total", max_working_sets=2, epsilon=EPSILON, tol=0.0, **parameters
    )


def _cw_1(**parameters):
    parameters = {"weak_learner": "stump", "probability_scale": 2.0, **parameters}
    return cwboost.CWBoostClassifier(
        correction="stagewise",
        C=STAGEWISE_C,
        learning_rate=1.0,
        subsample=1.0,
        tol=0.0,
        **parameters,
    )


def _multiboost(**parameters):
    return cwboost.MultiBoostClassifier(solver="lbfgsb", tol=0.0, **parameters)


def _ecc(**parameters):
    return cwboost.AdaBoostECCClassifier(**parameters)


def _mh(**parameters):
    return cwboost.AdaBoostMHClassifier(**parameters)


def _mo(**parameters):
    return cwboost.AdaBoostMOClassifier(**parameters)


METHODS = {
    method.name: method
    for method in (
        Method("CW", _cw, grid=C_GRID),
        Method("CW-1", _cw_1),
        Method("MultiBoost", _multiboost, grid=C_GRID),
        Method("Ada.ECC", _ecc),
        Method("Ada.MH", _mh),
        Method("Ada.MO", _mo, limited=True),
    )
}
