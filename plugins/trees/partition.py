"""Trees on one partition: the sums that the plan asks for, and outputs."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from cwboost.plugins.trees.cuts import CODES

import cwboost
from cwboost.kernels import (
    BinnedPartition,
    NodeRows,
    aligned_zeros,
    masses_by_size,
    output_edges,
    tree_outputs,
)

__all__ = ["PartitionTrees"]

ROW_BYTES = 16
"""The codes of an example take a multiple of this number of bytes."""


class PartitionTrees(cwboost.PartitionPricer):
    """Trees on one partition in bins.

    Parameters
    ----------
    binned : BinnedPartition
    n_categories : ndarray of shape (n_features,), dtype int64
        Number of categories of each column, 0 of numbers.
    """

    def __init__(self, binned: BinnedPartition, n_categories):
        bins = binned.bins
        self._is_set = n_categories > 0
        # Padded, so that a row of codes lies in few cache lines.
        width = -(-binned.n_features // ROW_BYTES) * ROW_BYTES
        self._codes = aligned_zeros((binned.n_samples, width), np.uint8)
        for f in range(binned.n_features):
            self._codes[:, f] = binned.column(f)
        self._bins, self._n_threads = bins, binned.n_threads
        self._rows, self._packed = None, (None, None)

    def summarise(self, weights, question):
        kind, step, *rest = question
        if step is not None:
            self._take(weights, *step)
        if kind == "masses":
            return (masses_by_size(weights.weights, weights.scales, self._n_threads),)
        if kind == "edges":
            return (self._edges(weights, *rest),)
        nodes, pairs = rest
        return self._rows.totals(nodes), self._rows.histograms(*pairs)

    def _take(self, weights, what, given):
        if what == "start":
            own = weights.weights, weights.scales, given
            self._rows = NodeRows(self._codes, self._bins.n_bins, *own, self._n_threads)
        else:
            self._rows.split(*given)

    def _edges(self, weights, learners):
        """Return the edges over all examples, those trimmed included."""
        packed = self.outputs(learners)
        self._packed = _nodes_key(learners.arrays()), packed
        return output_edges(packed, weights.weights, weights.scales, self._n_threads)

    def outputs(self, learners):
        known, packed = self._packed
        if known == _nodes_key(learners.arrays()):
            return packed
        inner = learners.feature >= 0
        below = np.zeros(len(inner), dtype=np.int32)
        below[inner] = self._bins.bins_below(learners.feature[inner], learners.threshold[inner])
        sides = self._sides(learners, below)
        positive = tree_outputs(
            self._codes,
            self._bins.n_bins,
            learners.offsets,
            learners.feature,
            below,
            learners.left,
            learners.missing,
            learners.sign,
            sides,
            self._n_threads,
        )
        return np.packbits(positive, axis=1, bitorder="little")

    def _sides(self, learners, below):
        """Return the codes that go right in nodes that test categories, whose `below` is set."""
        nodes = np.zeros(0, dtype=np.int64)
        if learners.category_sets is not None:
            nodes = np.flatnonzero(learners.category_sets.is_set)
        features = learners.feature[nodes]
        if not self._is_set[features].all():
            raise ValueError("a tree tests categories of a column of numbers")
        values = np.full((len(nodes), CODES), np.nan)
        for row, f in zip(values, features.tolist()):
            own = self._bins.lowest[self._bins.bin_start[f] : self._bins.bin_start[f + 1]]
            row[: len(own)] = own
        if not len(nodes):
            return np.zeros((0, CODES // 8), dtype=np.uint8)
        right = learners.category_sets.contains(nodes[:, None], values)
        right[np.arange(len(nodes)), self._bins.n_bins[features]] = learners.missing[nodes] > 0
        below[nodes] = -1 - np.arange(len(nodes))
        return np.packbits(right, axis=1, bitorder="little")


def _nodes_key(arrays) -> bytes:
    """Return a key of trees, by their arrays."""
    return blake2b(b"".join(array.tobytes() for array in arrays.values())).digest()
