"""Sums over the nodes of trees in one partition, and the splits chosen from them."""

import numpy as np
import pytest
from cwboost._kernels.partitions.node_sums import NodeRows
from cwboost._kernels.partitions.splits import best_splits, smallest_places
from cwboost._kernels.trees.growth import TREE_CRITERIA

EVERY = np.tile(np.arange(3, dtype=np.int32), 2)


def node_rows(n_samples, rng):
    codes = rng.integers(0, 5, size=(n_samples, 3), dtype=np.uint8)
    weights = rng.integers(-9, 10, size=(2, n_samples)).astype(np.float64)
    n_bins, has_nan = np.full(3, 4, dtype=np.int32), np.array([True, False, True])
    rows = NodeRows(codes, n_bins, has_nan, weights, np.ones(2), np.zeros(2), 1)
    return rows, codes, weights


def ask(rows, nodes):
    """Return the ranges of all features in two nodes."""
    nodes = np.array(nodes, dtype=np.int32)
    return rows.ranges(nodes, np.full(2, 3, dtype=np.int32), EVERY)


def sums_of(w):
    return [w.sum(), np.abs(w).sum(), len(w)]


@pytest.mark.parametrize("n_samples", [0, 1, 40])
def test_sums_of_the_roots(n_samples):
    """A partition may hold no example at all."""
    rows, codes, weights = node_rows(n_samples, np.random.default_rng(0))
    histograms = rows.histograms(np.repeat([0, 1], 3), EVERY)
    ranges = ask(rows, [0, 1])
    cuts = np.array([2, 2, 2, 1, -1, 2], dtype=np.int16)
    below, missing = (iter(found.tolist()) for found in rows.below(cuts))
    for pair, (tree, feature) in enumerate(zip(np.repeat([0, 1], 3), EVERY)):
        kept = weights[tree] != 0
        w, code = weights[tree, kept], codes[kept, feature]
        for c, found in enumerate(histograms[pair].tolist()):
            assert found == sums_of(w[code == c])
        known = code[code != 4].astype(int)
        least, most = (known.min(), -known.max()) if len(known) else (256, 256)
        assert ranges[pair].tolist() == [least, most, -int((code == 4).any())]
        if cuts[pair] >= 0:
            assert next(below) == sums_of(w[code <= cuts[pair]])
            if feature != 1:
                assert next(missing) == sums_of(w[code == 4])
    assert [*below, *missing] == []
    totals = rows.totals(np.arange(2))
    assert np.array_equal(totals[:, 0], weights.sum(axis=1))
    assert np.array_equal(totals[:, 2], (weights != 0).sum(axis=1))


@pytest.mark.parametrize("width", [20, 64, 80])
def test_ranges_of_many_features(width):
    """Codes are gathered in another way if a register holds those of an example."""
    rng = np.random.default_rng(2)
    codes = rng.integers(20, 180, size=(45, width), dtype=np.uint8)
    n_bins, has_nan = np.full(width, 255, dtype=np.int32), np.zeros(width, dtype=bool)
    weights = np.where(rng.random((2, 45)) < 0.8, 1.0, 0.0)
    rows = NodeRows(codes, n_bins, has_nan, weights, np.ones(2), np.zeros(2), 1)
    features = [rng.choice(width, 19, replace=False) for _ in range(2)]
    found = rows.ranges(
        np.arange(2, dtype=np.int32),
        np.full(2, 19, dtype=np.int32),
        np.concatenate(features).astype(np.int32),
    )
    for tree in range(2):
        own = codes[weights[tree] > 0][:, features[tree]].astype(int)
        expected = [own.min(axis=0), -own.max(axis=0), np.zeros(19)]
        np.testing.assert_array_equal(found[19 * tree : 19 * tree + 19].T, expected)


@pytest.mark.parametrize("is_asked", [True, False])
def test_split(is_asked):
    """Rows are divided by the codes that a question gathered, or by those of the partition."""
    rows, codes, weights = node_rows(60, np.random.default_rng(1))
    if is_asked:
        ask(rows, [0, 1])
    features, cuts = np.array([2, 0], dtype=np.int32), np.array([1, 2], dtype=np.int32)
    sides, missing_right = np.zeros((0, 32), dtype=np.uint8), np.array([0, 1], dtype=np.uint8)
    rows.split(np.arange(2, dtype=np.int32), features, cuts, missing_right, sides)
    found = rows.totals(np.arange(2, 6))[:, :3].tolist()
    ranges = ask(rows, [2, 5])
    for tree in range(2):
        code, kept = codes[:, features[tree]], weights[tree] != 0
        right = np.where(code == 4, missing_right[tree] > 0, code > cuts[tree])
        for side in range(2):
            assert found[2 * tree + side] == sums_of(weights[tree, kept & (right == side)])
        low = codes[kept & (right == tree)].astype(int).min(axis=0)
        assert ranges[3 * tree : 3 * tree + 3, 0].tolist() == low.tolist()


def test_best_splits():
    """The largest gain wins, then the first; missing values go where they gain more."""
    nodes = np.array([1, 0, 1, 0, 1])
    totals = np.array([[0.0, 8.0, 8.0, 0.0], [0.0, 8.0, 8.0, 0.0], [0.0, 8.0, 8.0, 0.0]])
    below = np.zeros((5, 2, 3))
    below[:, 0] = [[1, 3, 3], [2, 4, 4], [3, 3, 3], [1, 1, 1], [3, 3, 3]]
    below[1, 1] = [2, 2, 2]
    best, missing_right = best_splits(nodes, below, totals, TREE_CRITERIA["edge"], 2)
    assert best.tolist() == [1, 2]
    assert missing_right.tolist() == [False, True]


@pytest.mark.parametrize("n_places", [0, 1, 3, 6])
def test_smallest_places(n_places):
    keys = np.array([[3, 1, 2, 1, 5, 4], [6, 5, 4, 3, 2, 1]], dtype=np.float32)
    expected = np.argsort(keys, axis=1, kind="stable")[:, :n_places]
    assert np.array_equal(smallest_places(keys, n_places), expected)
