"""Codes of values stand for their ranks among a model's thresholds."""

import numpy as np
from random_trees import random_trees

from cwboost._kernels.prediction.tree_nodes import TreeLayouts

NAMES = ("offsets", "feature", "threshold", "left", "missing", "output")


def coded_trees(nodes):
    sizes = np.diff(nodes["offsets"])
    place = np.concatenate([np.arange(size) for size in sizes])
    trees = [nodes[name] for name in NAMES]
    return TreeLayouts(trees, place, np.zeros(0, int))._on_codes


def test_a_feature_of_many_thresholds_has_several_columns():
    thresholds = np.arange(600) / 7
    nodes = random_trees(np.random.default_rng(0), [5_000], 1, thresholds)
    found = coded_trees(nodes)
    assert found.codings["steps"].tolist() == [8, 8, 7]  # 255, 255 and 90 thresholds
    finite = found.thresholds[np.isfinite(found.thresholds)]
    np.testing.assert_array_equal(finite, thresholds)
    assert found.n_columns == 6  # where NaN goes left, and where it goes right
    assert sorted(found.codings[["low", "high"]].tolist()) == [(0, 1), (2, 3), (4, 5)]


def test_a_side_that_no_node_sends_missing_values_to_has_no_column():
    nodes = random_trees(np.random.default_rng(0), [50], 2, np.arange(9.0))
    nodes["missing"] = np.abs(nodes["missing"])
    found = coded_trees(nodes)
    assert found.codings["low"].tolist() == [-1, -1]
    assert found.codings["high"].tolist() == [0, 1]


def test_trees_without_comparisons_have_no_codes():
    assert coded_trees(random_trees(np.random.default_rng(2), [0, 0], 1, [0.0])) is None
