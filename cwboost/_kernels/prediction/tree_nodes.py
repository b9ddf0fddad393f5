"""The inner nodes of a batch of trees, laid out for evaluation (see trees.h)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["FlatNodes", "laid_out"]

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
    """Arrays of ``cwb_trees`` of trees.h, by the names of its members."""

    nodes: np.ndarray
    start: np.ndarray
    constant: np.ndarray
    walk: np.ndarray
    most_inner: int


def laid_out(offsets, feature, threshold, left, missing, sign, sets, max_by_set):
    """Return the nodes of all trees, each tree's two leaves before its inner nodes.

    Parameters
    ----------
    offsets, feature, threshold, left, missing, sign : ndarray
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
    # Place of every node in its tree: leaves by sign, inner nodes in order.
    tree = np.repeat(np.arange(len(root)), np.diff(offsets))
    place = np.where(inner, FIRST + before[: len(inner)] - before[offsets[tree]], sign > 0)
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
    constant = (sign[root] > 0).astype(np.uint8)
    walk = (sizes > max_by_set).astype(np.uint8)
    return FlatNodes(nodes, start, constant, walk, int(sizes.max(initial=0)))
