"""Subtrees below the first levels of trees, each grown whole by one partition.

Growth level by level takes two exchanges per level, and passes over all examples of all trees in
each. If the codes of all examples are small, every partition gets them once. Then the rows and
weights of a node are all that it needs to grow what is below, with the examples of all partitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cwboost.kernels import aligned_zeros

__all__ = [
    "LEAST_NODES",
    "MOST_BYTES",
    "MOST_FEATURES",
    "AllCodes",
    "Subtrees",
    "assigned",
    "joined_rows",
]

MOST_BYTES = 2**26
"""Size of the codes of all examples up to which every partition gets them."""

MOST_FEATURES = 2**16
"""Number of features up to which examples are led to their leaves by `tree_leaves`."""

SPARE_ROWS = 24
"""Rows after the last that kernels may name ahead of time."""

LEAST_NODES = 12
"""Open nodes of all trees from which on few partitions have about equal work."""


class AllCodes:
    """The codes of all partitions, aligned to cache lines on every worker.

    Parameters
    ----------
    codes : dict of int to ndarray of shape (n_samples, width), dtype uint8
        By partition.

    Attributes
    ----------
    starts : dict of int to int
        Of the rows of each partition.
    codes : ndarray of shape (n_all_samples, width), dtype uint8
    """

    def __init__(self, codes):
        sizes = {key: len(codes[key]) for key in sorted(codes)}
        starts = np.cumsum([0, *sizes.values()]).tolist()
        self.starts = dict(zip(sizes, starts))
        every = [codes[key] for key in sizes]
        self.codes = np.concatenate(
            every, out=aligned_zeros((starts[-1], every[0].shape[1]), np.uint8)
        )

    def __getstate__(self):
        return self.starts, self.codes

    def __setstate__(self, state):
        # Bytes of a message lie anywhere.
        self.starts, codes = state
        self.codes = aligned_zeros(codes.shape, np.uint8)
        self.codes[:] = codes


@dataclass(frozen=True, eq=False)
class Subtrees:
    """Subtrees below some nodes, subtree after subtree, each with its root first.

    Parameters
    ----------
    nodes : ndarray of shape (n_subtrees,), dtype int64
    sizes : ndarray of shape (n_subtrees,), dtype int32
        Number of nodes of each.
    feature, left : ndarrays of shape (n_grown,), dtype int32
        Feature, and the left child's place in the subtree, before the right one's; -1 in a leaf.
    cut : ndarray of shape (n_grown,), dtype int16
        The last code that goes left.
    missing_right : ndarray of shape (n_grown,), dtype uint8
    """

    nodes: np.ndarray
    sizes: np.ndarray
    feature: np.ndarray
    left: np.ndarray
    cut: np.ndarray
    missing_right: np.ndarray

    @classmethod
    def of(cls, parts) -> Subtrees:
        """Return the subtrees of all partitions in the order of their nodes."""
        nodes, sizes, *arrays = map(np.concatenate, zip(*(parts[key] for key in sorted(parts))))
        order = np.argsort(nodes)
        sizes_then = sizes[order]
        shift = (np.cumsum(sizes) - sizes)[order] - (np.cumsum(sizes_then) - sizes_then)
        places = np.arange(sizes.sum()) + shift.repeat(sizes_then)
        return cls(nodes[order], sizes_then, *(array[places] for array in arrays))


def assigned(nodes, sizes, keys) -> dict:
    """Return which nodes each partition grows, by its key.

    The nodes of most examples are assigned first, each to the partition of least work so far.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes,), dtype int64
    sizes : ndarray of shape (n_nodes,)
        Number of examples of each.
    keys : list of int
    """
    work, place = np.zeros(len(keys)), np.empty(len(nodes), dtype=np.int64)
    for k in np.argsort(-sizes, kind="stable").tolist():
        place[k] = np.argmin(work)
        work[place[k]] += sizes[k]
    return {key: nodes[place == p] for p, key in enumerate(keys)}


def joined_rows(parts, starts):
    """Return the rows of nodes of all partitions, as `cwboost.kernels.grow_subtrees` takes them.

    Parameters
    ----------
    parts : dict of int to tuple
        By partition what `cwboost.kernels.NodeRows.rows_of` returns of the same nodes.
    starts : dict of int to int
        Of the rows of each partition among those of all.

    Returns
    -------
    rows, w, starts
    """
    keys = sorted(parts)
    ends = np.stack([parts[key][2] for key in keys])
    sizes = np.diff(ends, axis=1)
    of_nodes = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))]).astype(np.int64)
    at = of_nodes[:-1] + np.cumsum(sizes, axis=0) - sizes
    n = int(of_nodes[-1])
    rows, w = np.zeros(n + SPARE_ROWS, dtype=np.int32), np.empty(n + 1)
    for p, key in enumerate(keys):
        own_rows, own_w, _ = parts[key]
        for node, (first, size) in enumerate(zip(ends[p], sizes[p])):
            to, from_ = slice(at[p, node], at[p, node] + size), slice(first, first + size)
            rows[to], w[to] = own_rows[from_] + starts[key], own_w[from_]
    return rows, w, of_nodes
