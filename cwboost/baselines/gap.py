"""Solvers that stop at a given duality gap over the columns, not after a number of passes.

For coefficients w with pair weights mu, the pair weights scaled so that no edge over the columns is
above one satisfy every constraint of the restricted dual; their value is a lower bound on the
restricted optimum (`RestrictedMaster.dual_bound`). The relative gap is
(objective - bound) / objective.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cwboost.baselines.newton import newton_step
from cwboost.master import RestrictedMaster, largest
from cwboost.solvers.fcd import SolverReport
from cwboost.solvers.lbfgsb import lbfgsb

__all__ = ["fcd_to_gap", "lbfgsb_to_gap", "relative_gap"]

SHARE_OF_GAP = 0.1
"""Fraction of `gap_tol` above which a violated coefficient enters the working set.

The relative gap is about the largest violation, since the sum of the coefficients dominates the
objective.
"""
PASSES_BETWEEN = 3
"""Passes of coordinate descent between Newton steps; doubled after a failed step, up to
`MOST_BETWEEN`."""
MOST_BETWEEN = 24
IDLE_PASSES = 200
"""Passes without a smaller gap after which only rounding is left."""


def relative_gap(master: RestrictedMaster) -> float:
    """Return the duality gap over the columns of `master`, relative to its objective."""
    best_edge = largest(master.edges())
    objective = master.objective
    return (objective - master.dual_bound(best_edge)) / objective


def fcd_to_gap(
    master: RestrictedMaster, new_rows: Sequence, gap_tol: float, counts
) -> SolverReport:
    """Run fast coordinate descent until the relative gap is at most `gap_tol`.

    A pass updates the violated coefficients column by column, in the order of their addition, and
    class by class within a column. Every few passes, a Newton step on the positive coefficients
    is taken if it lowers the objective. The passes find which coefficients are positive; the
    steps close the gap.

    Parameters
    ----------
    master : RestrictedMaster
        With shared columns; changed in place.
    new_rows : sequence of arrays of shape (n_classes,), int
        The first working set: the new column of each class, -1 for none.
    gap_tol : float
    counts : ndarray of shape (n_classes,), int
        Number of examples per class.

    Returns
    -------
    SolverReport
        ``converged`` is False if rounding prevents the gap from reaching `gap_tol`.
    """
    starts = np.concatenate([[0], np.cumsum(counts)])
    n_updates = 0
    for rows in new_rows:
        master.update_layer(rows)
        n_updates += len(rows)
    n_passes, idle, least = 1, 0, np.inf
    wait = between = PASSES_BETWEEN
    while True:
        violations = np.stack(master.violations())
        worst, gap = float(violations.max(initial=0.0)), relative_gap(master)
        idle = 0 if gap < least else idle + 1
        least = min(least, gap)
        if gap <= gap_tol or worst == 0.0 or idle == IDLE_PASSES:
            return SolverReport(worst, gap <= gap_tol, n_passes, n_updates)
        chosen = np.argwhere(SHARE_OF_GAP * gap_tol < violations.T)
        rows, classes = np.ascontiguousarray(chosen.T)
        master.update_coordinates(classes, rows)
        n_updates += len(rows)
        n_passes += 1
        wait -= 1
        if wait == 0:
            fell = newton_step(master, starts)
            wait = between = PASSES_BETWEEN if fell else min(2 * between, MOST_BETWEEN)


def lbfgsb_to_gap(master: RestrictedMaster, gap_tol: float, counts) -> SolverReport:
    """Run L-BFGS-B until the relative gap is at most `gap_tol`.

    Its line search compares objective values, whose rounding stops it at relative gaps of 1e-8 to
    1e-6. `fcd_to_gap`, which uses derivatives, then closes a smaller gap.

    Returns
    -------
    SolverReport
        Passes and updates are the iterations and evaluations of L-BFGS-B plus those of
        `fcd_to_gap`, if used. ``converged`` is False if rounding prevents the gap from reaching
        `gap_tol`.
    """
    report = lbfgsb(master, tol=0.0, ftol=0.0, stop=lambda: relative_gap(master) <= gap_tol)
    gap = relative_gap(master)
    if gap <= gap_tol:
        return SolverReport(report.max_violation, True, report.n_working_sets, report.n_updates)
    rest = fcd_to_gap(master, [], gap_tol, counts)
    return SolverReport(
        rest.max_violation,
        rest.converged,
        report.n_working_sets + rest.n_working_sets,
        report.n_updates + rest.n_updates,
    )
