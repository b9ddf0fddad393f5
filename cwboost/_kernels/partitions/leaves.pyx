"""Leaves of the examples of one partition in trees whose signs are not known yet."""

import numpy as np

from cython.parallel cimport prange
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from cwboost._kernels.common.cpu cimport instruction_set

cdef extern from "common/rounding.h" nogil:
    const double CWB_ROUND

cdef extern from "partitions/leaves.h" nogil:
    ctypedef struct cwb_leaf_step:
        pass
    ctypedef struct cwb_leaf_kernels:
        void (*walk)(const cwb_leaf_step*, const uint8_t*, int64_t, int64_t, int32_t,
                     int32_t*) noexcept nogil
    const cwb_leaf_kernels* const cwb_leaf_tables[]

cdef const cwb_leaf_kernels* kernels = cwb_leaf_tables[instruction_set()]

cdef enum:
    BLOCK = 256  # examples that go down a tree together


# Squares are summed of weights rounded more coarsely by this factor, as in node_sums.h.
cdef double COARSE = 2.0 ** -26


# A step of leaves.h.
STEP = np.dtype([
    ("child", np.int32), ("first", np.uint8), ("width", np.uint8), ("feature", np.uint16),
])


def tree_leaves(const uint8_t[:, ::1] codes, const int32_t[::1] n_bins, int n_trees, nodes,
                int n_threads):
    """Return the leaf of every example in every tree, int32 of shape (n_trees, n_samples).

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_features), dtype uint8
        Of at most 65,536 features. Bin of each value; ``n_bins[f]`` stands for NaN.
    n_bins : ndarray of shape (n_features,), dtype int32
    n_trees : int
        Node t is the root of tree t.
    nodes : dict of str to ndarray of shape (n_nodes,)
        "left" is the left child, before the right one; -1 in a leaf. The codes of "feature" up to
        "cut" go left, that of NaN goes right if "missing" is positive.
    n_threads : int
    """
    cdef int64_t t, block, n = codes.shape[0], n_blocks = (n + BLOCK - 1) // BLOCK
    leaves = np.empty((n_trees, n), dtype=np.int32)
    if n == 0:
        return leaves
    cdef int32_t[:, ::1] out = leaves
    is_leaf = nodes["left"] < 0
    every = np.zeros(len(is_leaf), dtype=STEP)
    every["child"] = np.where(is_leaf, np.arange(len(is_leaf)), nodes["left"])
    every["feature"] = np.where(is_leaf, 0, nodes["feature"])
    first = nodes["cut"].astype(np.int32) + 1
    # If all codes are in use, missing values have none.
    end = np.minimum(np.asarray(n_bins)[every["feature"]] + (nodes["missing"] > 0), 256)
    every["first"], every["width"] = first, np.where(is_leaf, 0, end - first)
    cdef const uint8_t[::1] bytes_ = every.view(np.uint8)
    cdef const cwb_leaf_step* steps = <const cwb_leaf_step*> &bytes_[0]
    for block in prange(n_blocks, nogil=True, num_threads=n_threads, schedule="static"):
        for t in range(n_trees):
            kernels.walk(steps, &codes[block * BLOCK, 0], codes.shape[1],
                         min(<int64_t> BLOCK, n - block * BLOCK), <int32_t> t,
                         &out[t, block * BLOCK])
    return leaves


def leaf_sums(const int32_t[:, ::1] leaves, const double[:, :] weights, const double[::1] scales,
              const double[::1] bounds, int64_t n_nodes, int n_threads):
    """Return exact sums of rounded weights, of shape (n_nodes, 3).

    They are the sums and coarse squares of the weights from which trees are grown, and the sums of
    all weights.

    Parameters
    ----------
    leaves : ndarray of shape (n_trees, n_samples), dtype int32
        Of nodes of all trees; see `tree_leaves`.
    weights : ndarray of shape (n_trees, n_samples), dtype float64
    scales : ndarray of shape (n_trees,), dtype float64
        Powers of two by which the weights are multiplied before they are rounded.
    bounds : ndarray of shape (n_trees,), dtype float64
        Absolute weights below which an example is left out; see `NodeRows`.
    n_nodes, n_threads : int
    """
    cdef int64_t t
    found = np.zeros((n_nodes, 3))
    cdef double[:, ::1] out = found
    for t in prange(leaves.shape[0] if leaves.shape[1] else 0, nogil=True, num_threads=n_threads,
                    schedule="dynamic"):
        add_to_leaves(&leaves[t, 0], &weights[t, 0], scales[t], bounds[t], leaves.shape[1],
                      &out[0, 0])
    return found


cdef void add_to_leaves(const int32_t* leaves, const double* r, double scale, double bound,
                        int64_t n, double* out) noexcept nogil:
    cdef int64_t i
    cdef double w, kept, coarse
    for i in range(n):
        w = (r[i] * scale + CWB_ROUND) - CWB_ROUND
        kept = w if fabs(w) >= bound else 0.0
        coarse = (kept * COARSE + CWB_ROUND) - CWB_ROUND
        out[3 * leaves[i]] += kept
        out[3 * leaves[i] + 1] += coarse * coarse
        out[3 * leaves[i] + 2] += w


def leaf_outputs(const int32_t[:, ::1] leaves, trees, const uint8_t[::1] positive, int n_threads):
    """Return the outputs of trees as packed bits, of shape (len(trees), ceil(n_samples / 8)).

    Parameters
    ----------
    leaves : ndarray of shape (n_all, n_samples), dtype int32
        Of all trees; see `tree_leaves`.
    trees : ndarray of shape (n_trees,), dtype int64
        The trees that are asked for.
    positive : ndarray, dtype uint8
        For every node the packed bit 1 if its sign is +1.
    n_threads : int
    """
    cdef const int64_t[::1] trees_ = trees
    cdef int64_t t, n = leaves.shape[1]
    packed = np.zeros((len(trees), (n + 7) // 8), dtype=np.uint8)
    cdef uint8_t[:, ::1] out = packed
    for t in prange(trees_.shape[0] if n else 0, nogil=True, num_threads=n_threads,
                    schedule="static"):
        pack_signs(&leaves[trees_[t], 0], &positive[0], n, &out[t, 0])
    return packed


cdef void pack_signs(const int32_t* leaves, const uint8_t* positive, int64_t n,
                     uint8_t* out) noexcept nogil:
    cdef int64_t i, k
    cdef int32_t leaf
    cdef uint32_t bits
    for i in range((n + 7) // 8):
        bits = 0
        for k in range(min(<int64_t> 8, n - 8 * i)):
            leaf = leaves[8 * i + k]
            bits |= <uint32_t> (positive[leaf >> 3] >> (leaf & 7) & 1) << k
        out[i] = <uint8_t> bits
