"""Pair weights against their definition over all pairs."""

import numpy as np
import pytest
import slow_master
from cwboost._kernels.fcd.pair_weights import PairWeights

from cwboost import pack_outputs
from cwboost.master import SMOOTHING, RestrictedMaster, steps_of_cells


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
    cell_counts = rng.integers(1, 9, size=n_classes)
    for step in (0.1, 0.5, 1.0):
        master = RestrictedMaster(
            counts, 1e12, weight, n_threads, base=rng.normal(size=(n, n_classes))
        )
        for _ in range(3):
            cells = (rng.random((n_classes, n)) * cell_counts[:, None]).astype(np.int32)
            R, loss = np.array(master.weights), master.pairs.loss
            scores, total = master.scores_of(np.arange(n)), master.cell_coef
            outputs, coef = master.step_cells(np.arange(n_classes), cells, cell_counts, step)
            parts = np.split(outputs, np.cumsum(cell_counts)[:-1])
            for c, own in enumerate(parts):
                P, N = (
                    np.bincount(cells[c], np.maximum(sign * R[c], 0.0), minlength=len(own))
                    for sign in (1, -1)
                )
                s = SMOOTHING * np.abs(R[c]).sum() / n
                exact = 0.5 * np.log((P + s) / (N + s))
                assert np.abs(own).max() == 127
                unit = np.abs(exact).max() / 127
                assert coef[c] == pytest.approx(step * unit, rel=1e-9)
                assert np.abs(own * unit - exact).max() <= 0.5001 * unit
                scores[:, c] += coef[c] * own[cells[c]]
            np.testing.assert_allclose(master.scores_of(np.arange(n)), scores, rtol=1e-12)
            gaps = scores - scores[np.arange(n), y][:, None]
            mu = weight[:, None] * np.exp(gaps) * (np.arange(n_classes) != y[:, None])
            np.testing.assert_allclose(master.pairs.loss, mu.sum(), rtol=1e-12)
            assert master.pairs.loss <= loss * (1 + 1e-12)
            assert master.cell_coef == pytest.approx(total + coef.sum())


def test_cells_without_weight_and_learners_without_cells_of_weight():
    outputs, units, _ = steps_of_cells(np.zeros((3, 2)), np.array([0, 1, 3]), 10, 1.0)
    assert outputs.tolist() == [0, 0, 0] and (units > 0).all()
    outputs, units, _ = steps_of_cells(np.zeros((0, 2)), np.array([0]), 10, 1.0)
    assert len(outputs) == len(units) == 0
    with pytest.raises(ValueError, match="cells: expected 1 rows of 5"):
        RestrictedMaster([2, 3], 1.0).step_cells([0], np.zeros((1, 4), np.int32), [1], 0.1)
