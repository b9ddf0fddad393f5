"""Sums over the nodes of growing trees in one partition: exact, and so in any order.

Weights are rounded to integers as in bin_sums.h. A task is a pair of a node and a feature; it costs
one pass over the node's rows.
"""

import numpy as np

from cython.parallel cimport prange
from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.string cimport memcpy

# Adding and subtracting 1.5 x 2^52 rounds to integers.
cdef double TO_INTEGER = 6755399441055744.0
# Squares are summed of weights rounded more coarsely by this factor.
cdef double COARSE = 2.0 ** -26


cdef inline double rounded(double r, double scale) noexcept nogil:
    return (r * scale + TO_INTEGER) - TO_INTEGER


cdef struct Pair:
    const uint8_t* codes
    const int32_t* rows
    const double* r
    double scale
    int64_t n
    int missing


cdef class NodeRows:
    """The rows of every node of some trees, one tree per target.

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_samples), dtype uint8
    n_bins : ndarray of shape (n_features,), dtype int32
        The code of missing values of each feature.
    weights, scales
        As for the methods.
    bounds : ndarray of shape (n_trees,), dtype float64
        A tree has the rows whose rounded weight is not zero, and not below this in magnitude.
    n_threads : int
    """

    cdef const uint8_t[:, ::1] codes
    cdef const int32_t[::1] n_bins
    cdef int32_t[:, ::1] rows
    cdef int32_t[::1] scratch
    cdef int64_t[::1] starts, ends, trees
    cdef int n_threads

    def __init__(self, codes, n_bins, const double[:, :] weights, const double[::1] scales,
                 const double[::1] bounds, int n_threads):
        cdef int64_t t, i, n_kept, n_trees = bounds.shape[0], n = weights.shape[1]
        cdef double bound
        self.codes, self.n_bins, self.n_threads = codes, n_bins, n_threads
        self.rows = np.empty((n_trees, n), dtype=np.int32)
        self.scratch = np.empty(n, dtype=np.int32)
        self.starts = np.zeros(n_trees, dtype=np.int64)
        self.ends = np.empty(n_trees, dtype=np.int64)
        self.trees = np.arange(n_trees, dtype=np.int64)
        for t in range(n_trees):
            n_kept, bound = 0, max(1.0, bounds[t])
            with nogil:
                for i in range(n):
                    self.rows[t, n_kept] = <int32_t> i
                    n_kept += fabs(rounded(weights[t, i], scales[t])) >= bound
            self.ends[t] = n_kept

    def split(self, const int64_t[::1] nodes, const int32_t[::1] features,
              const int32_t[::1] cuts, const uint8_t[::1] missing_right,
              const uint8_t[:, ::1] sides):
        """Split nodes; children get the next two numbers each.

        Codes up to the cut go left. A negative cut -1 - k stands for row k of `sides`, of 32 bytes:
        a code goes right if its bit is set, by ``code % 8`` of byte ``code // 8``.
        """
        cdef int64_t k, n = nodes.shape[0], first = self.starts.shape[0], middle
        starts, ends, trees = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64), None
        trees = np.repeat(np.asarray(self.trees)[np.asarray(nodes)], 2)
        for k in range(n):
            middle = self.partition(nodes[k], features[k], cuts[k], missing_right[k], sides)
            starts[2 * k], ends[2 * k] = self.starts[nodes[k]], middle
            starts[2 * k + 1], ends[2 * k + 1] = middle, self.ends[nodes[k]]
        self.starts = np.concatenate([self.starts, starts])
        self.ends = np.concatenate([self.ends, ends])
        self.trees = np.concatenate([self.trees, trees])
        return first

    cdef int64_t partition(self, int64_t node, int64_t feature, int cut, bint missing_right,
                           const uint8_t[:, ::1] sides) noexcept:
        cdef int64_t i, at = self.starts[node], n_right = 0
        cdef int32_t[::1] rows = self.rows[self.trees[node]]
        cdef const uint8_t[::1] codes = self.codes[feature]
        cdef const uint8_t* side = &sides[-1 - cut, 0] if cut < 0 else NULL
        cdef int code, missing = self.n_bins[feature]
        with nogil:
            for i in range(self.starts[node], self.ends[node]):
                code = codes[rows[i]]
                if goes_right(code, cut, missing, missing_right, side):
                    self.scratch[n_right] = rows[i]
                    n_right += 1
                else:
                    rows[at] = rows[i]
                    at += 1
            for i in range(n_right):
                rows[at + i] = self.scratch[i]
        return at

    def totals(self, const double[:, :] weights, const double[::1] scales,
               const int64_t[::1] nodes):
        """Return sum, mass, number and coarse squares of the weights of nodes, (n_nodes, 4)."""
        cdef int64_t k, i, n_nodes = nodes.shape[0]
        found = np.zeros((n_nodes, 4))
        cdef double[:, ::1] out = found
        cdef double w, scale
        cdef int64_t tree
        for k in prange(n_nodes, nogil=True, num_threads=self.n_threads, schedule="dynamic"):
            tree = self.trees[nodes[k]]
            scale = scales[tree]
            for i in range(self.starts[nodes[k]], self.ends[nodes[k]]):
                w = rounded(weights[tree, self.rows[tree, i]], scale)
                out[k, 0] += w
                out[k, 1] += fabs(w)
                w = rounded(weights[tree, self.rows[tree, i]], scale * COARSE)
                out[k, 3] += w * w
            out[k, 2] = <double> (self.ends[nodes[k]] - self.starts[nodes[k]])
        return found

    cdef Pair pair(self, const double[:, :] weights, const double[::1] scales, int64_t node,
                   int64_t feature) noexcept nogil:
        cdef Pair p
        cdef int64_t tree = self.trees[node]
        p.codes = &self.codes[feature, 0]
        p.rows = &self.rows[tree, 0] + self.starts[node]
        p.n = self.ends[node] - self.starts[node]
        p.r, p.scale, p.missing = &weights[tree, 0], scales[tree], self.n_bins[feature]
        return p

    def ranges(self, const int64_t[::1] nodes, const int32_t[::1] features):
        """Return the smallest code and minus the largest, of (node, feature) pairs; 256 if none."""
        cdef int64_t k, i, tree, n_pairs = nodes.shape[0]
        cdef int code, low, high, missing
        cdef const uint8_t* codes
        found = np.full((n_pairs, 2), 256, dtype=np.int64)
        cdef int64_t[:, ::1] out = found
        if self.codes.shape[1] == 0:
            return found
        for k in prange(n_pairs, nogil=True, num_threads=self.n_threads, schedule="dynamic"):
            tree = self.trees[nodes[k]]
            codes = &self.codes[features[k], 0]
            missing, low, high = self.n_bins[features[k]], 256, -1
            for i in range(self.starts[nodes[k]], self.ends[nodes[k]]):
                code = codes[self.rows[tree, i]]
                if code != missing:
                    low = code if code < low else low
                    high = code if code > high else high
            out[k, 0] = low
            out[k, 1] = -high if high >= 0 else 256
        return found

    def below(self, const double[:, :] weights, const double[::1] scales,
              const int64_t[::1] nodes, const int32_t[::1] features, const int32_t[::1] cuts):
        """Return sum, mass and number up to a cut and of missing values, (n_pairs, 2, 3)."""
        cdef int64_t k, n_pairs = nodes.shape[0]
        found = np.zeros((n_pairs, 2, 3))
        cdef double[:, :, ::1] out = found
        if self.codes.shape[1] == 0:
            return found
        for k in prange(n_pairs, nogil=True, num_threads=self.n_threads, schedule="dynamic"):
            add_below(self.pair(weights, scales, nodes[k], features[k]), cuts[k], &out[k, 0, 0])
        return found

    def histograms(self, const double[:, :] weights, const double[::1] scales,
                   const int64_t[::1] nodes, const int32_t[::1] features):
        """Return sum, mass and number per code, of shape (n_pairs, n_codes, 3).

        ``n_codes`` is the largest number of codes of one of the features, missing values included.
        """
        cdef int64_t k, n_pairs = nodes.shape[0]
        cdef int64_t most = np.asarray(self.n_bins)[np.asarray(features)].max(initial=0)
        found = np.zeros((n_pairs, min(256, most + 1), 3))
        cdef double[:, :, ::1] out = found
        if self.codes.shape[1] == 0:
            return found
        for k in prange(n_pairs, nogil=True, num_threads=self.n_threads, schedule="dynamic"):
            add_codes(self.pair(weights, scales, nodes[k], features[k]), &out[k, 0, 0])
        return found


cdef inline bint goes_right(int code, int cut, int missing, bint missing_right,
                            const uint8_t* side) noexcept nogil:
    if side != NULL:
        return side[code >> 3] >> (code & 7) & 1
    return missing_right if code == missing else code > cut


cdef void add_below(Pair p, int cut, double* out) noexcept nogil:
    cdef int64_t i, count = 0
    cdef int code
    cdef double w, sum = 0.0, mass = 0.0
    for i in range(p.n):
        code = p.codes[p.rows[i]]
        w = rounded(p.r[p.rows[i]], p.scale)
        if code == p.missing:
            out[3] += w
            out[4] += fabs(w)
            out[5] += 1.0
        w = w if code <= cut else 0.0
        sum = sum + w
        mass = mass + fabs(w)
        count = count + (code <= cut)
    out[0], out[1], out[2] = sum, mass, <double> count


cdef void add_codes(Pair p, double* out) noexcept nogil:
    cdef int64_t i
    cdef double w
    cdef double* at
    for i in range(p.n):
        at = out + 3 * p.codes[p.rows[i]]
        w = rounded(p.r[p.rows[i]], p.scale)
        at[0] += w
        at[1] += fabs(w)
        at[2] += 1.0


def masses_by_size(const double[:, :] weights, const double[::1] scales, int n_threads):
    """Return the exact masses of rounded weights by their size, (n_targets, 416).

    Size s holds the magnitudes from ``2**(s // 8) (1 + s % 8 / 8)`` up to those of the next.

    Parameters
    ----------
    weights : ndarray of shape (n_targets, n_samples), dtype float64
    scales : ndarray of shape (n_targets,), dtype float64
        Powers of two by which the weights are multiplied before they are rounded.
    n_threads : int
    """
    cdef int64_t t, i, bits, n_targets = weights.shape[0], n = weights.shape[1]
    cdef double w
    found = np.zeros((n_targets, 416))
    cdef double[:, ::1] out = found
    for t in prange(n_targets, nogil=True, num_threads=n_threads, schedule="dynamic"):
        for i in range(n):
            w = fabs(rounded(weights[t, i], scales[t]))
            if w > 0.0:
                memcpy(&bits, &w, sizeof(bits))
                out[t, min(415, (bits >> 49) - (1023 << 3))] += w
    return found


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
    cdef int64_t t, i, node, first, n = codes.shape[1], n_trees = offsets.shape[0] - 1
    cdef const uint8_t* side
    positive = np.empty((n_trees, n), dtype=np.uint8)
    cdef uint8_t[:, ::1] out = positive
    for t in range(n_trees):
        first = offsets[t]
        for i in prange(n, nogil=True, num_threads=n_threads, schedule="static"):
            node = first
            while left[node] >= 0:
                side = &sides[-1 - below[node], 0] if below[node] < 0 else NULL
                node = first + left[node] + goes_right(
                    codes[feature[node], i], below[node] - 1, n_bins[feature[node]],
                    missing[node] > 0, side)
            out[t, i] = sign[node] > 0
    return positive
