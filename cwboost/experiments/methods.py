"""The methods that the paper compares, as estimators with the paper's settings."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import cwboost

C_GRID = (1e2, 1e3, 1e4, 1e5)


@dataclass(frozen=True)
class Method:
    """A method of the paper, one curve of its figures."""

    name: str
    make: Callable  # from parameters to the estimator; C is among them if `grid` is set
    grid: tuple[float, ...] = ()  # values of C to choose from; empty if there is none to choose
    limited: bool = False  # whether the time limit of AdaBoost.MO applies


# With a given scale: the experiments neither use nor time a holdout run for the probabilities.
_STUMPS = partial(
    cwboost.CWBoostClassifier,
    weak_learner="stump",
    init=None,
    probability_scale=2.0,
    tol=0.0,
    epsilon=0.1,
)
_CW = partial(_STUMPS, correction="total", max_working_sets=2)
_CW_1 = partial(_STUMPS, correction="classwise", C=1e8, learning_rate=1.0, subsample=1.0)
# After 100 rounds of its five passes, the objective is that of a solve to a gap of 1e-2, in a
# twentieth of the time.
_MULTIBOOST = partial(cwboost.MultiBoostClassifier, solver="fcd", tol=0.0)
_LBFGSB = partial(cwboost.MultiBoostClassifier, solver="lbfgsb", gap_tol=1e-2, tol=0.0)
_MO = partial(cwboost.AdaBoostMOClassifier, code="random")

METHODS = {
    method.name: method
    for method in (
        Method("CW", _CW, grid=C_GRID),
        Method("CW-1", _CW_1),
        Method("MultiBoost", _MULTIBOOST, grid=C_GRID),
        Method("MultiBoost-LBFGSB", _LBFGSB, grid=C_GRID),
        Method("Ada.ECC", cwboost.AdaBoostECCClassifier),
        Method("Ada.MH", cwboost.AdaBoostMHClassifier),
        Method("Ada.MH-real", partial(cwboost.AdaBoostMHClassifier, variant="real")),
        Method("Ada.MO", _MO, limited=True),
        Method("Ada.MO-all", partial(_MO, code="exhaustive"), limited=True),
    )
}
BASIC = ("CW", "CW-1", "MultiBoost", "Ada.ECC", "Ada.MH", "Ada.MH-real")
"""The methods that run on every data set; a protocol names the others that it takes."""

PRINTED = " printed"
PASSES = (1, 2, 3, 5, 10, 20)
SOLVER_SETS = ("VOWEL", "USPS", "SCENE15")
SOLVERS = {
    name: Method(name, partial(_CW, C=1e4, **options))
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
