"""Shapley values of weighted sums of binary trees: the trees, and blocks of rows over threads.

See shapley.h for the mathematics. A `ShapleyTree` holds what does not depend on the rows: the nodes
with their nodes before of the same feature, and the tables of factors.
"""

from cython.parallel cimport prange
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

import numpy as np

from cwboost._kernels.common.cpu cimport instruction_set
from cwboost._kernels.common.openmp cimport omp_get_thread_num

cdef extern from "prediction/shapley.h" nogil:
    ctypedef struct cwb_shapley_node:
        int32_t parent, before, comparison, slot, is_right, is_leaf
    ctypedef struct cwb_shapley_step:
        double both, lost, neither, gain_both, gain_lost
    ctypedef struct cwb_shapley_tree:
        const cwb_shapley_node *nodes
        const cwb_shapley_step *steps
        const int8_t *outputs
        int64_t n_nodes, n_points, n_outputs, n_slots
    ctypedef struct cwb_shapley_kernels:
        void (*add_tree)(const cwb_shapley_tree *tree, const uint8_t *right, uint8_t *known,
                         double *products, double *values) noexcept nogil
        void (*scatter)(const double *values, const int32_t *places, int64_t n, double factor,
                        double *out) noexcept nogil
    const cwb_shapley_kernels *cwb_shapley_tables[]

cdef const cwb_shapley_kernels *kernels = cwb_shapley_tables[instruction_set()]


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


cdef class ShapleyTree:
    """One tree, ready for `ShapleySum`.

    `outputs` are (n_nodes, n_outputs), `cover` is the weight of the examples of the background that
    reach each node, and ``quadrature(n)`` returns n points in (0, 1) and their weights. `features`
    are those of the tree, ascending.
    """

    cdef cwb_shapley_tree tree
    cdef cwb_shapley_node *nodes
    cdef cwb_shapley_step *steps
    cdef readonly object features
    cdef const int8_t[:, ::1] outputs

    def __cinit__(self, const int32_t[::1] feature, const int32_t[::1] left,
                  const int8_t[:, ::1] outputs, const double[::1] cover, quadrature):
        cdef Py_ssize_t n = feature.shape[0], v, u, q, n_points, most = 1
        cdef int32_t n_inner = 0
        cdef double share
        cdef double[::1] z = np.ones(n)
        cdef int64_t[::1] n_distinct = np.zeros(n, dtype=np.int64)
        cdef const double[::1] points, weights
        self.nodes = <cwb_shapley_node *> malloc(n * sizeof(cwb_shapley_node))
        if self.nodes == NULL:
            raise MemoryError("tree of Shapley values")
        whole = np.asarray(feature)
        self.features, slots = np.unique(whole[whole >= 0], return_inverse=True)
        cdef const int64_t[::1] slot = slots.astype(np.int64)
        self.nodes[0].parent = self.nodes[0].before = -1
        for v in range(n):
            self.nodes[v].is_leaf = feature[v] < 0
            if feature[v] < 0:
                continue
            for u in range(left[v], left[v] + 2):
                self.nodes[u].parent = <int32_t> v
                self.nodes[u].comparison = n_inner
                self.nodes[u].slot = <int32_t> slot[n_inner]
                self.nodes[u].is_right = u > left[v]
                share = cover[u] / cover[v] if cover[v] > 0 else 0.5
                self.nodes[u].before = self.node_before(<int32_t> v, self.nodes[u].slot)
                z[u] = share * (z[self.nodes[u].before] if self.nodes[u].before >= 0 else 1)
                n_distinct[u] = n_distinct[v] + (self.nodes[u].before < 0)
                most = max(most, n_distinct[u])
            n_inner += 1
        n_points = (most + 1) // 2
        points, weights = quadrature(n_points)
        self.steps = <cwb_shapley_step *> malloc(n * n_points * sizeof(cwb_shapley_step))
        if self.steps == NULL:
            raise MemoryError("tree of Shapley values")
        for q in range(n_points):
            for v in range(1, n):
                u = self.nodes[v].before
                fill_step(self.steps + q * n + v, z[v], z[u] if u >= 0 else 1, u >= 0,
                          points[q], weights[q])
        self.tree.nodes, self.tree.steps = self.nodes, self.steps
        self.tree.n_nodes, self.tree.n_points, self.outputs = n, n_points, outputs
        self.tree.outputs, self.tree.n_outputs = &outputs[0, 0], outputs.shape[1]
        self.tree.n_slots = len(self.features)

    cdef int32_t node_before(self, int32_t v, int32_t slot) noexcept:
        """Return the nearest node, from v upward, below a comparison of a feature; -1 if none."""
        while v > 0 and self.nodes[v].slot != slot:
            v = self.nodes[v].parent
        return v if v > 0 else -1

    def __dealloc__(self):
        free(self.nodes)
        free(self.steps)


cdef struct Scratch:
    # Of one thread, for the largest tree.
    uint8_t *known
    double *products
    double *values


cdef void add_block(
    const cwb_shapley_tree *tree, const uint8_t *right, Scratch *work, const int32_t *features,
    const double *coef, const int32_t *scores, int64_t n_coef, int64_t n_features, double *out
) noexcept nogil:
    """Add coefficients times values of one tree to one block of eight rows."""
    cdef int64_t k, n_slots = tree.n_slots
    memset(work.values, 0, 8 * tree.n_outputs * n_slots * sizeof(double))
    kernels.add_tree(tree, right, work.known, work.products, work.values)
    for k in range(n_coef):
        # The only output, or that of the score.
        kernels.scatter(work.values + 8 * n_slots * (scores[k] % tree.n_outputs), features, n_slots,
                        coef[k], out + 8 * n_features * scores[k])


cdef struct Term:
    # A tree with its place among the comparisons of all, its features and its coefficients.
    const cwb_shapley_tree *tree
    const int32_t *features
    const double *coef
    const int32_t *scores
    int64_t first_comparison, n_coef


cdef class ShapleySum:
    """Shapley values of a weighted sum of the trees of a list of `ShapleyTree`.

    `coef` is a csr_array of shape (n_trees, n_scores).
    """

    cdef list trees
    cdef Term *terms
    cdef int64_t n_features, n_comparisons, most_nodes, most_values
    cdef const double[::1] data
    cdef const int32_t[::1] indices
    cdef list features

    def __cinit__(self, trees, coef, int64_t n_features):
        cdef Py_ssize_t t, n = len(trees)
        cdef ShapleyTree tree
        cdef const int32_t[::1] features
        cdef const int64_t[::1] indptr = coef.indptr.astype(np.int64)
        self.trees, self.features, self.n_features = trees, [], n_features
        # One more, so that there is an address.
        self.data = np.append(coef.data, 0.0)
        self.indices = np.append(coef.indices, 0).astype(np.int32)
        self.terms = <Term *> malloc(max(1, n) * sizeof(Term))
        if self.terms == NULL:
            raise MemoryError("trees of Shapley values")
        self.n_comparisons, self.most_nodes, self.most_values = 0, 1, 1
        for t in range(n):
            tree = trees[t]
            features = np.append(tree.features, 0).astype(np.int32)
            self.features.append(features)
            self.terms[t].tree = &tree.tree
            self.terms[t].features = &features[0]
            self.terms[t].coef = &self.data[indptr[t]]
            self.terms[t].scores = &self.indices[indptr[t]]
            self.terms[t].n_coef = indptr[t + 1] - indptr[t]
            self.terms[t].first_comparison = self.n_comparisons
            self.n_comparisons += tree.tree.n_nodes // 2
            self.most_nodes = max(self.most_nodes, tree.tree.n_nodes)
            self.most_values = max(self.most_values, tree.tree.n_slots * tree.tree.n_outputs)

    def __dealloc__(self):
        free(self.terms)

    def add(self, const uint8_t[:, ::1] right, double[:, :, :, ::1] out, int n_threads):
        """Add the values of the rows to `out`, (n_blocks, n_scores, n_features, 8).

        Bit k of entry (b, c) of `right`, (n_blocks, n_comparisons), is set if row ``8 * b + k``
        goes right at comparison c.
        """
        cdef Py_ssize_t n_blocks = right.shape[0], n_trees = len(self.trees), b
        if n_blocks == 0 or self.n_comparisons == 0:
            return
        memory = np.empty((n_threads, 24 * self.most_nodes + 8 * self.most_values))
        known = np.empty((n_threads, self.most_nodes), dtype=np.uint8)
        cdef double[:, ::1] memory_ = memory
        cdef uint8_t[:, ::1] known_ = known
        for b in prange(n_blocks, nogil=True, num_threads=n_threads, schedule="static"):
            run_block(self.terms, n_trees, &right[b, 0], &known_[omp_get_thread_num(), 0],
                      &memory_[omp_get_thread_num(), 0], self.most_nodes, self.n_features,
                      &out[b, 0, 0, 0])


cdef void run_block(
    const Term *trees, int64_t n_trees, const uint8_t *right, uint8_t *known, double *memory,
    int64_t most_nodes, int64_t n_features, double *out
) noexcept nogil:
    """Add the values of all trees to one block, in the order of the trees."""
    cdef int64_t t
    cdef Scratch work
    work.known, work.products, work.values = known, memory, memory + 24 * most_nodes
    for t in range(n_trees):
        if trees[t].n_coef > 0 and trees[t].tree.n_slots > 0:
            add_block(trees[t].tree, right + trees[t].first_comparison, &work, trees[t].features,
                      trees[t].coef, trees[t].scores, trees[t].n_coef, n_features, out)


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
                count[v] += bits_of(reach[v])
                if feature[v] < 0:
                    continue
                side, child = right[b, comparison], offsets[t] + left[v]
                reach[child] = reach[v] & ~side
                reach[child + 1] = reach[v] & side
                comparison += 1
    return counts


cdef inline int64_t bits_of(uint8_t byte) noexcept nogil:
    byte = byte - ((byte >> 1) & 0x55)
    byte = (byte & 0x33) + ((byte >> 2) & 0x33)
    return (byte + (byte >> 4)) & 0x0F
