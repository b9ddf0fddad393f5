"""Gains beyond chance, against their definition."""

import numpy as np
import pytest

from cwboost.kernels import LinearGains, SortedFeatures, chance_deviations, gained_fractions


@pytest.mark.parametrize("factor", [1.0, 2.0**-600, 2.0**700])
def test_gained_fractions(factor):
    rng = np.random.default_rng(5)
    features = SortedFeatures(rng.normal(size=(60, 4)))
    weights = rng.normal(size=(3, 60)) + 0.2
    weights[1] = 0.0
    sums, norms = np.abs(weights.sum(axis=1)), np.linalg.norm(weights, axis=1)

    def by_chance(n_comparisons):
        deviations = chance_deviations(n_comparisons)[:, None]
        return sums + np.maximum(0.0, deviations * norms - sums).mean(axis=0)

    found = features.search(weights * factor)
    gains = gained_fractions(found.edges, found.sums, found.norms, 24)
    assert gains.dtype == np.float32 and gains[1] == 0
    kept = [0, 2]
    expected = 1 - by_chance(24)[kept] / (found.edges[kept] / factor)
    np.testing.assert_allclose(gains[kept], expected, rtol=1e-6)
    found = features.search_shared(weights * factor)
    gains = gained_fractions(found.edges, found.sums, found.norms, 24)
    np.testing.assert_allclose(gains, 1 - by_chance(1).sum() / (found.edges / factor), rtol=1e-6)


def test_linear_gains():
    """Credit features by what they do for the weights, whatever their entries and units."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    X[:, 3] = np.exp(X[:, 3])
    weights = np.sign(X[:, 0] + 0.5 * X[:, 1])[None]
    directions = rng.normal(size=(6, 40))
    directions[5] = 0
    polarity = np.where(directions[0] + 0.5 * directions[1] > 0, 1, -1)
    of_learners = LinearGains(X)
    about = polarity, np.repeat(weights, 40, axis=0), np.full(40, 0.5)
    gains = of_learners(directions, *about)
    assert (gains.sum(axis=1) <= 0.5).all() and (gains[:, 5] == 0).all()
    mean = gains.mean(axis=0)
    assert mean[0] > 2 * mean[1] > 0 and (mean[2:] < 0.04 * mean[0]).all()
    assert (mean[2:] > -0.2 * mean[0]).all()
    # One learner for several targets, and other units.
    j = [int(np.argmax(gains[:, 0]))]
    both = np.vstack([weights, -weights])
    shared = of_learners(directions[:, j], polarity[j], both, [0.5])
    np.testing.assert_allclose(shared, gains[j], rtol=1e-5)
    small = LinearGains(X * 2.0**-700)(directions * 2.0**700, *about)
    np.testing.assert_allclose(small, gains, rtol=1e-4, atol=1e-7)


def test_linear_gains_of_strange_data():
    X = np.zeros((70, 300))
    X[:, 1], X[3, 2], X[::2, 3] = np.arange(70), np.inf, 1e300
    gains = LinearGains(X)
    weights = np.where(np.arange(70) > 30, 1.0, -1.0)[None]
    for direction in (np.zeros((300, 1)), np.ones((300, 1))):
        for row in (weights, 0 * weights):
            found = gains(direction, [1], row, np.array([0.9], dtype=np.float32))
            assert found.shape == (1, 300) and np.isfinite(found).all()
    assert found.dtype == np.float32 and gains(np.ones((300, 0)), [], weights, []).shape == (0, 300)
