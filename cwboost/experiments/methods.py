"""The methods that the paper compares, as estimators with the paper's settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import cwboost

__all__ = ["BASIC", "C_GRID", "METHODS", "PRINTED", "SOLVERS", "SOLVER_SETS", "Method"]

C_GRID = (1e2, 1e3, 1e4, 1e5)
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
        True if the time limit of AdaBoost.MO applies; other methods have none.
    """

    name: str
    make: Callable
    grid: tuple[float, ...] = ()
    limited: bool = False


def _cw(**parameters):
    # Without a holdout run for the probabilities, which the paper's experiments do not use or time.
    defaults = {"weak_learner": "stump", "probability_scale": 2.0, "max_working_sets": 2}
    return cwboost.CWBoostClassifier(
        correction="total", epsilon=0.1, tol=0.0, **{**defaults, **parameters}
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
    # After 100 rounds of its five passes, the objective is that of a solve to a gap of 1e-2, in a
    # twentieth of the time.
    return cwboost.MultiBoostClassifier(solver="fcd", tol=0.0, **parameters)


def _multiboost_lbfgsb(**parameters):
    return cwboost.MultiBoostClassifier(solver="lbfgsb", gap_tol=1e-2, tol=0.0, **parameters)


def _ecc(**parameters):
    return cwboost.AdaBoostECCClassifier(**parameters)


def _mh(**parameters):
    return cwboost.AdaBoostMHClassifier(**parameters)


def _mo(**parameters):
    return cwboost.AdaBoostMOClassifier(code="random", **parameters)


def _mo_all(**parameters):
    return cwboost.AdaBoostMOClassifier(code="exhaustive", **parameters)


METHODS = {
    method.name: method
    for method in (
        Method("CW", _cw, grid=C_GRID),
        Method("CW-1", _cw_1),
        Method("MultiBoost", _multiboost, grid=C_GRID),
        Method("MultiBoost-LBFGSB", _multiboost_lbfgsb, grid=C_GRID),
        Method("Ada.ECC", _ecc),
        Method("Ada.MH", _mh),
        Method("Ada.MO", _mo, limited=True),
        Method("Ada.MO-all", _mo_all, limited=True),
    )
}
BASIC = ("CW", "CW-1", "MultiBoost", "Ada.ECC", "Ada.MH")
"""The methods that run on every data set; a protocol names the others that it takes."""

PRINTED = " printed"
PASSES = (1, 2, 3, 5, 10, 20)
SOLVER_SETS = ("VOWEL", "USPS", "SCENE15")
SOLVERS = {
    name: Method(name, partial(_cw, C=1e4, **options))
    for name, options in (
        *((f"FCD-{n}", {"max_working_sets": n}) for n in PASSES),
        *(
            (f"FCD-{n}{PRINTED}", {"max_working_sets": n, "solver": "fcd_printed"})
            for n in PASSES[1:]
        ),
        ("L-BFGS-B", {"solver": "lbfgsb"}),
    )
}
"""The paper's study of its solver: CW by FCD with a limit on working sets, against L-BFGS-B.

"FCD-n" makes up to n passes per round. "FCD-n printed" is Algorithm 2 exactly as printed: later
passes draw with replacement, and no subspace steps follow them. FCD-1 is both."""
