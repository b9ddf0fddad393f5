"""Subtrees that one partition grows, and the leaves in which examples end."""

import numpy as np
import pytest
from cwboost._kernels.partitions.leaves import leaf_outputs, leaf_sums, tree_leaves
from cwboost._kernels.partitions.node_sums import NodeRows
from cwboost._kernels.partitions.splits import add_up, join_leaves
from cwboost._kernels.partitions.subtrees import grow_subtrees
from cwboost._kernels.trees.growth import TREE_CRITERIA

from cwboost.kernels import BinnedPartition, FeatureSketch, SharedBins

SETTINGS = {"criterion": TREE_CRITERIA["gini"], "min_samples_leaf": 2, "max_features": 2}


def problem(n_samples, rng):
    """Return codes, bins and weights; the second feature has missing values, the third is noise."""
    X = rng.normal(size=(n_samples, 4)).astype(np.float32)
    weights = np.rint(8 * X[:, :2].T + rng.normal(size=(2, n_samples)))
    X[rng.random(n_samples) < 0.2, 1] = np.nan
    X[:, 3] = 0
    bins = SharedBins.from_sketches([FeatureSketch.of(X, 64)], 32)
    return np.ascontiguousarray(BinnedPartition(X, bins).codes.T), bins, weights


def grown(codes, bins, weights, seed=0, n_threads=1, **settings):
    """Return the rows of two roots, and the subtrees below those that are split."""
    ones, zeros = np.ones(2), np.zeros(2)
    rows = NodeRows(codes, bins.n_bins, bins.has_nan, weights, ones, zeros, 1)
    usable, nodes = np.arange(3, dtype=np.int32), np.arange(2)
    own = *rows.rows_of(nodes), rows.totals(nodes)
    settings = {**SETTINGS, "max_depth": 9, **settings}
    depths = np.ones(2, dtype=np.int32)
    return own, grow_subtrees(codes, bins, usable, own, nodes, depths, settings, seed, n_threads)


def followed(codes, bins, subtree, rows, root=0):
    """Yield each node's number, depth and rows in one subtree."""
    feature, left, cut, missing_right = subtree
    waiting = [(root, 1, rows)]
    while waiting:
        node, depth, own = waiting.pop()
        yield node, depth, own
        if left[node] >= 0:
            code = codes[own, feature[node]].astype(int)
            is_lost = code == bins.n_bins[feature[node]]
            right = np.where(is_lost, missing_right[node] > 0, code > cut[node])
            waiting += [(left[node] + k, depth + 1, own[right == k]) for k in (0, 1)]


@pytest.mark.parametrize("max_depth", [3, 9, 2**63 - 1])
def test_subtrees_split_what_can_be_split(max_depth):
    codes, bins, weights = problem(300, np.random.default_rng(0))
    (rows, _, starts, _), found = grown(codes, bins, weights, max_depth=max_depth)
    names, sizes, *arrays = found
    assert names.tolist() == [0, 1]
    for t, end in enumerate(np.cumsum(sizes)):
        subtree = [array[end - sizes[t] : end] for array in arrays]
        own = np.sort(rows[starts[t] : starts[t + 1]])
        assert own.tolist() == np.flatnonzero(weights[t]).tolist()
        seen = 0
        for node, depth, members in followed(codes, bins, subtree, own):
            w = weights[t, members]
            seen += 1
            assert len(members) >= 2
            assert depth <= max_depth
            if subtree[1][node] >= 0:
                assert (w > 0).any() and (w < 0).any() and subtree[0][node] < 3
            elif depth < min(max_depth, 5):
                # No split had a gain, or left two examples on either side.
                assert len(members) < 30 or (w > 0).all() or (w < 0).all()
        assert seen == sizes[t] > 3


def test_subtrees_follow_from_seed_and_name():
    codes, bins, weights = problem(400, np.random.default_rng(1))
    _, found = grown(codes, bins, weights, seed=3)
    _, again = grown(codes, bins, weights, seed=3, n_threads=2)
    _, other = grown(codes, bins, weights, seed=4)
    assert all(np.array_equal(a, b) for a, b in zip(found, again))
    assert not all(np.array_equal(a, b) for a, b in zip(found, other))


def test_nodes_without_rows_are_leaves():
    codes, bins, weights = problem(50, np.random.default_rng(2))
    _, found = grown(codes, bins, np.zeros_like(weights))
    assert [len(array) for array in found] == [0] * 6


def as_nodes(found):
    """Return two subtrees as one list of nodes, the roots first."""
    _, sizes, feature, left, cut, right = found
    places = np.insert(2 + np.arange(sizes.sum() - 2), [0, sizes[0] - 1], [0, 1])
    child = np.where(left >= 0, left + np.repeat([1, sizes[0]], sizes), -1).astype(np.int32)
    missing = np.where(right > 0, 1, -1).astype(np.int8)
    nodes = {"feature": feature, "cut": cut, "left": child, "missing": missing}
    return {name: array[np.argsort(places)] for name, array in nodes.items()}


def leaves_of(codes, bins, nodes, root):
    """Return the rows in every leaf of a tree."""
    subtree = nodes["feature"], nodes["left"], nodes["cut"], nodes["missing"]
    every = np.arange(len(codes))
    return {
        node: own
        for node, _, own in followed(codes, bins, subtree, every, root)
        if nodes["left"][node] < 0
    }


def test_leaves_of_examples():
    codes, bins, weights = problem(77, np.random.default_rng(3))
    nodes = as_nodes(grown(codes, bins, weights, max_depth=4)[1])
    child = nodes["left"]
    leaves = tree_leaves(codes, bins.n_bins, 2, nodes, 1)
    bounds = np.array([0.0, np.median(2 * np.abs(weights[1]))])
    sums = leaf_sums(leaves, weights, np.array([1.0, 2.0]), bounds, len(child), 1)
    for t in range(2):
        for node, rows in leaves_of(codes, bins, nodes, t).items():
            assert np.flatnonzero(leaves[t] == node).tolist() == np.sort(rows).tolist()
            own = weights[t, rows] * (1 + t)
            assert sums[node, 2] == own.sum()
            assert sums[node, 0] == own[np.abs(own) >= bounds[t]].sum()
    assert (sums[:, 0] != sums[:, 2]).any()
    totals = np.array(sums)
    add_up(child.astype(np.int64), totals)
    assert totals[:2, 2].tolist() == (weights.sum(axis=1) * [1, 2]).tolist()
    positive = np.random.default_rng(0).integers(0, 2, len(child)).astype(np.uint8)
    trees = np.array([1, 0])
    packed = leaf_outputs(leaves, trees, np.packbits(positive, bitorder="little"), 1)
    found = np.unpackbits(packed, axis=1, bitorder="little")[:, :77]
    assert np.array_equal(found, positive[leaves[trees]])


@pytest.mark.parametrize("missing", [-1, 1])
@pytest.mark.parametrize(("n_bins", "cut"), [(256, 0), (255, 0), (255, 254), (1, 0)])
def test_every_code_has_a_side(n_bins, cut, missing):
    """Also if all 256 codes are in use, or all values go left."""
    codes = np.arange(n_bins + (n_bins < 256), dtype=np.uint8)[:, None].copy()
    nodes = {"feature": np.array([0, -1, -1], np.int32), "cut": np.array([cut, 0, 0], np.int16)}
    nodes["left"] = np.array([1, -1, -1], np.int32)
    nodes["missing"] = np.array([missing, 0, 0], np.int8)
    (leaves,) = tree_leaves(codes, np.array([n_bins], np.int32), 1, nodes, 1)
    code = codes[:, 0].astype(int)
    right = np.where(code == n_bins, missing > 0, code > cut)
    assert leaves.tolist() == (1 + right).tolist()


def test_leaves_of_one_sign_are_joined():
    """Two trees: the first becomes a leaf, the second keeps its comparison."""
    left = np.array([2, 6, 4, -1, -1, -1, -1, -1])
    sign = np.array([1, -1, 1, 1, 1, 1, -1, 1])
    kept = join_leaves(2, left, sign)
    assert left.tolist() == [-1, 6, -1, -1, -1, -1, -1, -1]
    assert np.flatnonzero(kept).tolist() == [0, 1, 6, 7]
