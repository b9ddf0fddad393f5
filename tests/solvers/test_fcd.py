"""Fast coordinate descent: Algorithm 2 as printed, and when it says that it has converged."""

import numpy as np
import pytest
import slow_master
from models import paper

from cwboost import pack_outputs, solve_master
from cwboost.master import RestrictedMaster
from cwboost.solvers.fcd import fcd


def test_weights_that_are_not_numbers_are_not_convergence():
    rng = np.random.default_rng(0)
    master = RestrictedMaster(np.array([5, 5]), 10.0)
    for c in range(2):
        master.add(np.full(3, c), pack_outputs(rng.choice([-1, 1], (10, 3))))
    master.weights[0, 0] = np.nan
    report = fcd(master, [], epsilon=1e6, rng=rng)
    assert np.isnan(report.max_violation)


def test_the_mean_loss_is_one_before_the_first_column():
    master = RestrictedMaster(np.array([2, 3, 4]), 10.0, np.linspace(0.5, 2.0, 9))
    assert master.mean_loss == pytest.approx(1.0)


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
    from cwboost import column_generation

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
