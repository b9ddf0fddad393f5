"""Sums over the nodes of trees in one partition, and the splits chosen from them."""

import numpy as np
import pytest

from cwboost._kernels.partitions.node_sums import NodeRows
from cwboost._kernels.partitions.splits import best_splits, join_leaves, smallest_places
from cwboost._kernels.trees.growth import TREE_CRITERIA

EVERY = np.tile(np.arange(3, dtype=np.int32), 2)


def node_rows(n_samples, rng):
    codes = rng.integers(0, 5, size=(n_samples, 3), dtype=np.uint8)
    weights = rng.integers(-9, 10, size=(2, n_samples)).astype(np.float64)
    n_bins = np.full(3, 4, dtype=np.int32)
    rows = NodeRows(codes, n_bins, weights, np.ones(2), np.zeros(2), 1)
    return rows, codes, weights


def sums_of(w):
    return [w.sum(), np.abs(w).sum(), len(w)]


@pytest.mark.parametrize("n_samples", [0, 1, 40])
def test_sums_of_the_roots(n_samples):
    """A partition may hold no example at all."""
    rows, codes, weights = node_rows(n_samples, np.random.default_rng(0))
    histograms = rows.histograms(np.repeat([0, 1], 3), EVERY)
    for pair, (tree, feature) in enumerate(zip(np.repeat([0, 1], 3), EVERY)):
        kept = weights[tree] != 0
        w, code = weights[tree, kept], codes[kept, feature]
        for c, found in enumerate(histograms[pair].tolist()):
            assert found == sums_of(w[code == c])
    totals = rows.totals(np.arange(2))
    assert np.array_equal(totals[:, 0], weights.sum(axis=1))
    assert np.array_equal(totals[:, 2], (weights != 0).sum(axis=1))


def test_split():
    rows, codes, weights = node_rows(60, np.random.default_rng(1))
    features, cuts = np.array([2, 0], dtype=np.int32), np.array([1, 2], dtype=np.int32)
    sides, missing_right = np.zeros((0, 32), dtype=np.uint8), np.array([0, 1], dtype=np.uint8)
    rows.split(np.arange(2, dtype=np.int32), features, cuts, missing_right, sides)
    found = rows.totals(np.arange(2, 6))[:, :3].tolist()
    histograms = rows.histograms(np.repeat([2, 5], 3), EVERY)
    for tree in range(2):
        code, kept = codes[:, features[tree]], weights[tree] != 0
        right = np.where(code == 4, missing_right[tree] > 0, code > cuts[tree])
        for side in range(2):
            assert found[2 * tree + side] == sums_of(weights[tree, kept & (right == side)])
        own = codes[kept & (right == tree)]
        counts = [np.bincount(own[:, f], minlength=5) for f in range(3)]
        assert np.array_equal(histograms[3 * tree : 3 * tree + 3, :, 2], counts)


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


def test_leaves_of_one_sign_are_joined():
    """Two trees: the first becomes a leaf, the second keeps its comparison."""
    left = np.array([2, 6, 4, -1, -1, -1, -1, -1])
    sign = np.array([1, -1, 1, 1, 1, 1, -1, 1])
    kept = join_leaves(2, left, sign)
    assert left.tolist() == [-1, 6, -1, -1, -1, -1, -1, -1]
    assert np.flatnonzero(kept).tolist() == [0, 1, 6, 7]
