"""Gains beyond chance, against their definition."""

import numpy as np
import pytest

from cwboost.kernels import SortedFeatures, chance_deviations, gained_fractions


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
