"""The inner nodes of a batch of trees, laid out for evaluation (see trees.h)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cwboost._kernels.prediction.coded_nodes import heights

__all__ = ["FlatNodes", "laid_out", "laid_out_graded"]

POSITIVE, FIRST = 1, 2
"""Places of the positive leaf and of the root in a tree, as in trees.h."""

CATEGORIES = 2
"""Flag of a node that tests categories, as in trees.h."""

NODE = np.dtype(
    [
        ("threshold", np.float64),
        ("feature", np.int32),
        ("child", np.int32, 2),
        ("flags", np.int32),
    ]
)
"""An inner node: ``cwb_inner`` of trees.h."""


@dataclass(frozen=True)
class FlatNodes:
    """Arrays of ``cwb_trees`` of trees.h, by the names of its members; heights of graded trees."""

    nodes: np.ndarray
    start: np.ndarray
    constant: np.ndarray
    walk: np.ndarray
    height: np.ndarray
    output: np.ndarray
    most_inner: int


def laid_out(offsets, feature, threshold, left, missing, output, sets, max_by_set):
    """Return the nodes of all trees, each tree's two leaves before its inner nodes.

    Parameters
    ----------
    offsets, feature, threshold, left, missing, output : ndarray
        As for `TreeEvaluator`.
    sets : ndarray of int
        The inner nodes that test categories.
    max_by_set : int
        Trees of more inner nodes than this are walked.
    """
    inner = feature >= 0
    before = np.concatenate([[0], np.cumsum(inner)])  # inner nodes before each node
    root = offsets[: len(offsets) - 1]
    start = (before[offsets] + FIRST * np.arange(len(offsets))).astype(np.int64)
    # Place of every node in its tree: leaves by output, inner nodes in order.
    tree = np.repeat(np.arange(len(root)), np.diff(offsets))
    place = np.where(inner, FIRST + before[: len(inner)] - before[offsets[tree]], output > 0)
    child = left[inner] + root[tree[inner]]
    at = np.arange(len(child)) + FIRST * (tree[inner] + 1)
    nodes = np.zeros(start[-1], dtype=NODE)
    nodes["child"][start[:-1] + POSITIVE] = POSITIVE
    nodes["threshold"][at] = threshold[inner]
    nodes["feature"][at] = feature[inner]
    nodes["child"][at] = np.column_stack([place[child], place[child + 1]])
    nodes["flags"][at] = missing[inner] > 0
    nodes["flags"][at[sets]] |= CATEGORIES
    nodes["threshold"][at[sets]] = sets.view(np.float64)
    sizes = np.diff(start) - FIRST
    constant = (output[root] > 0).astype(np.uint8)
    walk = (sizes > max_by_set).astype(np.uint8)
    height = np.zeros(0, np.int32)
    return FlatNodes(nodes, start, constant, walk, height, output, int(sizes.max(initial=0)))


def laid_out_graded(offsets, feature, threshold, left, missing, output, sets):
    """Return the nodes of graded trees, in their own order; leaves lead to themselves.

    Parameters
    ----------
    offsets, feature, threshold, left, missing, output, sets
        As for `laid_out`.
    """
    inner = np.flatnonzero(feature >= 0)
    nodes = np.zeros(len(feature), dtype=NODE)
    place = np.arange(len(feature)) - np.repeat(offsets[:-1], np.diff(offsets))
    nodes["child"] = place[:, None]
    nodes["threshold"], nodes["feature"] = threshold, np.maximum(feature, 0)
    nodes["child"][inner] = np.column_stack([left[inner], left[inner] + 1])
    nodes["flags"][inner] = missing[inner] > 0
    nodes["flags"][inner[sets]] |= CATEGORIES
    nodes["threshold"][inner[sets]] = sets.view(np.float64)
    none = np.zeros(len(offsets) - 1, np.uint8)
    height = heights(offsets, feature, left).astype(np.int32)
    return FlatNodes(nodes, offsets.astype(np.int64), none, none, height, output, 0)
