"""What coordinate descent has beside its passes: subspace steps, the heaviest examples."""

from itertools import pairwise

import numpy as np
import pytest
import slow_master
from cwboost._kernels.fcd.column_store import ColumnStore
from cwboost._kernels.fcd.column_subset import take_columns
from cwboost._kernels.fcd.subspace import newton_step
from cwboost._kernels.fcd.working_set import in_turns, violated

from cwboost import CWBoostClassifier, pack_outputs, solve_master, unpack_outputs
from cwboost.datasets import load_vowel
from cwboost.master import RestrictedMaster
from cwboost.solvers import fcd as descent
from cwboost.solvers import heaviest
from cwboost.solvers.heaviest import HeaviestExamples
from cwboost.solvers.subspace_steps import SubspaceSteps


def sorted_problem(rng, n_classes, n_samples, n_columns):
    H, y, weight = slow_master.random_problem(rng, n_classes, n_samples, n_columns, True)
    order = np.argsort(y, kind="stable")
    return [h[:, order] for h in H], y[order], weight[order]


def master_of(H, y, C, weight, n_threads=1):
    master = RestrictedMaster(np.bincount(y), C, weight, n_threads)
    for c, h in enumerate(H):
        master.add(np.full(len(h), c), pack_outputs(h.T))
    return master


def random_coef(rng, H, scale=0.3):
    return [scale * rng.random(len(h)) for h in H]


@pytest.mark.parametrize("n_directions", [1, 2, 3])
def test_derivatives_along_moves(n_directions):
    rng = np.random.default_rng(n_directions)
    H, y, weight = sorted_problem(rng, 4, 203, 6)
    points = [random_coef(rng, H) for _ in range(n_directions + 1)]
    master = master_of(H, y, 1e3, weight)
    scores = []
    for point in reversed(points):
        master.set_coef(point)
        scores.insert(0, master.pairs.scores_now())
    slope, curvature = master.pairs.derivatives(scores[1:])
    mu = slow_master.pair_weights(H, y, points[0], weight)
    g = [
        slow_master.margins(H, y, old) - slow_master.margins(H, y, new)
        for new, old in pairwise(points)
    ]
    np.testing.assert_allclose(slope, [(mu * a).sum() for a in g], rtol=1e-10, atol=1e-10)
    expected = [[(mu * a * b).sum() for b in g] for a in g]
    np.testing.assert_allclose(curvature, expected, rtol=1e-10, atol=1e-10)


def test_newton_step_is_the_minimiser_and_ignores_empty_directions():
    a = np.random.default_rng(0).normal(size=(3, 3))
    curvature, slope = a @ a.T, np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(curvature @ newton_step(slope, curvature), -slope, rtol=1e-6)
    curvature[1] = curvature[:, 1] = 0.0
    step = newton_step(slope, curvature)
    assert step[1] == 0.0
    np.testing.assert_allclose((curvature @ step)[[0, 2]], -slope[[0, 2]], rtol=1e-6)
    np.testing.assert_array_equal(newton_step(slope, np.zeros((3, 3))), 0.0)


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


def test_violated_as_the_paper_defines_it():
    edges = np.array([[1.5, 0.5, 0.5, 0.0], [1.05, 0.95, 1.0, 0.8]])
    coef = np.array([[0.0, 0.0, 2.0, 0.0], [1.0, 1.0, 1.0, 0.0]])
    worst, classes, rows = violated(edges, coef, 0.1)
    assert worst == 0.5
    assert (classes.tolist(), rows.tolist()) == ([0, 0], [0, 2])
    worst, classes, rows = violated(edges, coef, 0.01)
    assert (classes.tolist(), rows.tolist()) == ([0, 0, 1, 1], [0, 2, 0, 1])
    edges[1, 3] = np.nan
    worst, classes, rows = violated(edges, coef, 0.1)
    assert np.isnan(worst) or (classes[-1], rows[-1]) == (1, 3)


def test_order_of_a_pass():
    rng = np.random.default_rng(7)
    classes = np.repeat(np.arange(4), [50, 3, 20, 37])
    rows = np.arange(110)
    picks, turn = rng.permutation(110), rng.permutation(4)
    for n_turns in (1, 3, 4):
        to_classes, to_rows = in_turns(classes, rows, picks, turn, n_turns)
        turns = np.arange(110) * n_turns // 110
        order = picks[np.argsort(turns * 4 + turn[classes[picks]], kind="stable")]
        np.testing.assert_array_equal(to_rows, order)
        np.testing.assert_array_equal(to_classes, classes[order])


def test_columns_on_some_examples():
    rng = np.random.default_rng(2)
    outputs = [rng.choice([-1, 1], size=(n, 203)).astype(np.int8) for n in (40, 1, 17)]
    store = ColumnStore(3, 26)
    for c, h in enumerate(outputs):
        store.add(np.full(len(h), c), pack_outputs(h.T))
    examples = np.sort(rng.choice(203, size=77, replace=False))
    classes = np.repeat([0, 2], [20, 17])
    rows = np.concatenate([np.sort(rng.choice(40, size=20, replace=False)), np.arange(17)])
    taken = take_columns(store, classes, rows, examples)
    for c in range(3):
        expected = outputs[c][rows[classes == c]][:, examples]
        np.testing.assert_array_equal(unpack_outputs(taken.bits(c), 77).T, expected)
    with pytest.raises(IndexError):
        take_columns(store, np.array([1]), np.array([1]), examples)
    with pytest.raises(IndexError):
        take_columns(store, np.array([1]), np.array([0]), np.array([3, 208]))


def few_heavy(rng, n_classes=4, n_samples=800, n_columns=30):
    """Columns that are often wrong on one example in ten: those have all the weight, soon."""
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_samples - n_classes)])
    hard = rng.random(n_samples) < 0.1
    chance = np.where(hard, 0.25, 0.0)
    H = []
    for c in range(n_classes):
        right = np.where(y == c, 1, -1)
        flips = rng.random((n_columns, n_samples)) < chance
        H.append(np.where(flips, -right, right).astype(np.int8))
    return H, y


@pytest.mark.parametrize("order", descent.ORDERS)
@pytest.mark.parametrize("epsilon", [0.1, 1e-6])
def test_the_heaviest_examples_lead_to_the_optimum(monkeypatch, order, epsilon):
    H, y = few_heavy(np.random.default_rng(3))
    options = {"epsilon": epsilon, "max_working_sets": 5_000, "order": order, "random_state": 0}
    sizes = []
    rebuild = HeaviestExamples.rebuild

    def watched(self):
        sizes.append(self.pairs.n_samples)
        rebuild(self)

    monkeypatch.setattr(HeaviestExamples, "rebuild", watched)
    found = solve_master(H, y, 1e30, **options)
    assert sizes and max(sizes) <= heaviest.FEW * len(y)
    assert found.converged
    theta = slow_master.violations(H, y, 1e30, found.coef)
    assert max(t.max() for t in theta) <= epsilon * (1 + 1e-6)
    monkeypatch.setattr(heaviest, "FEW", 0.0)
    plain = solve_master(H, y, 1e30, **options)
    assert found.objective == pytest.approx(plain.objective, rel=max(1e-8, 0.01 * epsilon))


def test_a_part_that_left_out_too_much_is_refused():
    """Solved for one example in eight, the others' weights would raise the objective."""
    rng = np.random.default_rng(4)
    H, y, weight = sorted_problem(rng, 4, 800, 30)
    master = master_of(H, y, 1e4, weight)
    master.set_coef(random_coef(rng, H, 0.01))
    before, objective = master.coef_matrix.copy(), master.objective
    classes = np.repeat(np.arange(4), 30)
    part = HeaviestExamples(master, np.arange(0, 800, 8), classes, np.tile(np.arange(30), 4))
    for _ in range(10):
        part.update_coordinates(classes, np.tile(np.arange(30), 4))
    assert not part.put_into(master)
    np.testing.assert_array_equal(master.coef_matrix, before)
    assert master.objective == pytest.approx(objective, rel=1e-12)


def test_a_part_of_all_examples_is_the_master():
    rng = np.random.default_rng(5)
    H, y, weight = sorted_problem(rng, 3, 203, 9)
    H[1] = H[1][:4]
    master = master_of(H, y, 1e3, weight)
    master.set_coef(random_coef(rng, H))
    classes = np.repeat([0, 1, 2], [9, 4, 9])
    rows = np.concatenate([np.arange(9), np.arange(4), np.arange(9)])
    part = HeaviestExamples(master, np.arange(203), classes, rows)
    assert part.objective == master.objective
    for a, b in zip(part.violations(), master.violations()):
        np.testing.assert_array_equal(a, b)
    part.update_coordinates(classes, rows)
    assert part.put_into(master)
    assert master.objective == pytest.approx(part.objective, rel=1e-12)


def test_pair_weights_are_exponentials_of_scores():
    rng = np.random.default_rng(6)
    H, y, weight = sorted_problem(rng, 2, 400, 50)
    master = master_of(H, y, 1e3, weight)
    coef = [40.0 * rng.random(50), 5.0 * rng.random(50)]
    master.set_coef(coef)
    mu = slow_master.pair_weights(H, y, coef, weight)
    # A margin near 700 has itself an error of 1e-13.
    np.testing.assert_allclose(master.pairs.own_sums(), mu.sum(axis=1), rtol=1e-12, atol=1e-280)
    coef[0] *= 1e3
    with pytest.raises(OverflowError):
        master.set_coef(coef)
    np.testing.assert_allclose(master.pairs.own_sums(), mu.sum(axis=1), rtol=1e-12, atol=1e-280)


def test_training_goes_on_between_the_rounds_that_end_it():
    """Where no new column pays, epsilon falls round by round: a continuation knows how far."""
    X, y = load_vowel(return_X_y=True)
    options = {"C": 1e2, "n_estimators": 300, "tol": 0.0, "random_state": 0}
    whole = CWBoostClassifier(**options).fit(X, y)
    assert whole.stop_reason_ == "optimal"
    last = whole.n_iter_
    for cut in range(last - 6, last):
        parts = CWBoostClassifier(**options | {"n_estimators": cut}, warm_start=True).fit(X, y)
        parts.set_params(n_estimators=300).fit(X, y)
        np.testing.assert_array_equal(parts.history_["objective"], whole.history_["objective"])
        np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))
