"""Sums over the nodes of trees in one partition, compared with NumPy."""

import numpy as np
import pytest
from cwboost._kernels.partitions.node_sums import NodeRows


def node_rows(n_samples, rng):
    codes = rng.integers(0, 5, size=(3, n_samples), dtype=np.uint8)
    weights = rng.integers(-9, 10, size=(2, n_samples)).astype(np.float64)
    n_bins = np.full(3, 4, dtype=np.int32)
    rows = NodeRows(codes, n_bins, weights, np.ones(2), np.zeros(2), 1)
    return rows, codes, weights


@pytest.mark.parametrize("n_samples", [0, 1, 40])
def test_sums_of_the_roots(n_samples):
    """A partition may hold no example at all."""
    rows, codes, weights = node_rows(n_samples, np.random.default_rng(0))
    nodes, features = np.repeat([0, 1], 3), np.tile(np.arange(3, dtype=np.int32), 2)
    histograms = rows.histograms(nodes, features)
    ranges = rows.ranges(nodes, features)
    cuts = np.full(6, 2, dtype=np.int32)
    below = rows.below(nodes, features, cuts)
    for pair, (tree, feature) in enumerate(zip(nodes, features)):
        kept = weights[tree] != 0
        w, code = weights[tree, kept], codes[feature, kept]
        for c, found in enumerate(histograms[pair].tolist()):
            assert found == [w[code == c].sum(), np.abs(w[code == c]).sum(), (code == c).sum()]
        known = code[code != 4].astype(int)
        least, most = (known.min(), -known.max()) if len(known) else (256, 256)
        assert ranges[pair].tolist() == [least, most, -int((code == 4).any())]
        for half, part in zip(below[pair], (code <= 2, code == 4)):
            assert half.tolist() == [w[part].sum(), np.abs(w[part]).sum(), part.sum()]
    totals = rows.totals(np.arange(2))
    assert np.array_equal(totals[:, 0], weights.sum(axis=1))
    assert np.array_equal(totals[:, 2], (weights != 0).sum(axis=1))
