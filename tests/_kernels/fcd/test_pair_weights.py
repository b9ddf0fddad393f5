"""Pair weights against their definition over all pairs."""

import numpy as np
import pytest
import slow_master
from cwboost._kernels.fcd.pair_weights import PairWeights

from cwboost import pack_outputs
from cwboost.master import RestrictedMaster


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
