"""Shapley values of weighted sums of binary trees: the trees, and blocks of rows over threads.

See shapley.h for the mathematics. A `ShapleySum` holds what does not depend on the rows: the nodes
with their nodes before of the same feature, and the tables of factors.
"""

from cython.parallel cimport prange
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.string cimport memset

import numpy as np

from cwboost._kernels.common.cpu cimport cwb_set, instruction_set
from cwboost._kernels.common.openmp cimport omp_get_thread_num

cdef extern from *:
    int __builtin_popcount(unsigned int) nogil

cdef extern from "prediction/shapley.h" nogil:
    ctypedef struct cwb_shapley_node:
        int32_t parent, before, comparison, slot, is_right, is_leaf, n_features
    ctypedef struct cwb_shapley_step:
        double both, lost, neither, gain_both, gain_lost
    ctypedef struct cwb_shapley_tree:
        const cwb_shapley_node *nodes
        const cwb_shapley_step *steps
        const int8_t *outputs
        int64_t n_nodes, n_points, n_outputs, n_slots
    void cwb_add_tree "CWB_BEST(shapley_tree)"(
        const cwb_shapley_tree *tree, const uint8_t *right, uint8_t *known, double *products,
        double *values)
    void cwb_scatter "CWB_BEST(shapley_scatter)"(
        const double *values, const int32_t *places, int64_t n, double factor, double *out)

cwb_set = instruction_set()


cdef void fill_step(cwb_shapley_step *step, double z, double z_before, bint has_before, double t,
                    double weight) noexcept nogil:
    """Fill the factors and gains of one node and point."""
    cdef double f_known = t + (1 - t) * z, f_unknown = (1 - t) * z
    cdef double f_before = t + (1 - t) * z_before if has_before else 1
    cdef double gain_before = (1 - z_before) / f_before if has_before else 0
    step.both = f_known / f_before
    step.lost = f_unknown / f_before
    step.neither = z / z_before if has_before and z_before > 0 else 0
    step.gain_both = weight * ((1 - z) / f_known - gain_before)
    step.gain_lost = weight * (-1 / (1 - t) - gain_before)


cdef int32_t node_before(const cwb_shapley_node *nodes, int32_t v, int32_t slot) noexcept nogil:
    """Return the nearest node, from v upward, below a comparison of a feature; -1 if none."""
    while v > 0 and nodes[v].slot != slot:
        v = nodes[v].parent
    return v if v > 0 else -1


cdef int64_t lay_out(
    cwb_shapley_tree *tree, const int32_t *feature, const int32_t *left, const double *cover,
    int32_t *slot_of, int32_t *features, double *z
) noexcept nogil:
    """Fill the nodes of a tree, its features, and the proportions z of its nodes.

    `slot_of` is -1 for every feature, before and after. Returns the largest number of features on a
    path, at least 1.
    """
    cdef cwb_shapley_node *nodes = <cwb_shapley_node *> tree.nodes
    cdef cwb_shapley_node *node
    cdef int32_t n_inner = 0, n_slots = 0, v, u
    cdef int64_t most = 1
    cdef double share
    nodes[0].parent = nodes[0].before = -1
    nodes[0].n_features = 0
    for v in range(<int32_t> tree.n_nodes):
        nodes[v].is_leaf = feature[v] < 0
        if feature[v] < 0:
            continue
        if slot_of[feature[v]] < 0:
            slot_of[feature[v]], features[n_slots] = n_slots, feature[v]
            n_slots += 1
        for u in range(left[v], left[v] + 2):
            node = nodes + u
            node.parent, node.comparison, node.slot = v, n_inner, slot_of[feature[v]]
            node.is_right = u > left[v]
            node.before = node_before(nodes, v, node.slot)
            node.n_features = nodes[v].n_features + (node.before < 0)
            share = cover[u] / cover[v] if cover[v] > 0 else 0.5
            z[u] = share * (z[node.before] if node.before >= 0 else 1)
            most = max(most, node.n_features)
        n_inner += 1
    for v in range(n_slots):
        slot_of[features[v]] = -1
    tree.n_slots = n_slots
    return most


cdef cwb_shapley_step *fill_steps(
    const cwb_shapley_tree *tree, const double *z, const double[:, ::1] points,
    cwb_shapley_step *steps
) noexcept nogil:
    """Fill the factors and gains of a tree, from `steps` on; return their end."""
    cdef int64_t q, v, before, n = tree.n_nodes
    for q in range(tree.n_points):
        for v in range(1, n):
            before = tree.nodes[v].before
            fill_step(steps + v, z[v], z[before] if before >= 0 else 1, before >= 0, points[0, q],
                      points[1, q])
        steps += n
    return steps


cdef struct Term:
    # A tree with its place among the comparisons of all, its features and its coefficients.
    cwb_shapley_tree tree
    const int32_t *features
    const double *coef
    const int32_t *scores
    int64_t first_comparison, n_coef


cdef class ShapleySum:
    """Shapley values of a weighted sum of trees.

    Tree t has the nodes from offsets[t] on; `left` counts from there, and `feature` is -1 in
    leaves. `outputs` are (n_nodes, n_outputs), `cover` is the weight of the examples of the
    background that reach each node, and `coef` is a csr_array of shape (n_trees, n_scores).
    ``quadrature(n)`` returns n points in (0, 1) and their weights, of shape (2, n); of a tree up to
    `most_points` are used.
    """

    cdef object arrays  # that the terms point to
    cdef Term *terms
    cdef int64_t n_trees, n_features, n_comparisons, most_nodes, most_values

    def __cinit__(self, const int64_t[::1] offsets, const int32_t[::1] feature,
                  const int32_t[::1] left, const int8_t[:, ::1] outputs, const double[::1] cover,
                  coef, int64_t n_features, quadrature, int64_t most_points):
        cdef int64_t t, first, n = offsets.shape[0] - 1, n_nodes = feature.shape[0], n_steps = 0
        cdef int64_t[::1] n_points = np.empty(n, dtype=np.int64)
        cdef double[::1] z = np.ones(n_nodes)
        cdef int32_t[::1] features = np.empty(n_nodes, dtype=np.int32)
        cdef uint8_t[::1] nodes = np.empty(n_nodes * sizeof(cwb_shapley_node), dtype=np.uint8)
        # One more, so that there is an address.
        cdef int32_t[::1] slot_of = np.full(n_features + 1, -1, dtype=np.int32)
        cdef uint8_t[::1] terms = np.zeros((n + 1) * sizeof(Term), dtype=np.uint8)
        cdef const double[::1] data = np.append(coef.data, 0.0)
        cdef const int32_t[::1] indices = np.append(coef.indices, 0).astype(np.int32)
        cdef const int64_t[::1] indptr = coef.indptr.astype(np.int64)
        cdef Term *term
        self.terms, self.n_trees, self.n_features = <Term *> &terms[0], n, n_features
        self.n_comparisons, self.most_nodes, self.most_values = 0, 1, 1
        for t in range(n):
            term, first = self.terms + t, offsets[t]
            term.tree.nodes = <cwb_shapley_node *> &nodes[0] + first
            term.tree.outputs, term.tree.n_outputs = &outputs[first, 0], outputs.shape[1]
            term.tree.n_nodes = offsets[t + 1] - first
            term.features, term.coef = &features[first], &data[indptr[t]]
            term.scores, term.n_coef = &indices[indptr[t]], indptr[t + 1] - indptr[t]
            term.first_comparison = self.n_comparisons
            n_points[t] = min(
                most_points, (1 + lay_out(&term.tree, &feature[first], &left[first], &cover[first],
                                          &slot_of[0], &features[first], &z[first])) // 2)
            n_steps += n_points[t] * term.tree.n_nodes
            self.n_comparisons += term.tree.n_nodes // 2
            self.most_nodes = max(self.most_nodes, term.tree.n_nodes)
            self.most_values = max(self.most_values, term.tree.n_slots * outputs.shape[1])
        cdef double[::1] steps = np.empty((n_steps + 1) * sizeof(cwb_shapley_step) // 8)
        cdef cwb_shapley_step *step = <cwb_shapley_step *> &steps[0]
        cdef const double[:, ::1] points
        for t in range(n):
            term = self.terms + t
            points = quadrature(n_points[t])
            term.tree.n_points, term.tree.steps = n_points[t], step
            step = fill_steps(&term.tree, &z[offsets[t]], points, step)
        self.arrays = outputs, features, nodes, terms, data, indices, steps

    def add(self, const uint8_t[:, ::1] right, double[:, :, :, ::1] out, int n_threads):
        """Add the values of the rows to `out`, (n_blocks, n_scores, n_features, 8).

        Bit k of entry (b, c) of `right`, (n_blocks, n_comparisons), is set if row ``8 * b + k``
        goes right at comparison c.
        """
        cdef Py_ssize_t n_blocks = right.shape[0], b
        if n_blocks == 0 or self.n_comparisons == 0:
            return
        memory = np.empty((n_threads, 24 * self.most_nodes + 8 * self.most_values))
        known = np.empty((n_threads, self.most_nodes), dtype=np.uint8)
        cdef double[:, ::1] memory_ = memory
        cdef uint8_t[:, ::1] known_ = known
        for b in prange(n_blocks, nogil=True, num_threads=n_threads, schedule="static"):
            run_block(self.terms, self.n_trees, &right[b, 0], &known_[omp_get_thread_num(), 0],
                      &memory_[omp_get_thread_num(), 0],
                      &memory_[omp_get_thread_num(), 24 * self.most_nodes], self.n_features,
                      &out[b, 0, 0, 0])


cdef void run_block(
    const Term *terms, int64_t n_trees, const uint8_t *right, uint8_t *known, double *products,
    double *values, int64_t n_features, double *out
) noexcept nogil:
    """Add coefficients times values to one block of eight rows, in the order of the trees.

    `known`, `products` and `values` are scratch for the largest tree.
    """
    cdef const Term *term
    cdef int64_t t, k, n_slots
    for t in range(n_trees):
        term, n_slots = terms + t, terms[t].tree.n_slots
        if term.n_coef == 0 or n_slots == 0:
            continue
        memset(values, 0, 8 * term.tree.n_outputs * n_slots * sizeof(double))
        cwb_add_tree(&term.tree, right + term.first_comparison, known, products, values)
        for k in range(term.n_coef):
            # The only output, or that of the score.
            cwb_scatter(values + 8 * n_slots * (term.scores[k] % term.tree.n_outputs),
                        term.features, n_slots, term.coef[k],
                        out + 8 * n_features * term.scores[k])


def count_cover(const uint8_t[:, ::1] right, int64_t n_rows, const int32_t[::1] feature,
                const int32_t[::1] left, const int64_t[::1] offsets):
    """Return the number of rows that reach each node, int64; `right` as for `ShapleySum.add`."""
    cdef Py_ssize_t n_blocks = right.shape[0], b, t, v
    cdef int64_t comparison, child
    cdef uint8_t side
    counts = np.zeros(feature.shape[0], dtype=np.int64)
    cdef int64_t[::1] count = counts
    cdef uint8_t[::1] reach = np.zeros(feature.shape[0], dtype=np.uint8)
    for b in range(n_blocks):
        comparison = 0
        for t in range(offsets.shape[0] - 1):
            reach[offsets[t]] = 0xFF >> (8 - min(8, n_rows - 8 * b))
            for v in range(offsets[t], offsets[t + 1]):
                count[v] += __builtin_popcount(reach[v])
                if feature[v] < 0:
                    continue
                side, child = right[b, comparison], offsets[t] + left[v]
                reach[child] = reach[v] & ~side
                reach[child + 1] = reach[v] & side
                comparison += 1
    return counts
