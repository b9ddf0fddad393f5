"""SciPy's L-BFGS-B on the restricted master: the solver that the paper compares with."""

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import ThreadpoolController

from cwboost.kernels.one_thread import one_thread
from cwboost.master import Master, largest
from cwboost.solvers.fcd import SolverReport


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries of linear algebra, which SciPy has loaded."""
    return ThreadpoolController()


def lbfgsb(
    master: Master,
    *,
    tol: float = 1e-5,
    ftol: float = 2.2e-9,
    max_iter: int = 15000,
    stop: Callable[[], bool] | None = None,
) -> SolverReport:
    """Solve the restricted master by SciPy's L-BFGS-B: same objective, gradient and bounds.

    The solver starts from the coefficients of `master` and changes them in place. It stops if the
    projected gradient, in units of a violation, is at most `tol`, or an iteration lowers the
    objective by less than the fraction `ftol` of it; the defaults are those of SciPy. `stop` is
    called after every iteration, with `master` at the current point; True stops the solver. SciPy
    has one thread: more would slow down small products and change the bits.
    """
    bounds = np.cumsum([len(coef) for coef in master.coef])[:-1]
    value, gradient = np.nan, None

    def objective(w):
        nonlocal value, gradient
        try:
            master.set_coef(np.split(w, bounds))
        except OverflowError:
            # A step that is too long to evaluate is a bad one, from which the line search returns;
            # it would interpolate a huge value by a step of nothing.
            return 2.0 * value, gradient
        value, gradient = master.objective, 1.0 - np.concatenate(master.edges())
        return value, gradient

    def after_iteration(_):
        # A line search ends with the point that it evaluated last, where `master` is.
        if stop():
            raise StopIteration

    start = np.concatenate(master.coef)
    if not start.size:
        return SolverReport(0.0, 0, 0)
    with one_thread(_libraries()):
        found = minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(start),
            callback=after_iteration if stop else None,
            options={"ftol": ftol, "gtol": tol, "maxiter": max_iter, "maxfun": 20 * max_iter},
        )
    master.set_coef(np.split(np.maximum(found.x, 0.0), bounds))
    return SolverReport(largest(master.violations()), int(found.nit), int(found.nfev))
