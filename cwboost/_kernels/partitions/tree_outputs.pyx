"""Outputs of trees on the examples of one partition, whose features are codes of shared bins."""

import numpy as np

from cython.parallel cimport prange
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

cdef extern from "common/rounding.h" nogil:
    const double CWB_ROUND

cdef enum:
    BLOCK = 256  # examples that go down a tree together


cdef packed struct Step:
    # A node as a step to `child`, or the one after it; a leaf leads to itself.
    int32_t child, feature, below
    int16_t missing_code
    uint8_t missing_right, inner


STEP = np.dtype([
    ("child", np.int32), ("feature", np.int32), ("below", np.int32), ("missing_code", np.int16),
    ("missing_right", np.uint8), ("inner", np.uint8),
])


cdef void walk_block(const Step* steps, const uint8_t* sides, const int8_t* sign,
                     const uint8_t* codes, int64_t stride, int64_t n, uint8_t* out) noexcept nogil:
    """Let the examples of a block go down a tree step by step, until all are in leaves."""
    cdef int32_t nodes[BLOCK]
    cdef const Step* step
    cdef int64_t i
    cdef int32_t after, code
    cdef bint right, moved = True
    for i in range(n):
        nodes[i] = 0
    while moved:
        moved = False
        for i in range(n):
            step = steps + nodes[i]
            code = codes[i * stride + step.feature]
            if sides != NULL and step.below < 0:
                right = sides[-32 * (1 + step.below) + (code >> 3)] >> (code & 7) & 1
            else:
                right = code >= step.below
                right = step.missing_right if code == step.missing_code else right
            after = step.child + (right & step.inner)
            moved |= after != nodes[i]
            nodes[i] = after
    for i in range(n):
        out[i] = sign[nodes[i]] > 0


def tree_outputs(const uint8_t[:, ::1] codes, n_bins, const int64_t[::1] offsets, feature, below,
                 left, missing, const int8_t[::1] sign, const uint8_t[:, ::1] sides,
                 int n_threads):
    """Return the outputs of trees on codes, uint8 of shape (n_trees, n_samples), 1 for +1.

    An example goes right in a node if its code is at least ``below``, or by ``missing``. If
    ``below`` is -1 - k, it goes right if the bit of its code is set in row k of `sides`.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_features), dtype uint8
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
    cdef int64_t t, block, n = codes.shape[0], n_trees = offsets.shape[0] - 1
    cdef int64_t n_blocks = (n + BLOCK - 1) // BLOCK
    positive = np.empty((n_trees, n), dtype=np.uint8)
    if n == 0:
        return positive
    cdef uint8_t[:, ::1] out = positive
    # Leaves lead to themselves, so that all examples of a block may take steps together.
    is_leaf = np.asarray(left) < 0
    own = np.arange(len(is_leaf)) - np.repeat(offsets[:n_trees], np.diff(offsets))
    all_steps = np.empty(len(is_leaf), dtype=STEP)
    all_steps["feature"] = np.where(is_leaf, 0, feature)
    all_steps["child"] = np.where(is_leaf, own, left)
    all_steps["below"], all_steps["missing_right"] = below, np.asarray(missing) > 0
    all_steps["missing_code"], all_steps["inner"] = n_bins[all_steps["feature"]], ~is_leaf
    cdef const Step[::1] steps = all_steps
    cdef const uint8_t* own_sides = &sides[0, 0] if sides.shape[0] else NULL
    for t in range(n_trees):
        for block in prange(n_blocks, nogil=True, num_threads=n_threads, schedule="static"):
            walk_block(&steps[offsets[t]], own_sides, &sign[offsets[t]],
                       &codes[block * BLOCK, 0], codes.shape[1],
                       min(<int64_t> BLOCK, n - block * BLOCK), &out[t, block * BLOCK])
    return positive


def output_edges(const uint8_t[:, ::1] packed, const double[:, :] weights,
                 const double[::1] scales, int n_threads):
    """Return the exact sums of rounded weights times outputs, of shape (n_trees,).

    Parameters
    ----------
    packed : ndarray of shape (n_trees, ceil(n_samples / 8)), dtype uint8
        Outputs of a tree per target; see `cwboost.pack_outputs`.
    weights : ndarray of shape (n_trees, n_samples), dtype float64
    scales : ndarray of shape (n_trees,), dtype float64
        Powers of two by which the weights are multiplied before they are rounded.
    n_threads : int
    """
    cdef int64_t t
    found = np.zeros(weights.shape[0])
    cdef double[::1] out = found
    for t in prange(weights.shape[0] if weights.shape[1] else 0, nogil=True,
                    num_threads=n_threads, schedule="dynamic"):
        out[t] = output_edge(&packed[t, 0], &weights[t, 0], scales[t], weights.shape[1])
    return found


cdef double output_edge(const uint8_t* packed, const double* r, double scale,
                        int64_t n) noexcept nogil:
    cdef double[2] sign = [-1.0, 1.0]
    cdef double edge = 0.0
    cdef int64_t i
    for i in range(n):
        edge += sign[packed[i >> 3] >> (i & 7) & 1] * ((r[i] * scale + CWB_ROUND) - CWB_ROUND)
    return edge
