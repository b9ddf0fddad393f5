"""Growth of binary trees with outputs -1 and +1 for signed weights, over binned features.

Given a signed weight r_i an example, pricing asks for the tree h with the largest edge

    sum_i r_i h(x_i) = sum over leaves l of sign_l * (sum of r_i in l),

so a leaf's sign is that of its weight sum, and the edge of a grown tree is the sum over its
leaves of |sum of r_i|. Finding the best tree is intractable; here it is grown greedily, each node
split where the chosen criterion (see tree_split.h) gains most. Label sign(r_i) and mass |r_i|
make it a weighted two-class problem, on which "gini" and "entropy" work as well: they see
progress where the edge is flat, because they prefer purer children of the same sign.

Every tree is grown by one thread from its own seed, so the result does not depend on how many
threads there are. Rows and weights of a node are kept contiguous and in example order by a
stable partition; examples of zero weight are set aside and only follow the tree.
"""

from cython.parallel cimport prange
from libc.math cimport fabs, frexp, ldexp
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

from cwboost._kernels.openmp cimport omp_get_thread_num
from cwboost._kernels.tree_search cimport ROUNDING, column_codes, find_splits, split_point
from cwboost._kernels.tree_types cimport (
    CWB_BINS, CWB_EDGE, CWB_ENTROPY, CWB_GINI, Matrix, Node, Settings, Work, cwb_pair, cwb_split)

cdef extern from "<stdlib.h>" nogil:
    int posix_memalign(void **memory, size_t alignment, size_t size)

cdef extern from "tree_outputs.h" nogil:
    const int CWB_FIRST
    ctypedef struct cwb_coded:
        int32_t feature, left, right
        uint8_t first, width
    void cwb_node_sums(const double *weights, int64_t n, double *sum, double *mass)
    int64_t cwb_partition(const uint8_t *codes, uint8_t first, uint32_t width, int32_t *rows,
                          double *weights, int64_t n, int32_t *scratch_rows,
                          double *scratch_weights)
    int64_t cwb_partition_rows(const uint8_t *codes, uint8_t first, uint32_t width,
                               int32_t *rows, int64_t n, int32_t *scratch_rows)
    void cwb_outputs_by_codes(const cwb_coded *nodes, int64_t n_inner, const uint8_t *codes,
                              int64_t n_rows, void *reach, uint8_t *positive)
    double cwb_finish_outputs(const uint8_t *positive, const double *weights, int64_t n,
                              uint8_t *packed)
    double cwb_trim_bound(const double *weights, int64_t n, double largest, double fraction)

TREE_CRITERIA = {"edge": CWB_EDGE, "gini": CWB_GINI, "entropy": CWB_ENTROPY}

# Up to so many inner nodes, outputs are found for 32 rows at a time from the codes.
cdef int64_t MAX_INNER_BY_CODES = 255

cdef struct TreeNode:
    # Leaf: feature -1, left -1, sign +-1. Else children left and left + 1, sign 0; missing is
    # +1 where missing values go right, -1 where they go left.
    double threshold
    int32_t feature, left
    int8_t missing, sign
    uint8_t first, width  # codes [first, first + width) go right

cdef struct Tree:
    TreeNode *nodes
    int64_t n, capacity
    double edge


cdef bint push(Work *work, const Node *node, bint best_first) noexcept nogil:
    """Add a node to the frontier; best_first keeps it a heap with the largest gain on top."""
    cdef int64_t i = work.n_frontier, parent
    cdef Node *grown
    if work.n_frontier == work.frontier_capacity:
        grown = <Node *> realloc(work.frontier, 2 * work.frontier_capacity * sizeof(Node))
        if grown == NULL:
            return False
        work.frontier = grown
        work.frontier_capacity *= 2
    work.n_frontier += 1
    while best_first and i > 0:
        parent = (i - 1) // 2
        if not node.split.gain > work.frontier[parent].split.gain:
            break
        work.frontier[i] = work.frontier[parent]
        i = parent
    work.frontier[i] = node[0]
    return True


cdef Node pop(Work *work, bint best_first) noexcept nogil:
    """Take the node on top of the frontier."""
    cdef Node top, last
    cdef int64_t i = 0, child
    work.n_frontier -= 1
    last = work.frontier[work.n_frontier]
    if not best_first or work.n_frontier == 0:
        return last
    top = work.frontier[0]
    while 2 * i + 1 < work.n_frontier:
        child = 2 * i + 1
        if (child + 1 < work.n_frontier
                and work.frontier[child + 1].split.gain > work.frontier[child].split.gain):
            child += 1
        if not work.frontier[child].split.gain > last.split.gain:
            break
        work.frontier[i] = work.frontier[child]
        i = child
    work.frontier[i] = last
    return top


cdef bint add_leaf(Tree *tree, double sum, double mass) noexcept nogil:
    """Append a leaf with the sign of its weight sum (+1 where that is rounding)."""
    cdef TreeNode *grown
    if tree.n == tree.capacity:
        grown = <TreeNode *> realloc(tree.nodes, 2 * tree.capacity * sizeof(TreeNode))
        if grown == NULL:
            return False
        tree.nodes = grown
        tree.capacity *= 2
    tree.nodes[tree.n].threshold = 0
    tree.nodes[tree.n].feature = -1
    tree.nodes[tree.n].left = -1
    tree.nodes[tree.n].missing = 0
    tree.nodes[tree.n].sign = -1 if sum < -ROUNDING * mass else 1
    tree.n += 1
    return True


cdef void set_outputs(Work *work, const Tree *tree, const Node *node) noexcept nogil:
    cdef uint8_t positive = tree.nodes[node.index].sign > 0
    cdef int64_t i
    for i in range(node.start, node.end):
        work.positive[work.rows[i]] = positive
    for i in range(node.idle_start, node.idle_end):
        work.positive[work.idle_rows[i]] = positive


cdef void sums_of_leaves(
    const uint8_t *codes, uint8_t first, uint32_t width, Work *work, const Node *node,
    Node *children
) noexcept nogil:
    """Sums of children that stay leaves, whose rows are not partitioned.

    The histogram knows them, to the rounding of the parent's mass.
    """
    cdef int64_t i
    cdef bint right
    children[0].sum = node.split.left_sum
    children[0].mass = node.split.left_mass
    children[1].sum = node.sum - children[0].sum
    children[1].mass = node.mass - children[0].mass
    if min(fabs(children[0].sum), fabs(children[1].sum)) > ROUNDING * node.mass:
        return
    for i in range(2):
        children[i].sum = children[i].mass = 0
    for i in range(node.start, node.end):
        right = <uint8_t> (codes[work.rows[i]] - first) < width
        children[right].sum += work.weights[i]
        children[right].mass += fabs(work.weights[i])


cdef void partition_rows(
    const uint8_t *codes, uint8_t first, uint32_t width, Work *work, const Node *node,
    Node *children
) noexcept nogil:
    cdef int64_t middle, idle_middle, k
    middle = node.start + cwb_partition(
        codes, first, width, work.rows + node.start, work.weights + node.start,
        node.end - node.start, work.scratch_rows, work.scratch_weights)
    idle_middle = node.idle_start + cwb_partition_rows(
        codes, first, width, work.idle_rows + node.idle_start, node.idle_end - node.idle_start,
        work.scratch_rows)
    for k in range(2):
        children[k].start = middle if k else node.start
        children[k].end = node.end if k else middle
        children[k].idle_start = idle_middle if k else node.idle_start
        children[k].idle_end = node.idle_end if k else idle_middle
        cwb_node_sums(work.weights + children[k].start, children[k].end - children[k].start,
                      &children[k].sum, &children[k].mass)


cdef bint split_node(
    const Matrix *X, const Settings *settings, Work *work, Tree *tree, const Node *node,
    Node *children, bint by_codes
) noexcept nogil:
    """Carry out node.split: partition its rows, append its two children to the tree."""
    cdef uint8_t first
    cdef uint32_t width
    cdef double threshold = split_point(X, &node.split, &first, &width)
    cdef const uint8_t *codes = column_codes(X, work, node.split.feature)
    cdef int64_t k
    cdef TreeNode *parent
    for k in range(2):
        children[k].depth = node.depth + 1
        children[k].index = tree.n + k
        children[k].start = children[k].end = children[k].idle_start = children[k].idle_end = 0
    if by_codes and node.depth + 1 == settings.max_depth:
        sums_of_leaves(codes, first, width, work, node, children)
    else:
        partition_rows(codes, first, width, work, node, children)
    for k in range(2):
        if not add_leaf(tree, children[k].sum, children[k].mass):
            return False
    parent = tree.nodes + node.index
    parent.feature = node.split.feature
    parent.threshold = threshold
    parent.left = children[0].index
    parent.missing = 1 if node.split.missing_right else -1
    parent.sign = 0
    parent.first = first
    parent.width = <uint8_t> width
    return True


cdef double load_weights(
    const Matrix *X, const Settings *settings, Work *work, const double *weights, bint by_codes,
    Node *root
) noexcept nogil:
    """Rows that take part in the search into work.rows, the others into work.idle_rows.

    Weights are scaled by a power of two so that the largest lies in [1/2, 1): no rounding, and
    neither overflow nor underflow of their squares. Returns the sum of all weights.
    """
    cdef double largest = 0, total = 0, bound = 0, scale
    cdef int exponent = 0
    cdef int64_t i, n = 0, n_idle = 0
    for i in range(X.n_rows):
        largest = max(largest, fabs(weights[i]))
        total += weights[i]
    if settings.trim > 0 and largest > 0:
        bound = cwb_trim_bound(weights, X.n_rows, largest, settings.trim)
    frexp(largest, &exponent)
    scale = ldexp(1.0, -max(exponent, -1020))
    for i in range(X.n_rows):
        # Both are written, one of them is kept: no branch to mispredict.
        work.rows[n] = <int32_t> i
        work.weights[n] = scale * weights[i]
        work.idle_rows[n_idle] = <int32_t> i
        if weights[i] != 0 and fabs(weights[i]) >= bound:
            n += 1
        else:
            n_idle += 1
    if X.indptr != NULL:
        for i in range(X.n_rows):
            work.slot_of[i] = 2
        for i in range(n):
            work.weight_of[work.rows[i]] = work.weights[i]
    root.start = root.idle_start = root.depth = 0
    root.end = n
    root.idle_end = 0 if by_codes else n_idle
    root.index = 0
    cwb_node_sums(work.weights, n, &root.sum, &root.mass)
    return total


cdef void merge_equal_leaves(Tree *tree, int32_t *place) noexcept nogil:
    """Replace every subtree whose leaves all have one sign by a leaf, and close the gaps.

    `place` is scratch for one int32 a node: the new index of a node, -1 where it goes.
    """
    cdef int64_t i, n = 0
    cdef TreeNode *node
    cdef TreeNode *left
    for i in range(tree.n - 1, -1, -1):
        node = tree.nodes + i
        if node.left >= 0:
            left = tree.nodes + node.left
            if left.sign != 0 and left.sign == (left + 1).sign:
                node.sign = left.sign
                node.feature = node.left = -1
                node.threshold = 0
                node.missing = 0
    memset(place, 0xFF, tree.n * sizeof(int32_t))
    place[0] = 0
    for i in range(tree.n):
        if place[i] >= 0 and tree.nodes[i].left >= 0:
            place[tree.nodes[i].left] = place[tree.nodes[i].left + 1] = 0
    for i in range(tree.n):
        if place[i] >= 0:
            place[i] = <int32_t> n
            n += 1
    for i in range(tree.n):
        if place[i] >= 0:
            node = tree.nodes + place[i]
            node[0] = tree.nodes[i]
            if node.left >= 0:
                node.left = place[node.left]
    tree.n = n


cdef void outputs_by_codes(const Matrix *X, Work *work, const Tree *tree) noexcept nogil:
    """Outputs of a finished tree on all rows, from the codes of dense features."""
    cdef cwb_coded[255] inner
    cdef int32_t *place = work.scratch_rows
    cdef int32_t n_inner = 0
    cdef int64_t i
    cdef const TreeNode *node
    if tree.n == 1:
        memset(work.positive, tree.nodes[0].sign > 0, X.n_rows)
        return
    for i in range(tree.n):
        place[i] = tree.nodes[i].sign > 0
        if tree.nodes[i].left >= 0:
            place[i] = CWB_FIRST + n_inner
            n_inner += 1
    for i in range(tree.n):
        node = tree.nodes + i
        if node.left >= 0:
            inner[place[i] - CWB_FIRST].feature = node.feature
            inner[place[i] - CWB_FIRST].left = place[node.left]
            inner[place[i] - CWB_FIRST].right = place[node.left + 1]
            inner[place[i] - CWB_FIRST].first = node.first
            inner[place[i] - CWB_FIRST].width = node.width
    cwb_outputs_by_codes(inner, n_inner, X.codes, X.n_rows, work.reach, work.positive)


cdef bint may_use_codes(const Matrix *X, const Settings *settings) noexcept nogil:
    """Whether every tree is small enough to evaluate all its nodes on all rows."""
    cdef int64_t most = (<int64_t> 1 << min(settings.max_depth, 60)) - 1
    if settings.max_leaves > 0:
        most = min(most, settings.max_leaves - 1)
    return X.codes != NULL and most <= MAX_INNER_BY_CODES


cdef bint grow_tree(
    const Matrix *X, const Settings *settings, Work *work, const double *weights, uint64_t seed,
    Tree *tree, uint8_t *packed
) noexcept nogil:
    """Grow one tree; its outputs into `packed`. False where memory ran out."""
    cdef bint best_first = settings.max_leaves > 0, by_codes = may_use_codes(X, settings)
    cdef int64_t n_leaves = 1, k
    cdef double total
    cdef Node node
    cdef Node children[2]
    work.random = seed
    work.n_frontier = 0
    tree.n = 0
    memcpy(work.features, X.usable, X.n_usable * sizeof(int32_t))
    total = load_weights(X, settings, work, weights, by_codes, &node)
    find_splits(X, settings, work, &node, 1)
    if not add_leaf(tree, node.sum, node.mass) or not push(work, &node, best_first):
        return False
    while work.n_frontier > 0:
        node = pop(work, best_first)
        if node.split.gain < 0 or (best_first and n_leaves >= settings.max_leaves):
            if not by_codes:
                set_outputs(work, tree, &node)
            continue
        if not split_node(X, settings, work, tree, &node, children, by_codes):
            return False
        n_leaves += 1
        find_splits(X, settings, work, children, 2)
        for k in range(1, -1, -1):
            if not push(work, &children[k], best_first):
                return False
    merge_equal_leaves(tree, work.scratch_rows)
    if by_codes:
        outputs_by_codes(X, work, tree)
    tree.edge = cwb_finish_outputs(work.positive, weights, X.n_rows, packed)
    if tree.edge < fabs(total):
        # Trimmed weights, left out of the search, may turn the scales: a constant is better.
        tree.n = 0
        add_leaf(tree, total, fabs(total))
        memset(work.positive, total > 0, X.n_rows)
        tree.edge = cwb_finish_outputs(work.positive, weights, X.n_rows, packed)
    return True


cdef class TreeGrower:
    """Grows trees on one binned matrix; keeps the scratch memory of its threads between calls.

    Parameters
    ----------
    binned : cwboost.kernels.BinnedMatrix
    criterion : int
        A value of `TREE_CRITERIA`.
    trim : float
        Rows of the smallest weights, up to this fraction of a target's mass, only follow a tree.
    max_depth, max_leaves, min_samples_leaf, max_features : int
        max_leaves 0: no limit, nodes are split depth first; else the node of largest gain first.
        max_features counts features that vary in the node.
    n_threads : int
    """

    cdef Matrix X
    cdef Settings settings
    cdef Work *work
    cdef int n_threads
    cdef object binned
    cdef list blocks

    def __cinit__(self, binned, *, int criterion, double trim, int64_t max_depth,
                  int64_t max_leaves, int64_t min_samples_leaf, int64_t max_features,
                  int n_threads):
        self.work = NULL
        self.blocks = []
        self.n_threads = n_threads
        self.binned = binned
        self.settings.criterion = criterion
        self.settings.trim = trim
        self.settings.max_depth = max_depth
        self.settings.max_leaves = max_leaves
        self.settings.min_samples_leaf = min_samples_leaf
        self.settings.max_features = max_features
        self._read(binned)
        self._allocate()

    cdef _read(self, binned):
        """Take the addresses of the arrays of `binned`, which self.binned keeps alive."""
        cdef const uint8_t[::1] codes = binned.codes
        cdef const int32_t[::1] usable = binned.usable
        cdef const int32_t[::1] n_bins = binned.n_bins
        cdef const int64_t[::1] bin_start = binned.bin_start
        cdef const double[::1] lowest = binned.lowest
        cdef const double[::1] highest = binned.highest
        cdef const uint8_t[::1] listed = binned.listed
        cdef const int64_t[::1] indptr
        cdef const int32_t[::1] entry_rows
        cdef const uint8_t[::1] entry_codes
        cdef const uint8_t[::1] default_code
        cdef Py_ssize_t f
        self.X.n_rows = binned.n_rows
        self.X.n_usable = usable.shape[0]
        self.X.codes = &codes[0] if codes.shape[0] else NULL
        self.X.usable = &usable[0] if usable.shape[0] else NULL
        self.X.n_bins = &n_bins[0]
        self.X.bin_start = &bin_start[0]
        self.X.lowest = &lowest[0]
        self.X.highest = &highest[0]
        self.X.listed = &listed[0]
        self.X.indptr = NULL
        self.X.fewest_entries = self.X.n_rows
        if binned.indptr is None:
            return
        indptr = binned.indptr
        entry_rows = binned.entry_rows
        entry_codes = binned.entry_codes
        default_code = binned.default_code
        self.X.indptr = &indptr[0]
        self.X.entry_rows = &entry_rows[0] if entry_rows.shape[0] else NULL
        self.X.entry_codes = &entry_codes[0] if entry_codes.shape[0] else NULL
        self.X.default_code = &default_code[0]
        for f in range(indptr.shape[0] - 1):
            if listed[f]:
                self.X.fewest_entries = min(self.X.fewest_entries, indptr[f + 1] - indptr[f])
        if self.X.codes == NULL:
            self.X.fewest_entries = -1

    cdef _allocate(self):
        cdef int t
        cdef size_t n = self.X.n_rows, n_features = max(1, self.X.n_usable)
        cdef size_t n_listed = n if self.X.indptr != NULL else 1
        cdef Work *work
        self.work = <Work *> calloc(self.n_threads, sizeof(Work))
        if self.work == NULL:
            raise MemoryError("scratch memory of the tree grower")
        for t in range(self.n_threads):
            work = self.work + t
            work.rows = <int32_t *> self._scratch(n * sizeof(int32_t))
            work.idle_rows = <int32_t *> self._scratch(n * sizeof(int32_t))
            work.scratch_rows = <int32_t *> self._scratch(2 * n * sizeof(int32_t))
            work.weights = <double *> self._scratch(n * sizeof(double))
            work.scratch_weights = <double *> self._scratch(n * sizeof(double))
            work.positive = <uint8_t *> self._scratch(n)
            work.hist = <cwb_pair *> self._scratch(8 * CWB_BINS * 16)
            work.counts = <int64_t *> self._scratch(3 * CWB_BINS * sizeof(int64_t))
            work.features = <int32_t *> self._scratch(n_features * sizeof(int32_t))
            work.pending = <int32_t *> self._scratch(n_features * sizeof(int32_t))
            work.splits = <cwb_split *> self._scratch(2 * n_features * sizeof(cwb_split))
            work.weight_of = <double *> self._scratch(n_listed * sizeof(double))
            work.slot_of = <uint8_t *> self._scratch(n_listed)
            work.column = <uint8_t *> self._scratch(n_listed)
            work.reach = self._scratch((MAX_INNER_BY_CODES + CWB_FIRST) * 32)
            work.frontier_capacity = 64
            work.frontier = <Node *> malloc(work.frontier_capacity * sizeof(Node))
            if work.frontier == NULL:
                raise MemoryError("scratch memory of the tree grower")

    cdef void *_scratch(self, size_t size) except NULL:
        """Zeros, aligned to a vector, with room for one more; freed with the grower."""
        cdef void *memory = NULL
        size = (size + 127) // 64 * 64
        if posix_memalign(&memory, 64, size):
            raise MemoryError(f"scratch memory of the tree grower, {size} bytes")
        memset(memory, 0, size)
        self.blocks.append(<uintptr_t> memory)
        return memory

    def __dealloc__(self):
        cdef int t
        cdef uintptr_t block
        if self.work != NULL:
            for t in range(self.n_threads):
                free(self.work[t].frontier)
            free(self.work)
        for block in self.blocks:
            free(<void *> block)

    def grow(self, weights, seeds):
        """Grow one tree a row of weights.

        Parameters
        ----------
        weights : ndarray of shape (n_trees, n_rows), dtype float64, last axis contiguous
        seeds : ndarray of shape (n_trees,), dtype uint64
            Seed of the feature draws of each tree.

        Returns
        -------
        nodes : dict of ndarray
            The trees as flat arrays: `offsets` (n_trees + 1, int64), and one entry a node of
            `feature`, `left` (int32, -1 in leaves), `threshold` (float64), `missing`, `sign`
            (int8).
        packed : ndarray of shape (n_trees, ceil(n_rows / 8)), dtype uint8
        edges : ndarray of shape (n_trees,), dtype float64
        """
        cdef const double[:, :] r = weights
        cdef const uint64_t[::1] seed = seeds
        cdef Py_ssize_t n_trees = r.shape[0], t
        if r.shape[1] != self.X.n_rows or r.strides[1] != sizeof(double) and self.X.n_rows > 1:
            raise ValueError(
                f"weights: expected (n_trees, {self.X.n_rows}) with contiguous rows, got shape "
                f"{weights.shape} and strides {weights.strides}")
        if seed.shape[0] != n_trees:
            raise ValueError(f"seeds: expected {n_trees} of them, got {seed.shape[0]}")
        packed = np.empty((n_trees, (self.X.n_rows + 7) // 8), dtype=np.uint8)
        cdef uint8_t[:, ::1] bits = packed
        cdef bint failed = False
        cdef Tree *trees = <Tree *> calloc(max(1, n_trees), sizeof(Tree))
        if trees == NULL:
            raise MemoryError("nodes of the grown trees")
        try:
            for t in range(n_trees):
                trees[t].capacity = 64
                trees[t].nodes = <TreeNode *> malloc(64 * sizeof(TreeNode))
                failed |= trees[t].nodes == NULL
            if not failed:
                for t in prange(n_trees, nogil=True, schedule="dynamic",
                                num_threads=self.n_threads):
                    if not grow_tree(&self.X, &self.settings, self.work + omp_get_thread_num(),
                                     &r[t, 0], seed[t], trees + t, &bits[t, 0]):
                        failed |= 1
            if failed:
                raise MemoryError("nodes of the grown trees")
            return as_arrays(trees, n_trees, packed)
        finally:
            for t in range(n_trees):
                free(trees[t].nodes)
            free(trees)


cdef as_arrays(const Tree *trees, Py_ssize_t n_trees, packed):
    """Nodes of all trees as flat NumPy arrays, with the packed outputs and the edges."""
    cdef int64_t[::1] offsets = np.zeros(n_trees + 1, dtype=np.int64)
    cdef double[::1] edges = np.empty(n_trees)
    cdef Py_ssize_t t
    cdef int64_t i, k
    for t in range(n_trees):
        offsets[t + 1] = offsets[t] + trees[t].n
        edges[t] = trees[t].edge
    cdef int64_t n = offsets[n_trees]
    cdef int32_t[::1] feature = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] left = np.empty(n, dtype=np.int32)
    cdef double[::1] threshold = np.empty(n)
    cdef int8_t[::1] missing = np.empty(n, dtype=np.int8)
    cdef int8_t[::1] sign = np.empty(n, dtype=np.int8)
    for t in range(n_trees):
        for i in range(trees[t].n):
            k = offsets[t] + i
            feature[k] = trees[t].nodes[i].feature
            left[k] = trees[t].nodes[i].left
            threshold[k] = trees[t].nodes[i].threshold
            missing[k] = trees[t].nodes[i].missing
            sign[k] = trees[t].nodes[i].sign
    nodes = {"offsets": np.asarray(offsets), "feature": np.asarray(feature),
             "threshold": np.asarray(threshold), "left": np.asarray(left),
             "missing": np.asarray(missing), "sign": np.asarray(sign)}
    return nodes, packed, np.asarray(edges)
