"""Fast coordinate descent, compared with L-BFGS-B and a slow reference over all pairs."""

import warnings

import numpy as np
import pytest
import slow_master
from hypothesis import given, settings
from hypothesis import strategies as st
from models import paper
from scipy.optimize import minimize
from threadpoolctl import threadpool_info, threadpool_limits

from cwboost import MultiBoostClassifier, solve_master
from cwboost.solvers.fcd import fcd
from cwboost.solvers.subspace_steps import SubspaceSteps

ORDERS = ["permutation", "random"]
PRECISE = {"epsilon": 1e-9, "max_working_sets": 20_000, "random_state": 0}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("n_classes", "n_samples", "n_columns", "C"),
    [(2, 50, 5, 1e2), (3, 203, 12, 1e3), (5, 400, 20, 1e5), (7, 90, 8, 1e1), (12, 700, 30, 1e4)],
)
def test_reaches_the_optimum_of_lbfgsb(n_classes, n_samples, n_columns, C, weighted):
    rng = np.random.default_rng(n_classes)
    H, y, weight = slow_master.random_problem(rng, n_classes, n_samples, n_columns, weighted)
    if n_classes == 3:  # a class of one example, and one without columns
        y = np.where(y == 2, 0, y)
        y[7] = 2
        H[1] = H[1][:0]
    rival = solve_master(H, y, C, "lbfgsb", sample_weight=weight, tol=1e-10)
    for order in ORDERS:
        found = solve_master(H, y, C, sample_weight=weight, order=order, **PRECISE)
        assert found.converged, order
        assert found.objective == pytest.approx(rival.objective, rel=1e-8), order
        value = slow_master.objective(H, y, C, found.coef, weight)
        assert found.objective == pytest.approx(value, rel=1e-12)
        theta = slow_master.violations(H, y, C, found.coef, weight)
        assert max(t.max(initial=0) for t in theta) <= 2e-9
        assert value - slow_master.dual_value(H, y, C, found.coef, weight) <= 1e-8 * value


def test_line_searches_of_lbfgsb_outlast_overflows():
    """A step from far away is too long to evaluate, here one of 515."""
    rng = np.random.default_rng(1)
    H, y, _ = slow_master.random_problem(rng, 3, 40, 12)
    far = [100.0 * rng.random(len(h)) for h in H]
    found = solve_master(H, y, 1e2, "lbfgsb", coef0=far)
    assert found.objective == pytest.approx(solve_master(H, y, 1e2, **PRECISE).objective, rel=1e-8)


@pytest.mark.parametrize("options", [PRECISE, {"solver": "lbfgsb", "tol": 1e-10}])
def test_a_weight_is_a_count(options):
    """n is n copies, 0 is absent, and a common factor changes nothing, however small or large."""
    rng = np.random.default_rng(4)
    H, y, _ = slow_master.random_problem(rng, 3, 90, 5)
    counts = rng.integers(0, 4, 90)
    rows = np.repeat(np.arange(90), counts)
    wanted = solve_master([h[:, rows] for h in H], y[rows], 1e3, **options).objective
    for factor in (1e-300, 1e-200, 1.0, 1e200, 1e300):
        found = solve_master(H, y, 1e3, sample_weight=counts * factor, **options)
        assert found.objective == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("solver", ["fcd", "lbfgsb"])
def test_classes_may_be_without_columns(solver):
    found = solve_master([np.empty((0, 3))] * 2, [0, 1, 1], 7.0, solver)
    assert found.converged and found.objective == found.dual_bound == 7.0


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e4, 1e8, 1e12])
def test_any_C(C):
    H, y, _ = slow_master.random_problem(np.random.default_rng(3), 4, 160, 8)
    # A violation is a sum of terms up to C and cannot be smaller than their rounding errors.
    epsilon = max(1e-9, 1e-16 * C)
    found = solve_master(H, y, C, **(PRECISE | {"epsilon": epsilon}))
    assert found.converged
    value = slow_master.objective(H, y, C, found.coef)
    assert value - slow_master.dual_value(H, y, C, found.coef) <= max(1e-8, 2 * epsilon) * value
    if C == 1e12:  # it ends when only rounding is left
        found = solve_master(H, y, C, **(PRECISE | {"epsilon": 0.0}))
        assert not found.converged
        assert found.n_working_sets < 5_000


def test_no_column_loses_a_pair():
    """V- = 0: the coefficient is log(V+ / q), finite."""
    y = np.array([0, 0, 1, 1])
    H = [np.array([[1, 1, -1, -1]]), np.array([[-1, -1, 1, 1]])]
    found = solve_master(H, y, 1e6, **PRECISE)
    # Both classes move the margin of every pair: 2 of them, sum of mu = q at the optimum.
    total = sum(coef.sum() for coef in found.coef)
    assert total == pytest.approx(np.log(1e6), rel=1e-9)


def test_no_column_gains_a_pair():
    """V+ = 0: the coefficient falls to zero from any start."""
    y = np.array([0, 0, 1, 1])
    H = [np.array([[-1, -1, 1, 1]]), np.array([[1, 1, -1, -1]])]
    found = solve_master(H, y, 1e4, coef0=[[3.0], [2.0]], **PRECISE)
    assert [coef.tolist() for coef in found.coef] == [[0.0], [0.0]]
    assert found.objective == pytest.approx(1e4)


def test_a_warm_start_ends_at_once():
    H, y, _ = slow_master.random_problem(np.random.default_rng(6), 3, 150, 8)
    found = solve_master(H, y, 1e3, **PRECISE)
    again = solve_master(H, y, 1e3, coef0=found.coef, n_new=0, epsilon=1e-6)
    assert again.n_updates == 0
    assert again.objective == pytest.approx(found.objective, rel=1e-12)


def test_equal_columns_are_one_coordinate():
    H, y, _ = slow_master.random_problem(np.random.default_rng(7), 3, 90, 5)
    twice = [np.vstack([h, h]) for h in H]
    once = solve_master(H, y, 1e3, **PRECISE)
    both = solve_master(twice, y, 1e3, **PRECISE)
    assert both.objective == pytest.approx(once.objective, rel=1e-12)
    for coef in both.coef:
        assert not coef[5:].any()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 6),
    n_samples=st.integers(8, 60),
    n_columns=st.integers(1, 6),
    log_C=st.floats(-1, 7),
    weighted=st.booleans(),
)
def test_the_gap_bounds_the_optimum(seed, n_classes, n_samples, n_columns, log_C, weighted):
    """Objective, violations and bound are those of the reference."""
    rng, C = np.random.default_rng(seed), 10.0**log_C
    H, y, weight = slow_master.random_problem(rng, n_classes, n_samples, n_columns, weighted)
    found = solve_master(H, y, C, sample_weight=weight, random_state=0)
    value = slow_master.objective(H, y, C, found.coef, weight)
    assert found.objective == pytest.approx(value, rel=1e-10)
    theta = slow_master.violations(H, y, C, found.coef, weight)
    for h, mine, slow in zip(H, found.violations, theta):
        if len(np.unique(h, axis=0)) == len(h):  # equal columns are one coordinate
            # A sum of terms up to C is no more exact than these.
            np.testing.assert_allclose(mine, slow, rtol=1e-9, atol=max(1e-10, 1e-15 * C))
    assert found.max_violation == max(t.max() for t in found.violations)
    assert found.n_working_sets <= 2
    bound = slow_master.dual_value(H, y, C, found.coef, weight)
    assert found.dual_bound == pytest.approx(bound, rel=1e-10)
    longer = {"epsilon": 1e-6, "max_working_sets": 500, "random_state": 0}
    better = solve_master(H, y, C, sample_weight=weight, **longer)
    assert found.dual_bound <= better.objective * (1 + 1e-10)
    assert better.objective <= found.objective * (1 + 1e-12)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(9)
    H, y, _ = slow_master.random_problem(rng, 8, 9_000, 12)
    one, two = (
        solve_master(H, y, 1e4, max_working_sets=5, random_state=0, n_threads=n) for n in (1, 2)
    )
    assert one.objective == two.objective
    for a, b in zip(one.coef + one.violations, two.coef + two.violations):
        np.testing.assert_array_equal(a, b)


def test_lbfgsb_has_one_thread_of_linear_algebra(monkeypatch):
    """Sums of BLAS depend on its threads, on every road to the solver."""
    seen = set()

    def watched(*args, **options):
        seen.update(library["num_threads"] for library in threadpool_info())
        return minimize(*args, **options)

    monkeypatch.setattr("cwboost.solvers.lbfgsb.minimize", watched)
    X, y = np.arange(12.0)[:, None], np.arange(12) % 3
    for solve in (
        lambda: solve_master([[np.where(y == c, 1, -1)] for c in range(3)], y, 9.0, "lbfgsb"),
        lambda: paper(solver="lbfgsb", n_estimators=1).fit(X, y),
        lambda: MultiBoostClassifier(n_estimators=1).fit(X, y),
    ):
        seen.clear()
        with threadpool_limits(2):
            solve()
        assert seen == {1}


H, Y = [np.array([[1, -1, 1]]), np.array([[-1, 1, 1]])], np.array([0, 1, 0])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"C": 0}, ValueError, "C must be"),
        ({"C": np.nan}, ValueError, "C must be"),
        ({"C": 1 + 0j}, TypeError, "C must be"),
        ({"solver": "mosek"}, ValueError, "solver must be"),
        ({"order": "greedy"}, ValueError, "order must be"),
        ({"subspace_steps": "no"}, TypeError, "subspace_steps must be a bool, got 'no'"),
        ({"epsilon": -1.0}, ValueError, "epsilon"),
        ({"max_working_sets": 0}, ValueError, "max_working_sets"),
        ({"H": H[:1]}, TypeError, "H must be a list"),
        ({"H": [H[0], H[1][:, :2]]}, ValueError, r"H\[1\] must have shape"),
        ({"H": [H[0], 0 * H[1]]}, ValueError, r"H\[1\] must hold only -1 and \+1"),
        ({"y": np.array([0, 1, 2])}, ValueError, "y must hold labels"),
        ({"y": np.array([0, 1, -1])}, ValueError, "y must hold labels"),
        ({"y": np.array([0, 0, 0])}, ValueError, "y must have every class .* got none of 1"),
        ({"sample_weight": [1, 0, 1]}, ValueError, "y must have every class .* got none of 1"),
        ({"y": np.array([0.0, 1.0, 0.0])}, TypeError, "y must hold integers"),
        ({"coef0": [[1.0], [-1.0]]}, ValueError, r"coef0\[1\]"),
        ({"coef0": [[1.0]]}, ValueError, "coef0 must have 2"),
        ({"coef0": [[0.0], [1e9]]}, ValueError, "coef0 must be smaller"),
        ({"n_new": 2}, ValueError, "n_new"),
        ({"n_new": 0.5}, ValueError, "n_new must be integers"),
        ({"sample_weight": [1.0, -1.0, 1.0]}, ValueError, "sample_weight"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        solve_master(**({"H": H, "y": Y, "C": 1.0} | arguments))


@pytest.mark.parametrize("C", [np.float32(50), np.float16(50), np.int8(50)])
def test_the_type_of_C_changes_nothing(C):
    """float32 cannot hold the largest C, and in float16 the objective would lose digits."""
    H, y, _ = slow_master.random_problem(np.random.default_rng(0), 3, 50, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = solve_master(H, y, C, random_state=0)
    assert type(found.objective) is float
    assert found.objective == solve_master(H, y, 50.0, random_state=0).objective


def test_steps_save_passes_and_never_raise_the_objective(monkeypatch):
    rng = np.random.default_rng(1)
    H, y, weight = slow_master.random_problem(rng, 5, 300, 60, True)
    options = {"epsilon": 1e-6, "max_working_sets": 20_000, "random_state": 0}
    objectives = []
    after_pass = SubspaceSteps.after_pass

    def watched(self, master):
        objectives.append(master.objective)
        after_pass(self, master)
        objectives.append(master.objective)

    monkeypatch.setattr(SubspaceSteps, "after_pass", watched)
    found = solve_master(H, y, 1e5, sample_weight=weight, **options)
    assert (np.diff(objectives) <= 1e-12 * found.objective).all()
    monkeypatch.setattr(SubspaceSteps, "after_pass", lambda self, master: None)
    plain = solve_master(H, y, 1e5, sample_weight=weight, **options)
    assert found.converged and plain.converged
    assert found.objective == pytest.approx(plain.objective, rel=1e-8)
    assert 2 * found.n_working_sets < plain.n_working_sets


@pytest.mark.parametrize("n_new", [0, 1, 3, [2, 0, 6, 4]])
def test_the_first_pass_updates_every_new_column(n_new):
    H, y, _ = slow_master.random_problem(np.random.default_rng(6), 4, 80, 6)
    found = solve_master(H, y, 1e4, n_new=n_new, max_working_sets=1)
    counts = np.broadcast_to(n_new, 4)
    assert found.n_updates == counts.sum()
    for coef, n in zip(found.coef, counts):
        assert not coef[: 6 - n].any()
        assert n == 0 or coef[6 - n :].any()


@pytest.mark.parametrize("n_passes", [1, 2, 3, 7])
def test_algorithm_2_as_printed(n_passes):
    """Draws with replacement and no subspace steps: the slow reference, draw by draw."""
    H, y, _ = slow_master.random_problem(np.random.default_rng(4), 4, 90, 6)
    options = {"epsilon": 1e-3, "max_working_sets": n_passes, "order": "random", "n_new": 1}
    found = solve_master(H, y, 1e3, subspace_steps=False, random_state=3, **options)
    rng = np.random.default_rng(np.random.RandomState(3).randint(2**31))
    new = [(c, 5) for c in range(4)]
    expected = slow_master.printed_fcd(H, y, 1e3, new, 1e-3, n_passes, rng)
    for mine, slow in zip(found.coef, expected):
        np.testing.assert_allclose(mine, slow, rtol=1e-9, atol=1e-12)
    with_steps = solve_master(H, y, 1e3, random_state=3, **options)
    assert (with_steps.objective != found.objective) == (n_passes > 2)


def test_training_with_algorithm_2_as_printed(monkeypatch):
    calls = []
    from cwboost.training import column_generation

    def watched(*args, **options):
        calls.append((options["order"], options["subspace_steps"]))
        return fcd(*args, **options)

    monkeypatch.setattr(column_generation, "fcd", watched)
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(120, 3)), rng.integers(3, size=120)
    options = {"n_estimators": 4, "max_working_sets": 4}
    models = [paper(solver=solver, **options) for solver in ("fcd", "fcd_printed")]
    ours, printed = (model.fit(X, y).history_["objective"] for model in models)
    assert set(calls) == {("permutation", True), ("random", False)}
    assert ours[0] != printed[0]
    assert (np.diff(printed) < 0).all()
