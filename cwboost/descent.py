"""Fast coordinate descent on the restricted master: Algorithm 2 of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from cwboost.master import RestrictedMaster

__all__ = ["ORDERS", "SolverReport", "fcd"]

ORDERS = ("permutation", "random", "layers")
"""How the later passes of coordinate descent pick from the working set."""


MOST_TURNS, COLUMNS_A_TURN = 4, 32
"""A pass in the order "permutation" gives a class turns of at least so many columns on average."""

IDLE_PASSES = 300
"""Passes without a smaller violation after which rounding is all that is left to solve."""


@dataclass(frozen=True)
class SolverReport:
    """How a solver ended.

    Parameters
    ----------
    max_violation : float
        Largest violation over the columns of the master when the solver last looked: before its
        last pass, if that was the last allowed; NaN if it never did.
    converged : bool
        Whether `max_violation` is at most epsilon.
    n_working_sets, n_updates : int
        Passes over a working set, and coordinate updates in them (for L-BFGS-B, iterations and
        evaluations of the objective).
    """

    max_violation: float
    converged: bool
    n_working_sets: int
    n_updates: int


def fcd(
    master: RestrictedMaster,
    new_rows,
    *,
    epsilon: float = 0.1,
    max_working_sets: int = 2,
    order: str = "permutation",
    rng: np.random.Generator | None = None,
    step: float = 1.0,
) -> SolverReport:
    """Fast coordinate descent, Algorithm 2 of the paper.

    Parameters
    ----------
    master : RestrictedMaster
        Changed in place.
    new_rows : list of arrays of shape (n_classes,), int
        The first working set, a layer an array: the new column of each class, -1 for none. They
        are updated in order.
    epsilon : float, default=0.1
        A column belongs to a later working set when its violation is above epsilon.
    max_working_sets : int, default=2
        tau_max; 1 is the stage-wise mode, which looks at the new columns only and computes no
        violations.
    order : {"permutation", "random", "layers"}, default="permutation"
        How later passes walk through a working set of size s: "random" draws s times with
        replacement, as printed; "permutation" takes each once, in a few turns of the classes, which
        come in random order and so do the columns of a class: a lower objective for a fraction of
        the time; "layers" takes one column of every class at a time and updates them together on
        their joint-sign tables, without randomness.
    rng : numpy.random.Generator
        Needed for "permutation" and "random".
    step : float, default=1.0
        Shrinkage of the first pass.
    """
    n_updates = 0
    for rows in new_rows:
        master.update_layer(rows, step=step)
        n_updates += int(np.count_nonzero(np.asarray(rows) >= 0))
    if max_working_sets == 1:
        return SolverReport(np.nan, False, 1, n_updates)
    n_working_sets = 1
    extrapolation = Extrapolation()
    least, idle = np.inf, 0
    while True:
        worst, *working_set = master.violated(epsilon)
        idle = 0 if worst < least else idle + 1
        least = min(least, worst)
        if worst <= epsilon or idle == IDLE_PASSES:
            return SolverReport(worst, worst <= epsilon, n_working_sets, n_updates)
        update_working_set(master, *working_set, order, rng)
        n_updates += len(working_set[0])
        n_working_sets += 1
        if n_working_sets >= max_working_sets:
            # Nothing is decided by the violations now: whoever wants them can ask the master.
            return SolverReport(worst, False, n_working_sets, n_updates)
        extrapolation.after_pass(master)


class Extrapolation:
    """Anderson acceleration of coordinate descent, kept only where the objective falls.

    Coordinate descent is close to a linear fixed-point iteration once its support is settled;
    the affine combination of the last iterates whose combined step is smallest then lands far
    ahead of them. Tried every `DEPTH` passes, so it never enters the few passes of boosting.

    References
    ----------
    Bertrand and Massias, "Anderson acceleration of coordinate descent", AISTATS 2021.
    """

    DEPTH = 5

    def __init__(self):
        self.iterates: list[np.ndarray] = []

    def after_pass(self, master: RestrictedMaster) -> None:
        """Note the iterate; every `DEPTH` passes jump ahead if that lowers the objective."""
        self.iterates.append(np.concatenate(master.coef))
        if len(self.iterates) <= self.DEPTH:
            return
        steps = np.diff(self.iterates, axis=0)
        gram = steps @ steps.T
        size = np.trace(gram)
        if not size > 0.0:
            self.iterates.clear()
            return
        gram = gram / size + 1e-12 * np.eye(self.DEPTH)
        combination = np.linalg.solve(gram, np.ones(self.DEPTH))
        combination /= combination.sum()
        ahead = np.maximum(combination @ np.asarray(self.iterates[1:]), 0.0)
        objective = master.objective
        bounds = np.cumsum([len(coef) for coef in master.coef])[:-1]
        if np.isfinite(ahead).all():
            present = np.split(self.iterates[-1], bounds)
            try:
                master.set_coef(np.split(ahead, bounds))
            except OverflowError:
                master.set_coef(present)
            if master.objective > objective:
                master.set_coef(present)
        self.iterates.clear()


def update_working_set(master, classes, rows, order, rng) -> None:
    """One pass of coordinate updates over columns, which come class after class."""
    if order == "layers":
        bounds = np.searchsorted(classes, np.arange(1, master.n_classes))
        for layer in zip_longest(*np.split(rows, bounds), fillvalue=-1):
            master.update_layer(layer)
        return
    if order == "random":
        picks = rng.integers(len(rows), size=len(rows))
    else:
        # Class after class, since the kernel keeps what one class needs at hand, but where columns
        # are many in a few turns: a class solved for long while the others stand still is solved
        # for weights that will have changed.
        turn = rng.permutation(master.n_classes)
        picks = rng.permutation(len(rows))
        n_turns = min(MOST_TURNS, max(1, len(rows) // (COLUMNS_A_TURN * master.n_classes)))
        turns = np.arange(len(rows)) * n_turns // max(1, len(rows))
        key = turns * master.n_classes + turn[classes[picks]]
        picks = picks[np.argsort(key, kind="stable")]
    master.update_coordinates(classes[picks], rows[picks])
