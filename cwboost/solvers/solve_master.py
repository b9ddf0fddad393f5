"""`solve_master`: the restricted master over given outputs of columns, by either solver."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from cwboost.families.outputs import pack_outputs
from cwboost.kernels import usable_threads
from cwboost.master import LARGEST_C, RestrictedMaster, largest
from cwboost.solvers.fcd import ORDERS, SolverReport, fcd
from cwboost.solvers.lbfgsb import lbfgsb
from cwboost.support.checks import check_bool, check_number, checked_random_state
from cwboost.support.weights import check_total, check_weight, near_one


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
    H: Sequence[ArrayLike],
    y: ArrayLike,
    C: float,
    solver: str = "fcd",
    *,
    epsilon: float = 0.1,
    max_working_sets: int = 2,
    coef0: Sequence[ArrayLike] | None = None,
    n_new: int | Sequence[int] | None = None,
    sample_weight: ArrayLike | None = None,
    order: str = "permutation",
    subspace_steps: bool = True,
    tol: float = 1e-8,
    random_state: int | np.random.RandomState | None = None,
    n_threads: int = 1,
) -> Solution:
    r"""Solve the restricted master over given outputs of columns.

    .. math::

        \min_{\mathrm{coef} \ge 0} \; \sum_j \mathrm{coef}_j + \frac{C}{p}
        \sum_i w_i \sum_{y \ne y_i} e^{F_y(x_i) - F_{y_i}(x_i)}, \qquad p = (K - 1) \sum_i w_i,

    where the score ``F_c`` is ``sum_j coef[c][j] H[c][j]`` (eq. mcg-exp2 of the paper, with example
    weights).

    Parameters
    ----------
    H : list of n_classes array-likes of shape (n_c, n_samples), values -1 and +1
        Outputs of the columns of each class; a class may have none.
    y : array-like of shape (n_samples,), int in 0..n_classes-1
        Class of each example; every class occurs, with positive weight.
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
    sample_weight : array-like of shape (n_samples,), >= 0, default=None
        Ones by default. A weight is a count: examples of weight 0 are absent, and a common factor
        changes nothing but rounding.
    order : {"permutation", "random"}, default="permutation"
        Order in which FCD's later passes visit the working set. "permutation" visits each column
        once, in random order. "random" draws with replacement, as in the paper.
    subspace_steps : bool, default=True
        Take a Newton step in the span of the last moves between FCD's later passes.
        ``order="random", subspace_steps=False`` is Algorithm 2 exactly as printed, if `n_new` is
        at most 2: with more new columns per class, the first pass groups them by class.
    tol : float, default=1e-8
        Largest projected gradient at which L-BFGS-B stops.
    random_state : int, RandomState instance or None, default=None
        For the order of updates.
    n_threads : int, default=1
        The result does not depend on it.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError, TypeError
        For an argument of the wrong kind, shape or value.

    Examples
    --------
    Two classes with one column each. The second column is useless, so that its coefficient is 0:

    >>> from cwboost import solve_master
    >>> H = [[[1, 1, 1, -1, -1, -1]], [[1, 1, -1, 1, 1, -1]]]
    >>> solution = solve_master(H, [0, 0, 0, 1, 1, 1], C=10.0, epsilon=1e-6)
    >>> solution.converged, [bool(c[0] > 0) for c in solution.coef]
    (True, [True, False])
    """
    blocks, order_of_examples, counts, weight = _checked_problem(H, y, C, sample_weight)
    if solver not in ("fcd", "lbfgsb"):
        raise ValueError(f"solver must be 'fcd' or 'lbfgsb', got {solver!r}")
    if order not in ORDERS:
        raise ValueError(f"order must be one of {ORDERS}, got {order!r}")
    check_bool("subspace_steps", subspace_steps)
    check_number("epsilon", epsilon, Real, 0.0)
    check_number("max_working_sets", max_working_sets, Integral, 1)
    check_number("tol", tol, Real, 0.0)
    check_number("n_threads", n_threads, Integral, 1)
    master = RestrictedMaster(counts, float(C), weight, usable_threads(n_threads))
    # A column given twice is one coordinate; its coefficient is reported at the first of them.
    rows = [
        master.add(np.full(len(block), c), pack_outputs(block[:, order_of_examples].T))[0]
        for c, block in enumerate(blocks)
    ]
    if coef0 is not None:
        _start_from(master, rows, coef0)
    if solver == "fcd":
        layers = _new_layers(rows, n_new)
        rng = np.random.default_rng(checked_random_state(random_state).randint(2**31))
        report = fcd(
            master,
            layers,
            epsilon=epsilon,
            max_working_sets=max_working_sets,
            order=order,
            rng=rng,
            subspace_steps=subspace_steps,
        )
    else:
        report = lbfgsb(master, tol=tol, ftol=2e-16)
    return _solution(master, rows, report, epsilon if solver == "fcd" else tol)


def _checked_problem(H, y, C, sample_weight):
    """The arguments of `solve_master` as arrays, the order that sorts examples, class counts."""
    y = np.asarray(y)
    if y.ndim != 1 or y.size == 0:
        raise ValueError(f"y must be a 1-d array of at least one label, got shape {y.shape}")
    if not np.issubdtype(y.dtype, np.integer):
        raise TypeError(f"y must hold integers 0..K-1, got dtype {y.dtype}")
    check_number("C", C, Real, 0.0, LARGEST_C, low_open=True)
    if not isinstance(H, list | tuple) or len(H) < 2:
        raise TypeError(f"H must be a list of at least two arrays, one per class, got {H!r}")
    n_classes = len(H)
    if y.min() < 0 or y.max() >= n_classes:
        raise ValueError(
            f"y must hold labels 0..{n_classes - 1}, one for each array of H; "
            f"got {y.min()}..{y.max()}"
        )
    weight = check_weight(sample_weight, y.size)
    weight = np.ones(y.size) if weight is None else weight
    check_total(weight)
    used = np.flatnonzero(weight)
    counts = np.bincount(y[used], minlength=n_classes)
    if (counts == 0).any():
        raise ValueError(
            f"y must have every class (of positive weight), got none of {int(np.argmin(counts))}"
        )
    arrays = []
    for c, block in enumerate(H):
        block = np.asarray(block)
        if block.ndim != 2 or block.shape[1] != y.size:
            raise ValueError(
                f"H[{c}] must have shape (n_columns, n_samples={y.size}), got {block.shape}"
            )
        if not np.isin(block, (-1, 1)).all():
            wrong = block[~np.isin(block, (-1, 1))][0]
            raise ValueError(f"H[{c}] must hold only -1 and +1, got {wrong}")
        arrays.append(block.astype(np.int8, copy=False))
    order_of_examples = used[np.argsort(y[used], kind="stable")]
    return arrays, order_of_examples, counts, near_one(weight[order_of_examples])


def _start_from(master, rows, coef0) -> None:
    """Set the master's coefficients from `coef0`; equal columns add up."""
    if len(coef0) != master.n_classes:
        raise ValueError(f"coef0 must have {master.n_classes} arrays, got {len(coef0)}")
    start = [np.zeros_like(coef) for coef in master.coef]
    for c, values in enumerate(coef0):
        values = np.asarray(values, dtype=float)
        if values.shape != (len(rows[c]),) or not (np.isfinite(values) & (values >= 0)).all():
            raise ValueError(
                f"coef0[{c}] must hold {len(rows[c])} finite numbers >= 0, got {values.tolist()}"
            )
        np.add.at(start[c], rows[c], values)
    try:
        master.set_coef(start)
    except OverflowError as error:
        raise ValueError(
            "coef0 must be smaller, got one with which the objective overflows"
        ) from error


def _new_layers(rows, n_new):
    """The first working set as layers: the last `n_new` columns of each class, in order."""
    sizes = [len(of_class) for of_class in rows]
    wanted = sizes if n_new is None else n_new if np.iterable(n_new) else [n_new] * len(rows)
    if len(wanted) != len(rows) or not all(
        isinstance(n, Integral) and 0 <= n <= size for n, size in zip(wanted, sizes)
    ):
        raise ValueError(
            "n_new must be integers between 0 and the number of columns of each class, got "
            f"{n_new!r}"
        )
    fresh = [list(dict.fromkeys(one[len(one) - n :])) for one, n in zip(rows, wanted)]
    return list(zip_longest(*fresh, fillvalue=-1))


def _solution(master, rows, report: SolverReport, limit: float) -> Solution:
    violations = master.violations()
    worst = largest(violations)
    coef = []
    for c, of_class in enumerate(rows):
        values = np.zeros(len(of_class))
        seen, first = np.unique(of_class, return_index=True)
        values[first] = master.coef[c][seen]
        coef.append(values)
    return Solution(
        coef=coef,
        objective=master.objective,
        dual_bound=master.dual_bound(largest(master.edges())),
        violations=[theta[of_class] for theta, of_class in zip(violations, rows)],
        max_violation=worst,
        converged=worst <= limit,
        n_working_sets=report.n_working_sets,
        n_updates=report.n_updates,
    )
