"""Outputs of trees on the examples of one partition, whose features are codes of shared bins."""

import numpy as np

from cython.parallel cimport prange
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

cdef enum:
    BLOCK = 256  # examples that go down a tree together


cdef struct Walk:
    const int32_t* n_bins
    const int32_t* feature
    const int32_t* below
    const int32_t* child
    const uint8_t* inner
    const int8_t* missing
    const int8_t* sign
    const uint8_t* sides


cdef void walk_block(Walk tree, const uint8_t* codes, int64_t stride, int64_t n,
                     uint8_t* out) noexcept nogil:
    """Let the examples of a block go down a tree step by step, until all are in leaves."""
    cdef int32_t nodes[BLOCK]
    cdef int64_t i
    cdef int32_t node, after, code
    cdef bint right, moved = True
    for i in range(n):
        nodes[i] = 0
    while moved:
        moved = False
        for i in range(n):
            node = nodes[i]
            code = codes[tree.feature[node] * stride + i]
            if tree.sides != NULL and tree.below[node] < 0:
                right = tree.sides[-32 * (1 + tree.below[node]) + (code >> 3)] >> (code & 7) & 1
            else:
                right = code >= tree.below[node]
                if code == tree.n_bins[tree.feature[node]]:
                    right = tree.missing[node] > 0
            after = tree.child[node] + (right & tree.inner[node])
            moved |= after != node
            nodes[i] = after
    for i in range(n):
        out[i] = tree.sign[nodes[i]] > 0


def tree_outputs(const uint8_t[:, ::1] codes, const int32_t[::1] n_bins,
                 const int64_t[::1] offsets, const int32_t[::1] feature,
                 const int32_t[::1] below, const int32_t[::1] left, const int8_t[::1] missing,
                 const int8_t[::1] sign, const uint8_t[:, ::1] sides, int n_threads):
    """Return the outputs of trees on codes, uint8 of shape (n_trees, n_samples), 1 for +1.

    An example goes right in a node if its code is at least ``below``, or by ``missing``. If
    ``below`` is -1 - k, it goes right if the bit of its code is set in row k of `sides`.

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_samples), dtype uint8
        Bin of each value; ``n_bins[f]`` stands for NaN.
    n_bins : ndarray of shape (n_features,), dtype int32
    offsets : ndarray of shape (n_trees + 1,), dtype int64
        Tree t has the nodes from ``offsets[t]`` on, its root first.
    feature, below, left : ndarray of shape (n_nodes,), dtype int32
        Comparison of each node, and its left child in the tree, the right one next to it; a leaf
        has ``left`` -1.
    missing, sign : ndarray of shape (n_nodes,), dtype int8
        Above 0: NaN goes right; the leaf answers +1.
    sides : ndarray of shape (n_sets, 32), dtype uint8
    n_threads : int
    """
    cdef int64_t t, block, n = codes.shape[1], n_trees = offsets.shape[0] - 1
    cdef int64_t n_blocks = (n + BLOCK - 1) // BLOCK
    positive = np.empty((n_trees, n), dtype=np.uint8)
    if n == 0:
        return positive
    cdef uint8_t[:, ::1] out = positive
    # Leaves lead to themselves, so that all examples of a block may take steps together.
    is_leaf = np.asarray(left) < 0
    cdef const int32_t[::1] tested = np.where(is_leaf, 0, feature).astype(np.int32)
    own = np.arange(len(is_leaf)) - np.repeat(offsets[:n_trees], np.diff(offsets))
    cdef const int32_t[::1] child = np.where(is_leaf, own, left).astype(np.int32)
    cdef const uint8_t[::1] inner = (~is_leaf).astype(np.uint8)
    cdef Walk walk
    walk.n_bins, walk.sides = &n_bins[0], &sides[0, 0] if sides.shape[0] else NULL
    for t in range(n_trees):
        walk.feature, walk.below = &tested[offsets[t]], &below[offsets[t]]
        walk.child, walk.inner = &child[offsets[t]], &inner[offsets[t]]
        walk.missing, walk.sign = &missing[offsets[t]], &sign[offsets[t]]
        for block in prange(n_blocks, nogil=True, num_threads=n_threads, schedule="static"):
            walk_block(walk, &codes[0, 0] + block * BLOCK, n,
                       min(<int64_t> BLOCK, n - block * BLOCK), &out[t, block * BLOCK])
    return positive
