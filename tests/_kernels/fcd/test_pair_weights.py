"""Pair weights against their definition over all pairs."""

import numpy as np
import pytest
import slow_master
from cwboost._kernels.fcd.pair_weights import PairWeights
from cwboost._kernels.fcd.working_set import in_turns, violated

from cwboost import Division, pack_outputs
from cwboost.master import SMOOTHING, RestrictedMaster, steps_of_cells
from cwboost.support.weights import effective_size


def test_pair_weights_are_exponentials_of_scores():
    rng = np.random.default_rng(6)
    H, y, weight = slow_master.random_problem(rng, 2, 400, 50, weighted=True)
    order = np.argsort(y, kind="stable")
    H, y, weight = [h[:, order] for h in H], y[order], weight[order]
    master = RestrictedMaster(np.bincount(y), 1e3, weight)
    for c, h in enumerate(H):
        master.add(np.full(50, c), pack_outputs(h.T))
    coef = [40.0 * rng.random(50), 5.0 * rng.random(50)]
    master.set_coef(coef)
    mu = slow_master.pair_weights(H, y, coef, weight)
    own = y, np.arange(len(y))
    # A margin near 700 has itself an error of 1e-13.
    np.testing.assert_allclose(master.weights[own], mu.sum(axis=1), rtol=1e-12, atol=1e-280)
    coef[0] *= 1e3
    with pytest.raises(OverflowError):
        master.set_coef(coef)
    np.testing.assert_allclose(master.weights[own], mu.sum(axis=1), rtol=1e-12, atol=1e-280)


def test_tables_of_many_small_classes():
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 60, size=40)
    counts[3] = 1  # and the tables are filled in several groups of classes
    n = int(counts.sum())
    pairs = PairWeights(counts, rng.uniform(0.5, 2.0, size=n), 1.0, 1)
    signs = rng.choice([-1, 1], size=(40, n))
    tables = pairs.layer_tables(pack_outputs(signs.T))
    y = np.repeat(np.arange(40), counts)
    for c, b, s, t in rng.integers([40, 40, 2, 2], size=(200, 4)):
        chosen = (y == b) & (signs[b] == 2 * s - 1) & (signs[c] == 2 * t - 1) & (b != c)
        assert tables[c, b, s, t] == pytest.approx(-pairs.weights[c, chosen].sum(), rel=1e-12)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_cells_take_fractions_of_their_exact_steps(seed, n_threads):
    """The definition, cell by cell; the loss falls though all classes step together."""
    rng = np.random.default_rng(seed)
    n, n_classes = (40_000, 4) if n_threads > 1 else (300, 2 + seed)
    counts = np.bincount(rng.integers(0, n_classes, n), minlength=n_classes)
    y = np.repeat(np.arange(n_classes), counts)
    weight = rng.uniform(0.5, 2.0, size=n)
    n_cells = int(rng.integers(2, 9))
    first = int(rng.integers(0, 2))  # of two classes the second alone may step
    for step in (0.1, 0.5, 1.0):
        master = RestrictedMaster(
            counts, 1e12, weight, n_threads, base=rng.normal(size=(n, n_classes))
        )
        for _ in range(3):
            cells = rng.integers(0, n_cells, n).astype(np.int32)
            R, loss = np.array(master.weights), master.pairs.loss
            scores = master.scores_of(np.arange(n))
            steps = master.step_cells(Division(None, cells, n_cells), n_classes - first, step, 0.0)
            for k, own in enumerate(steps.outputs.T):
                r = R[first + k]
                P, N = (
                    np.bincount(cells, np.maximum(sign * r, 0.0), minlength=n_cells)
                    for sign in (1, -1)
                )
                s = SMOOTHING * np.abs(r).sum() / effective_size(weight)
                exact = 0.5 * np.log((P + s) / (N + s))
                assert np.abs(own).max() == 127
                unit = np.abs(exact).max() / 127
                assert steps.coef[k] == pytest.approx(step * unit, rel=1e-9)
                assert np.abs(own * unit - exact).max() <= 0.5001 * unit
                np.testing.assert_allclose(steps.cover, np.bincount(cells, weight), rtol=1e-6)
                assert steps.edges[k] == pytest.approx(np.abs(P - N).sum() / master.q)
                scores[:, first + k] += steps.coef[k] * own[cells]
            np.testing.assert_allclose(master.scores_of(np.arange(n)), scores, rtol=1e-12)
            gaps = scores - scores[np.arange(n), y][:, None]
            mu = weight[:, None] * np.exp(gaps) * (np.arange(n_classes) != y[:, None])
            np.testing.assert_allclose(master.pairs.loss, mu.sum(), rtol=1e-12)
            own = np.where(np.arange(n_classes) == y[:, None], mu.sum(axis=1)[:, None], -mu)
            np.testing.assert_allclose(master.weights, own.T, rtol=1e-12)
            wrong = scores.argmax(axis=1) != y
            assert master.train_error == pytest.approx(np.average(wrong, weights=weight))
            assert master.pairs.loss <= loss * (1 + 1e-12)
            assert master.objective == pytest.approx(master.pairs.loss / master.q)


def test_penalized_steps_are_those_of_coefficients():
    """Each is what one coordinate update gives a column that is the sign of the step in its cell.

    The objective of a cell of sums P and N over q is |t| + P exp(-t) + N exp(t).
    """
    sums = np.array([[[30.0, 4.0], [2.0, 1.5], [0.5, 9.0], [3.0, 0.0]]])
    steps = steps_of_cells(sums, np.ones(4), 0.0, 1.0, 0.0, is_penalized=True)
    found = steps.coef[0] * steps.outputs[:, 0]
    grid = np.linspace(-3, 3, 60_001)
    for (P, N), step in zip(sums[0], found):
        best = grid[np.argmin(np.abs(grid) + P * np.exp(-grid) + N * np.exp(grid))]
        assert step == pytest.approx(best, abs=0.51 * steps.coef[0] + 1e-4)
    assert steps.outputs[1, 0] == 0  # |P - N| is below the penalty


def test_cells_have_the_same_bits_at_any_number_of_threads():
    rng = np.random.default_rng(0)
    counts = np.array([20_000, 9_003, 17])
    cells = rng.integers(0, 50, counts.sum()).astype(np.int32)
    found = []
    for n_threads in (1, 2, 5):
        master = RestrictedMaster(counts, 1e12, None, n_threads)
        for _ in range(2):
            steps = master.step_cells(Division(None, cells, 50), 3, 0.3, 0.0)
        found.append([steps.outputs, steps.coef, steps.edges, master.weights, master.objective])
    for other in found[1:]:
        np.testing.assert_equal(other, found[0])


def test_cells_without_weight_and_classes_that_do_not_pay_take_no_step():
    sums = np.zeros((2, 3, 2))
    sums[1] = [[3.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    steps = steps_of_cells(sums, np.ones(3), 0.1, 1.0, 1.5)
    assert steps.outputs.T.tolist() == [[0, 0, 0], [127, 0, 0]]
    assert steps.coef[0] == 0 < steps.coef[1] and steps.edges.tolist() == [0, 2]
    assert not steps_of_cells(sums, np.ones(3), 0.1, 1.0, 2.0).coef.any()
    master = RestrictedMaster([2, 3], 1.0)
    with pytest.raises(ValueError, match="5"):
        master.step_cells(Division(None, np.zeros(4, np.int32), 1), 2, 0.1, 0.0)


def test_violated_as_the_paper_defines_it():
    edges = np.array([[1.5, 0.5, 0.5, 0.0], [1.05, 0.95, 1.0, 0.8]])
    coef = np.array([[0.0, 0.0, 2.0, 0.0], [1.0, 1.0, 1.0, 0.0]])
    worst, classes, rows = violated(edges, coef, 0.1)
    assert worst == 0.5
    assert (classes.tolist(), rows.tolist()) == ([0, 0], [0, 2])
    worst, classes, rows = violated(edges, coef, 0.01)
    assert (classes.tolist(), rows.tolist()) == ([0, 0, 1, 1], [0, 2, 0, 1])


@pytest.mark.parametrize("entry", [(0, 0), (0, 3), (1, 1), (1, 3)])
def test_a_violation_that_is_not_a_number_is_the_worst_and_in_the_working_set(entry):
    edges = np.array([[1.5, 0.5, 0.5, 0.0], [1.05, 0.95, 1.0, 0.8]])
    edges[entry] = np.nan
    worst, classes, rows = violated(edges, np.ones((2, 4)), 0.1)
    assert np.isnan(worst)
    assert entry in zip(classes.tolist(), rows.tolist())


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
