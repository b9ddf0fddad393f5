"""The formulas of docs/theory.md, each checked with numbers against sums over all pairs."""

from itertools import pairwise

import numpy as np
import pytest
import slow_master
from scipy.optimize import minimize, minimize_scalar
from scipy.special import softmax

from cwboost import pack_outputs, solve_master
from cwboost.baselines.codes import random_half
from cwboost.calibration.calibration import LOSS_SCALE
from cwboost.master import RestrictedMaster

C = 50.0


@pytest.fixture(params=[1, 2, 3])
def problem(request):
    """Columns, labels, example weights, and coefficients that are no optimum."""
    rng = np.random.default_rng(request.param)
    H, y, weight = slow_master.random_problem(rng, 2 + request.param, 60, 4, weighted=True)
    order = np.argsort(y, kind="stable")
    H, y, weight = [h[:, order] for h in H], y[order], weight[order]
    return H, y, weight, [rng.uniform(0, 0.4, size=4) * (rng.random(4) < 0.7) for _ in H]


def master_at(H, y, weight, coef, base=None):
    master = RestrictedMaster(np.bincount(y), C, weight, base=base)
    for c, h in enumerate(H):
        master.add(np.full(len(h), c), pack_outputs(h.T))
    master.set_coef(coef)
    return master


def test_products_with_one_matrix_are_sums_over_all_pairs(problem):
    H, y, weight, coef = problem
    mu = slow_master.pair_weights(H, y, coef, weight)
    R = np.array([np.where(y == c, mu.sum(axis=1), -mu[:, c]) for c in range(len(H))])
    master = master_at(*problem)
    np.testing.assert_allclose(master.weights, R, rtol=1e-10)
    slow = slow_master.edges(H, y, C, coef, weight)
    for c, h in enumerate(H):
        np.testing.assert_allclose(h @ R[c] / master.q, slow[c], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(master.edges()[c], slow[c], rtol=1e-9, atol=1e-12)
    scores = np.array([w @ h for w, h in zip(coef, H)])
    margins = (mu * slow_master.margins(H, y, coef)).sum()
    assert (R * scores).sum() == pytest.approx(margins)
    assert sum(w @ e for w, e in zip(coef, slow)) == pytest.approx(margins / master.q)
    assert master.pairs.margins == pytest.approx(margins)


def test_coordinate_step_is_the_minimiser_and_the_printed_root(problem):
    H, y, weight, coef = problem
    q = slow_master.q_of(y, C, len(H), weight)
    mu = slow_master.pair_weights(H, y, coef, weight)
    for c in range(len(H)):
        d = slow_master.delta(H, y, c, 0)
        plus, minus = mu[d > 0].sum(), mu[d < 0].sum()
        step = np.log(2 * plus / (q + np.sqrt(q**2 + 4 * plus * minus)))
        printed = np.log(np.sqrt(plus * minus + q**2 / 4) - q / 2) - np.log(minus)
        assert step == pytest.approx(printed, rel=1e-9, abs=1e-12)
        found = minimize_scalar(
            lambda s, plus=plus, minus=minus: s + (minus * np.exp(s) + plus * np.exp(-s)) / q
        )
        assert step == pytest.approx(found.x, abs=1e-6)
        assert (step > 0) == (plus - minus > q)
        master = master_at(*problem)
        master.update_coordinates(np.array([c]), np.array([0]))
        assert master.coef[c][0] == pytest.approx(max(0.0, coef[c][0] + step), abs=1e-10)


def test_offsets_are_weights_of_the_pairs(problem):
    """The bound with base scores has the margins of the columns alone."""
    H, y, weight, coef = problem
    n, K = len(y), len(H)
    base = np.random.default_rng(5).normal(size=(n, K))
    q = slow_master.q_of(y, C, K, weight)
    others = np.arange(K) != y[:, None]
    offset = weight[:, None] * np.exp(base - base[np.arange(n), y][:, None])
    mu = np.where(others, offset * np.exp(-slow_master.margins(H, y, coef)), 0.0)

    master = master_at(*problem, base)
    assert master.objective == pytest.approx(sum(w.sum() for w in coef) + mu.sum() / q)

    best_edge = max(e.max() for e in master.edges())
    A, B = (mu * slow_master.margins(H, y, coef)).sum(), mu.sum()
    t = min(1 / best_edge, np.exp(A / B))
    lam = t * mu[others] / q
    value = (lam * (1 + np.log(offset[others] / q) - np.log(lam))).sum()
    assert value == pytest.approx(t / q * (A + (1 - np.log(t)) * B))
    assert master.dual_bound(best_edge) == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("factor", [-1.0, 0.3, 1.0, 5.0])
def test_best_scaling_of_the_dual(problem, factor):
    H, y, weight, coef = problem
    coef = [np.abs(factor) * w for w in coef]
    if factor < 0:
        # Columns that lower the margins: A < 0.
        H = [-h for h in H]
    best_edge = max(e.max() for e in slow_master.edges(H, y, C, coef, weight))
    bound = master_at(H, y, weight, coef).dual_bound(best_edge)
    assert bound == pytest.approx(slow_master.dual_value(H, y, C, coef, weight), rel=1e-10)
    q = slow_master.q_of(y, C, len(H), weight)
    mu = slow_master.pair_weights(H, y, coef, weight)
    A, B = (mu * slow_master.margins(H, y, coef)).sum(), mu.sum()

    def value(t):
        return t / q * (A + (1 - np.log(t)) * B)

    upper = -np.log(best_edge) if best_edge > 0 else 30.0
    found = minimize_scalar(lambda s: -value(np.exp(s)), bounds=(-40.0, upper), method="bounded")
    assert bound == pytest.approx(-found.fun, rel=1e-4)
    plain = value(1 / max(1, best_edge))
    assert bound >= plain - 1e-12 * abs(plain)
    if best_edge >= 1 and A >= 0:
        assert bound == pytest.approx(plain, rel=1e-12)


def test_bound_where_every_pair_weight_is_zero():
    y = np.array([0, 0, 1, 1])
    H = [np.array([[1, 1, -1, -1]]), np.array([[-1, -1, 1, 1]])]
    master = master_at(H, y, np.ones(4), [[500.0], [500.0]])
    assert master.pairs.loss == 0.0
    assert master.dual_bound(0.0) == 0.0


def test_printed_constraint_cuts_the_optimum_off(problem):
    """sum over y of lambda <= C / p: the optimal lambda violates it if a margin is negative."""
    H, y, _, _ = problem
    solution = solve_master(H, y, C, epsilon=1e-10, max_working_sets=5000, random_state=0)
    q = slow_master.q_of(y, C, len(H), np.ones(len(y)))
    lam = slow_master.pair_weights(H, y, solution.coef, np.ones(len(y))) / q
    assert slow_master.margins(H, y, solution.coef).min() < 0
    assert lam.sum(axis=1).max() > 1 / q


def test_slopes_and_curvatures_along_moves(problem):
    """What a subspace step reads: sums of mu g_k and mu g_k g_l over the pairs."""
    H, y, weight, coef = problem
    rng = np.random.default_rng(7)
    points = [coef, *([rng.uniform(0, 0.4, size=4) for _ in H] for _ in range(2))]
    master = master_at(*problem)
    scores = []
    for point in reversed(points):
        master.set_coef(point)
        scores.insert(0, master.pairs.scores_now())
    slope, curvature = master.pairs.derivatives(scores[1:])
    gains = [-slow_master.margins(H, y, point) for point in points]
    g = [newer - older for newer, older in pairwise(gains)]
    mu = slow_master.pair_weights(H, y, coef, weight)
    np.testing.assert_allclose(slope, [(mu * a).sum() for a in g], rtol=1e-9, atol=1e-12)
    expected = [[(mu * a * b).sum() for b in g] for a in g]
    np.testing.assert_allclose(np.asarray(curvature), expected, rtol=1e-9, atol=1e-12)


def test_scores_that_minimise_the_expected_loss():
    """exp(F_y) is proportional to the square root of P(y | x)."""
    P = np.array([0.5, 0.3, 0.15, 0.05])

    def loss(F):
        pairs = P[:, None] * np.exp(F[None, :] - F[:, None])
        return pairs.sum() - np.trace(pairs)

    F = minimize(loss, np.zeros(4), tol=1e-12).x
    np.testing.assert_allclose(softmax(LOSS_SCALE * F), P, atol=1e-5)


@pytest.mark.parametrize("n_classes", [3, 4, 5, 40])
def test_how_often_a_code_separates_two_classes(rng, n_classes):
    codes = np.array([random_half(n_classes, rng) for _ in range(20_000)])
    k = n_classes // 2
    share = 2 * k * (n_classes - k) / (n_classes * (n_classes - 1))
    assert np.mean(codes[:, 0] != codes[:, 1]) == pytest.approx(share, abs=0.02)
    assert share == pytest.approx({3: 2 / 3, 4: 2 / 3}.get(n_classes, 0.5), abs=0.11)
