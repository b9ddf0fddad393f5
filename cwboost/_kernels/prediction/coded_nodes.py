"""The nodes of a batch of trees laid out for rows whose values are codes (see codes.h)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["CodedNodes", "heights", "laid_out_for_codes"]

BLOCK = 64
"""Rows of a block, as in codes.h."""

PER_COLUMN = 255
"""Thresholds per column of codes."""

CODING = np.dtype(
    [
        ("table", np.int64),
        ("steps", np.int32),
        ("feature", np.int32),
        ("low", np.int32),
        ("high", np.int32),
    ]
)
"""The codes of a feature among some of its thresholds: ``cwb_coding`` of codes.h."""

NODE = np.dtype([("at", np.uint32), ("next", np.uint32)])
"""A node: ``cwb_coded_node`` of codes.h."""


@dataclass(frozen=True)
class CodedNodes:
    """Arrays of ``cwb_coded_trees`` of codes.h, by the names of its members."""

    codings: np.ndarray
    thresholds: np.ndarray
    nodes: np.ndarray
    start: np.ndarray
    order: np.ndarray
    order_start: np.ndarray
    n_inner: np.ndarray
    height: np.ndarray
    output: np.ndarray
    n_columns: int


def laid_out_for_codes(
    offsets, feature, threshold, left, missing, output, max_reached, is_graded=False
):
    """Return the nodes of trees without category sets, or None if a tree or model is too large.

    Parameters
    ----------
    offsets, feature, threshold, left, missing, output : ndarray
        As for `TreeEvaluator`, but `feature` holds columns of a block of values.
    max_reached : int
        Trees of more inner nodes than this are walked.
    is_graded : bool, default=False
    """
    inner = np.flatnonzero(feature >= 0)
    sizes = np.diff(offsets)
    codings, thresholds, column, code, n_columns = _codings(
        feature[inner], threshold[inner], missing[inner] > 0
    )
    if n_columns == 0 or sizes.max() >= 1 << 24 or n_columns * BLOCK >= 1 << 32:
        return None
    place = (np.arange(len(feature)) - np.repeat(offsets[:-1], sizes)).astype(np.int32)
    nodes = np.empty(len(feature), NODE)
    nodes["at"] = output > 0
    nodes["next"] = place << 8
    nodes["at"][inner] = column * BLOCK
    nodes["next"][inner] = left[inner].astype(np.uint32) << 8 | PER_COLUMN - code
    return CodedNodes(
        codings,
        thresholds,
        nodes,
        np.ascontiguousarray(offsets, dtype=np.int64),
        *_orders(offsets, feature, left, is_graded | (output > 0), place, max_reached),
        output=output,
        n_columns=n_columns,
    )


def _codings(feature, threshold, missing_right):
    """Return codings, their thresholds, column and code of every inner node, number of columns."""
    n_features = int(feature.max(initial=-1)) + 1
    order = np.argsort(feature.astype(np.min_scalar_type(n_features)), kind="stable")
    ends = np.cumsum(np.bincount(feature, minlength=n_features))
    column, code = np.empty(len(feature), np.uint32), np.empty(len(feature), np.uint32)
    codings, tables, n_table, n_columns = [], [np.zeros(0)], 0, 0
    for f, nodes in enumerate(np.split(order, ends[:-1])):
        distinct = np.unique(threshold[nodes])
        rank = np.searchsorted(distinct, threshold[nodes])
        chunk, code[nodes] = np.divmod(rank, PER_COLUMN)
        side = 2 * chunk + missing_right[nodes]
        first, n_chunks = 0, -(-len(distinct) // PER_COLUMN)
        used = np.bincount(side, minlength=2 * n_chunks) > 0
        of_side = np.where(used, n_columns + np.cumsum(used) - 1, -1)
        column[nodes] = of_side[side]
        n_columns += int(used.sum())
        for low, high in of_side.reshape(-1, 2).tolist():
            part = distinct[first : first + PER_COLUMN]
            steps = len(part).bit_length()
            codings.append((n_table, steps, f, low, high))
            tables += [part, np.full((1 << steps) - 1 - len(part), np.inf)]
            n_table, first = n_table + (1 << steps) - 1, first + PER_COLUMN
    return np.array(codings, CODING), np.concatenate(tables), column, code, n_columns


def _orders(offsets, feature, left, counts, place, max_reached):
    """Return order, order_start, n_inner and height, as `CodedNodes` has them.

    `counts` is true for the leaves in order.
    """
    before = np.concatenate([[0], np.cumsum(feature >= 0)])
    n_inner = np.diff(before[offsets]).astype(np.int32)
    reached = n_inner <= max_reached
    listed = np.repeat(reached, np.diff(offsets)) & ((feature >= 0) | counts)
    kept = np.flatnonzero(listed)
    tree = np.repeat(np.arange(len(n_inner)), np.diff(offsets))[kept]
    order = kept[np.lexsort((feature[kept] < 0, tree))]
    order_start = np.concatenate([[0], np.cumsum(listed)])[offsets].astype(np.int64)
    height = np.where(reached, -1, heights(offsets, feature, left))
    return place[order], order_start, n_inner, height.astype(np.int32)


def heights(offsets, feature, left):
    """Return the levels of each tree below its root."""
    heights = np.zeros(len(offsets) - 1, np.int64)
    tree, node, height = np.arange(len(heights)), offsets[:-1], 0
    while len(node):
        heights[tree] = height
        inner = feature[node] >= 0
        tree, node, height = tree[inner], node[inner], height + 1
        child = offsets[tree] + left[node]
        tree, node = np.repeat(tree, 2), np.stack([child, child + 1], axis=1).ravel()
    return heights
