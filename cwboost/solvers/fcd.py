"""Fast coordinate descent on the restricted master: Algorithm 2 of the paper."""

from typing import NamedTuple

import numpy as np

from cwboost._kernels.fcd.working_set import in_turns
from cwboost.master import RestrictedMaster
from cwboost.solvers.subspace_steps import SubspaceSteps

ORDERS = ("permutation", "random")
"""Orders in which later passes of coordinate descent visit the working set."""


MOST_TURNS, COLUMNS_A_TURN = 4, 32
"""Minimum average number of columns per class and turn in the order "permutation"."""

LAYERS, FIRST_TURNS = 2, 8
"""Maximum number of layers that the first pass updates layer by layer, else its number of turns."""

IDLE_PASSES = 300
"""Passes without a smaller violation after which only rounding is left."""


class SolverReport(NamedTuple):
    """Result of a solver.

    `max_violation` is the largest one over the columns of the master at the last violation scan,
    which precedes the last pass if no further pass was allowed; NaN without a scan.
    `n_working_sets` and `n_updates` count passes over a working set, and coordinate updates in them
    (for L-BFGS-B, iterations and evaluations of the objective).
    """

    max_violation: float
    n_working_sets: int
    n_updates: int


def fcd(
    master: RestrictedMaster,
    new_rows,
    *,
    epsilon: float = 0.1,
    max_working_sets: int = 2,
    order: str = "permutation",
    rng: np.random.Generator,
    step: float = 1.0,
    subspace_steps: bool = True,
) -> SolverReport:
    """Run fast coordinate descent, Algorithm 2 of the paper, from the present coefficients.

    `new_rows` is the first working set, one or several layers of one new column per class, -1 for
    none; see `first_pass`, which takes `step` as the fraction of the exact coordinate step. A
    column enters a later working set if its violation is above `epsilon`. There are up to
    `max_working_sets` passes (tau_max); with 1, the stage-wise mode, only the new columns are
    updated, without a scan for violations.

    `order` is that of later passes over a working set of size s. "random" draws s times with
    replacement, as in the paper. "permutation" visits each column once, in a few turns of the
    classes, with classes and columns in random order; it reaches a lower objective in a fraction of
    the time.

    If there may be two or more later passes, `subspace_steps` takes a Newton step in the span of
    the last moves after each of them; see `SubspaceSteps`. Algorithm 2 exactly as printed is
    ``order="random", subspace_steps=False``.
    """
    n_updates = first_pass(master, new_rows, step)
    if max_working_sets == 1:
        return SolverReport(np.nan, 1, n_updates)
    # Passes over the heaviest examples alone, as solvers of support vector machines shrink their
    # problem, were tried on stumps and depth-2 trees up to C = 1e40. They saved no time.
    steps = SubspaceSteps(master) if subspace_steps and max_working_sets > 2 else None
    least, idle = np.inf, 0
    for n_working_sets in range(1, max_working_sets):
        worst, *working_set = master.violated(epsilon)
        idle = 0 if worst < least else idle + 1
        least = min(least, worst)
        if worst <= epsilon or idle == IDLE_PASSES:
            return SolverReport(worst, n_working_sets, n_updates)
        update_working_set(master, *working_set, order, rng)
        n_updates += len(working_set[0])
        if steps is not None:
            steps.after_pass(master)
    # No further pass depends on the violations; callers can compute them.
    return SolverReport(worst, max_working_sets, n_updates)


def first_pass(master, new_rows, step) -> int:
    """Make the first pass over the new columns, in order; return the number of columns.

    A single layer, as in training, is updated on its joint-sign tables. With many layers, the
    columns of a class are updated together, in a few turns of the classes.
    """
    new = np.asarray(new_rows, dtype=np.int64).reshape(-1, master.n_classes)
    if step != 1.0 or len(new) <= LAYERS:
        for rows in new:
            master.update_layer(rows, step=step)
        return int(np.count_nonzero(new >= 0))
    layers, classes = np.nonzero(new >= 0)
    if len(classes):
        rows, in_order = new[layers, classes], np.arange(len(classes))
        turn = np.arange(master.n_classes)
        columns = in_turns(classes.copy(), rows, in_order, turn, FIRST_TURNS)
        master.update_coordinates(*columns)
    return len(classes)


def update_working_set(master, classes, rows, order, rng) -> None:
    """Make one pass of coordinate updates over columns, which are sorted by class."""
    if order == "random":
        picks = rng.integers(len(rows), size=len(rows))
        master.update_coordinates(classes[picks], rows[picks])
        return
    # The kernel caches the data of one class, so the pass goes class by class. With many columns
    # it takes several turns: a long turn would solve a class for outdated weights of the others.
    turn, picks = rng.permutation(master.n_classes), rng.permutation(len(rows))
    n_turns = min(MOST_TURNS, max(1, len(rows) // (COLUMNS_A_TURN * master.n_classes)))
    master.update_coordinates(*in_turns(classes, rows, picks, turn, n_turns))
