"""Solvers of the restricted master: fast coordinate descent (Algorithm 2) and L-BFGS-B.

Both work on the same problem, through the same pair weights, and start from the coefficients
that the master holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from cwboost.families import pack_outputs
from cwboost.master import RestrictedMaster

__all__ = ["ORDERS", "Solution", "SolverReport", "fcd", "lbfgsb", "solve_master"]

ORDERS = ("layers", "permutation", "random")
"""How the later passes of coordinate descent pick from the working set."""


@dataclass(frozen=True)
class SolverReport:
    """How a solver ended.

    Parameters
    ----------
    max_violation : float
        Largest violation over the columns of the master, NaN if it was not computed.
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
    order: str = "layers",
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
    order : {"layers", "permutation", "random"}, default="layers"
        How later passes walk through a working set of size s: "random" draws s times with
        replacement, as printed; "permutation" takes each once in random order; "layers" takes one
        column of every class at a time and updates them together on their joint-sign tables.
    rng : numpy.random.Generator
        Needed for "permutation" and "random".
    step : float, default=1.0
        Shrinkage of the first pass.
    """
    n_updates = 0
    stagewise = max_working_sets == 1
    for rows in new_rows:
        master.update_layer(rows, step=step, keep_scores=stagewise)
        n_updates += int(np.count_nonzero(np.asarray(rows) >= 0))
    if stagewise:
        return SolverReport(np.nan, False, 1, n_updates)
    n_working_sets = 1
    extrapolation = Extrapolation()
    while True:
        violations = master.violations()
        worst = max((float(theta.max()) for theta in violations if theta.size), default=0.0)
        if worst <= epsilon or n_working_sets >= max_working_sets:
            return SolverReport(worst, worst <= epsilon, n_working_sets, n_updates)
        working_set = [np.flatnonzero(theta > epsilon) for theta in violations]
        update_working_set(master, working_set, order, rng)
        n_updates += sum(map(len, working_set))
        n_working_sets += 1
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
        gram += 1e-12 * np.trace(gram) * np.eye(self.DEPTH) + np.finfo(float).tiny * np.eye(
            self.DEPTH
        )
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


def update_working_set(master, working_set, order, rng) -> None:
    """One pass of coordinate updates over the working set, an array of rows a class."""
    if order == "layers":
        for rows in zip_longest(*working_set, fillvalue=-1):
            master.update_layer(rows)
        return
    classes = np.repeat(np.arange(len(working_set)), [len(rows) for rows in working_set])
    rows = np.concatenate(working_set)
    if order == "random":
        picks = rng.integers(len(rows), size=len(rows))
    else:
        picks = rng.permutation(len(rows))
    master.update_coordinates(classes[picks], rows[picks])


def lbfgsb(master: RestrictedMaster, *, tol: float = 1e-8, max_iter: int = 15000) -> SolverReport:
    """SciPy's L-BFGS-B on the restricted master: same objective, gradient and bounds.

    Parameters
    ----------
    master : RestrictedMaster
        Changed in place; its coefficients are the start.
    tol : float, default=1e-8
        Stop when the projected gradient, in the units of a violation, is at most `tol`, or the
        objective changes by less than the rounding of a double.
    max_iter : int, default=15000
    """
    bounds = np.cumsum([len(coef) for coef in master.coef])[:-1]
    last = {"gradient": None}

    def objective(w):
        try:
            master.set_coef(np.split(w, bounds))
        except OverflowError:
            # A step of the line search too long to evaluate: worse than any it could keep.
            return np.finfo(float).max ** 0.5, last["gradient"]
        last["gradient"] = 1.0 - np.concatenate(master.edges())
        return master.objective, last["gradient"]

    start = np.concatenate(master.coef)
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * len(start),
        options={"ftol": 2e-16, "gtol": tol, "maxiter": max_iter, "maxfun": 20 * max_iter},
    )
    master.set_coef(np.split(np.maximum(found.x, 0.0), bounds))
    worst = max((float(theta.max()) for theta in master.violations() if theta.size), default=0.0)
    return SolverReport(worst, worst <= tol, int(found.nit), int(found.nfev))


@dataclass(frozen=True)
class Solution:
    """What `solve_master` returns.

    Parameters
    ----------
    coef : list of n_classes ndarrays of shape (n_c,), float64
        Coefficients, all >= 0.
    objective : float
        Value of the restricted master at `coef`.
    dual_bound : float
        Lower bound on the optimum over the given columns.
    violations : list of n_classes ndarrays of shape (n_c,), float64
        Violation of every column at `coef`.
    max_violation : float
    converged : bool
        Whether the solver's own tolerance was reached.
    n_working_sets, n_updates : int
        Passes and coordinate updates (for L-BFGS-B, iterations and function evaluations).
    """

    coef: list[np.ndarray]
    objective: float
    dual_bound: float
    violations: list[np.ndarray]
    max_violation: float
    converged: bool
    n_working_sets: int
    n_updates: int


def solve_master(
    H,
    y,
    C,
    solver="fcd",
    *,
    epsilon=0.1,
    max_working_sets=2,
    coef0=None,
    n_new=None,
    sample_weight=None,
    order="layers",
    tol=1e-8,
    random_state=None,
    n_threads=1,
):
    """Solve the restricted master over given outputs of columns.

    Minimises ``sum coef + (C / p) sum over i, y != y_i of w_i exp(F_y(x_i) - F_{y_i}(x_i))`` over
    ``coef >= 0``, where ``F_c = sum_j coef[c][j] H[c][j]`` and ``p = (n_classes - 1) sum w_i``
    (eq. mcg-exp2 of the paper, with example weights).

    Parameters
    ----------
    H : list of n_classes array-likes of shape (n_c, n_samples), values -1 and +1
        Outputs of the columns of each class; a class may have none.
    y : array-like of shape (n_samples,), int in 0..n_classes-1
        Class of each example; every class occurs.
    C : float, > 0
    solver : {"fcd", "lbfgsb"}, default="fcd"
    epsilon : float, default=0.1
        FCD stops when no violation is above it.
    max_working_sets : int, default=2
        FCD's limit on passes (tau_max).
    coef0 : list of n_classes array-likes of shape (n_c,), >= 0, default=None
        Start; zeros by default.
    n_new : int or sequence of n_classes ints, default=None
        How many of the last columns of each class are new: FCD's first working set. All by
        default.
    sample_weight : array-like of shape (n_samples,), > 0, default=None
    order : {"layers", "permutation", "random"}, default="layers"
        How FCD's later passes walk through the working set; see `fcd`.
    tol : float, default=1e-8
        Largest projected gradient at which L-BFGS-B stops.
    random_state : int, RandomState instance or None, default=None
        For the orders that draw.
    n_threads : int, default=1
        The result does not depend on it.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError, TypeError
        For an argument of the wrong kind, shape or value.
    """
    problem = _checked_problem(H, y, C, sample_weight)
    H, order_of_examples, counts, weight = problem
    if solver not in ("fcd", "lbfgsb"):
        raise ValueError(f"solver must be 'fcd' or 'lbfgsb', got {solver!r}")
    if order not in ORDERS:
        raise ValueError(f"order must be one of {ORDERS}, got {order!r}")
    if not epsilon >= 0:
        raise ValueError(f"epsilon must be >= 0, got {epsilon!r}")
    if not (isinstance(max_working_sets, int | np.integer) and max_working_sets >= 1):
        raise ValueError(f"max_working_sets must be an int >= 1, got {max_working_sets!r}")
    master = RestrictedMaster(counts, C, weight, n_threads)
    # A column given twice is one coordinate; its coefficient is reported at the first of them.
    rows = [
        [master.add(c, bits)[0] for bits in pack_outputs(H[c][:, order_of_examples].T)]
        for c in range(len(H))
    ]
    if coef0 is not None:
        _start_from(master, rows, coef0)
    if solver == "fcd":
        layers = _new_layers(rows, n_new)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        report = fcd(
            master, layers, epsilon=epsilon, max_working_sets=max_working_sets, order=order,
            rng=rng,
        )
    else:
        report = lbfgsb(master, tol=tol)
    return _solution(master, rows, report)


def _checked_problem(H, y, C, sample_weight):
    """The arguments of `solve_master` as arrays, the order that sorts examples, class counts."""
    y = np.asarray(y)
    if y.ndim != 1 or y.size == 0:
        raise ValueError(f"y must be a 1-d array of at least one label, got shape {y.shape}")
    if not np.issubdtype(y.dtype, np.integer):
        raise TypeError(f"y must hold integers 0..K-1, got dtype {y.dtype}")
    if not (np.isscalar(C) and np.isreal(C) and np.isfinite(C) and C > 0):
        raise ValueError(f"C must be a finite number > 0, got {C!r}")
    if not isinstance(H, list | tuple) or len(H) < 2:
        raise TypeError("H must be a list of at least two arrays, one a class")
    n_classes = len(H)
    if y.min() < 0 or y.max() >= n_classes:
        raise ValueError(
            f"y must hold labels 0..{n_classes - 1}, one for each array of H; "
            f"got {y.min()}..{y.max()}"
        )
    counts = np.bincount(y, minlength=n_classes)
    if (counts == 0).any():
        raise ValueError(f"y has no example of class {int(np.argmin(counts))}")
    arrays = []
    for c, block in enumerate(H):
        block = np.asarray(block)
        if block.ndim != 2 or block.shape[1] != y.size:
            raise ValueError(
                f"H[{c}] must have shape (n_columns, n_samples={y.size}), got {block.shape}"
            )
        if not np.isin(block, (-1, 1)).all():
            raise ValueError(f"H[{c}] must hold only -1 and +1")
        arrays.append(block.astype(np.int8, copy=False))
    order_of_examples = np.argsort(y, kind="stable")
    weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if weight.shape != y.shape or not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError("sample_weight must hold one finite number > 0 an example")
    return arrays, order_of_examples, counts, weight[order_of_examples]


def _start_from(master, rows, coef0) -> None:
    """Set the master's coefficients from `coef0`; equal columns add up."""
    if len(coef0) != master.n_classes:
        raise ValueError(f"coef0 must have {master.n_classes} arrays, got {len(coef0)}")
    start = [np.zeros_like(coef) for coef in master.coef]
    for c, values in enumerate(coef0):
        values = np.asarray(values, dtype=float)
        if values.shape != (len(rows[c]),) or not (np.isfinite(values) & (values >= 0)).all():
            raise ValueError(
                f"coef0[{c}] must hold {len(rows[c])} finite numbers >= 0, got {values!r}"
            )
        np.add.at(start[c], rows[c], values)
    try:
        master.set_coef(start)
    except OverflowError as error:
        raise ValueError("coef0 is too large: the objective overflows") from error


def _new_layers(rows, n_new):
    """The first working set as layers: the last `n_new` columns of each class, in order."""
    n_classes = len(rows)
    if n_new is None:
        n_new = [len(of_class) for of_class in rows]
    elif np.isscalar(n_new):
        n_new = [n_new] * n_classes
    if len(n_new) != n_classes or any(
        not 0 <= n <= len(of_class) for n, of_class in zip(n_new, rows)
    ):
        raise ValueError(
            f"n_new must be between 0 and the number of columns of each class, got {n_new!r}"
        )
    fresh = [
        list(dict.fromkeys(of_class[len(of_class) - n :])) for of_class, n in zip(rows, n_new)
    ]
    return list(zip_longest(*fresh, fillvalue=-1))


def _solution(master, rows, report: SolverReport) -> Solution:
    violations = master.violations()
    best_edge = max((float(edge.max()) for edge in master.edges() if edge.size), default=0.0)
    coef = []
    for c, of_class in enumerate(rows):
        values = np.zeros(len(of_class))
        seen, first = np.unique(of_class, return_index=True)
        values[first] = master.coef[c][seen]
        coef.append(values)
    return Solution(
        coef=coef,
        objective=master.objective,
        dual_bound=master.dual_bound(best_edge),
        violations=[theta[of_class] for theta, of_class in zip(violations, rows)],
        max_violation=max((float(theta.max()) for theta in violations if theta.size), default=0.0),
        converged=report.converged,
        n_working_sets=report.n_working_sets,
        n_updates=report.n_updates,
    )
