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
from libc.math cimport INFINITY, fabs, frexp, ldexp
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

from cwboost._kernels.openmp cimport omp_get_thread_num

cdef extern from "tree_split.h" nogil:
    const int CWB_BINS
    const int CWB_EDGE
    const int CWB_GINI
    const int CWB_ENTROPY
    ctypedef struct cwb_pair:
        pass
    ctypedef struct cwb_split:
        double gain, left_sum, left_mass
        int32_t feature, lower, upper, missing_right, n_tied
    ctypedef struct cwb_scan:
        double gain[2][264]
        double missing_mass
        int32_t n
    void cwb_node_sums(const double *weights, int64_t n, double *sum, double *mass)
    void cwb_accumulate4(const uint8_t *const *codes, const int32_t *rows,
                         const double *weights, int64_t n, cwb_pair *hist)
    void cwb_accumulate1(const uint8_t *codes, const int32_t *rows, const double *weights,
                         int64_t n, cwb_pair *hist)
    void cwb_accumulate_sparse(const int32_t *rows, const uint8_t *codes, int64_t n_entries,
                               uint8_t default_code, const int32_t *node_of,
                               const double *weight_of, int32_t node, int64_t n_node,
                               double sum, double mass, cwb_pair *hist, int64_t *counts)
    void cwb_count(const uint8_t *codes, const int32_t *rows, int64_t n, int64_t *counts)
    void cwb_collect(cwb_pair *hist, int64_t *counts, int32_t n_bins, cwb_scan *scan)
    void cwb_collect_small(const uint8_t *codes, const int32_t *rows, const double *weights,
                           int64_t n_rows, int32_t n_bins, cwb_pair *hist, cwb_scan *scan)
    int32_t cwb_all_gains(cwb_scan *scan, int criterion, int64_t min_samples_leaf)
    void cwb_describe(const cwb_scan *scan, int side, int32_t i, int32_t n_bins,
                      cwb_split *split)
    void cwb_best_split(cwb_scan *scan, int criterion, int64_t min_samples_leaf,
                        double tolerance, int32_t n_bins, cwb_split *split)
    int64_t cwb_partition(const uint8_t *codes, uint8_t first, uint32_t width, int32_t *rows,
                          double *weights, int64_t n, int32_t *scratch_rows,
                          double *scratch_weights)
    int64_t cwb_partition_rows(const uint8_t *codes, uint8_t first, uint32_t width,
                               int32_t *rows, int64_t n, int32_t *scratch_rows)
    double cwb_split_edge(const uint8_t *codes, uint8_t first, uint32_t width,
                          const int32_t *rows, const double *weights, int64_t n,
                          int left_positive)
    double cwb_finish_outputs(const uint8_t *positive, const double *weights, int64_t n,
                              uint8_t *packed)

cdef extern from "threshold.h" nogil:
    double cwb_threshold_between(double a, double b)

TREE_CRITERIA = {"edge": CWB_EDGE, "gini": CWB_GINI, "entropy": CWB_ENTROPY}

# Gains and sums within this fraction of a node's mass are rounding.
cdef double ROUNDING = 1e-11

cdef struct Matrix:
    # Binned features. Dense: the code of (row, feature) is codes[feature * n_rows + row].
    # Sparse: entries indptr[feature]:indptr[feature + 1] of rows and codes, else `default_code`.
    int64_t n_rows, n_usable
    const uint8_t *codes
    const int64_t *indptr
    const int32_t *rows
    const uint8_t *default_code
    const int32_t *usable  # features with more than one bin
    const int32_t *n_bins  # bins of values; code n_bins[feature] is "missing"
    const int64_t *bin_start
    const double *lowest
    const double *highest  # of the values in bin bin_start[feature] + code

cdef struct Settings:
    int64_t max_depth, max_leaves, min_samples_leaf, max_features
    int criterion

cdef struct Node:
    int64_t start, end, idle_start, idle_end, depth
    double sum, mass
    int32_t index
    cwb_split split

cdef struct TreeNode:
    # Leaf: feature -1, left -1, sign +-1. Else children left and left + 1, sign 0; missing is
    # +1 where missing values go right, -1 where they go left.
    double threshold
    int32_t feature, left
    int8_t missing, sign

cdef struct Tree:
    TreeNode *nodes
    int64_t n, capacity
    double edge

cdef struct Work:
    # Scratch of one thread.
    int32_t *rows
    int32_t *idle_rows
    int32_t *scratch_rows
    double *weights
    double *scratch_weights
    int32_t *node_of     # sparse: node that a row of non-zero weight is in, else -1
    double *weight_of    # sparse: weight of a row
    uint8_t *column      # sparse: one feature's codes
    uint8_t *positive    # output of each row is +1
    cwb_pair *hist
    int64_t *counts
    int32_t *features    # permutation of the usable features; the drawn ones come first
    cwb_split *splits    # best split of each drawn feature
    cwb_scan scan
    Node *frontier       # nodes that may be split: a stack, or a heap by gain
    int64_t n_frontier, frontier_capacity
    uint64_t random
    bint failed


cdef inline uint64_t next_random(Work *work) noexcept nogil:
    # splitmix64
    cdef uint64_t z
    work.random += <uint64_t> 0x9E3779B97F4A7C15
    z = work.random
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline int64_t random_below(Work *work, int64_t bound) noexcept nogil:
    return <int64_t> (((next_random(work) >> 32) * <uint64_t> bound) >> 32)


cdef inline int64_t *counts_of(const Settings *settings, Work *work) noexcept nogil:
    return work.counts if settings.min_samples_leaf > 1 else NULL


cdef void scan_feature(
    const Matrix *X, const Settings *settings, Work *work, const Node *node, int32_t feature
) noexcept nogil:
    """Fill work.scan with the running sums of one feature in a node."""
    cdef int64_t n = node.end - node.start
    cdef const int32_t *rows = work.rows + node.start
    cdef const double *weights = work.weights + node.start
    cdef const uint8_t *codes
    cdef int64_t first
    cdef int64_t *counts = counts_of(settings, work)
    if X.indptr != NULL:
        first = X.indptr[feature]
        cwb_accumulate_sparse(
            X.rows + first, X.codes + first, X.indptr[feature + 1] - first,
            X.default_code[feature], work.node_of, work.weight_of, node.index, n,
            node.sum, node.mass, work.hist, counts)
        cwb_collect(work.hist, counts, X.n_bins[feature], &work.scan)
        return
    codes = X.codes + feature * X.n_rows
    if counts == NULL and 2 * n < X.n_bins[feature]:
        cwb_collect_small(codes, rows, weights, n, X.n_bins[feature], work.hist, &work.scan)
        return
    cwb_accumulate1(codes, rows, weights, n, work.hist)
    if counts != NULL:
        cwb_count(codes, rows, n, counts)
    cwb_collect(work.hist, counts, X.n_bins[feature], &work.scan)


cdef bint best_of_scan(
    const Matrix *X, const Settings *settings, Work *work, double tolerance, int32_t feature,
    cwb_split *split
) noexcept nogil:
    """Best split from work.scan; False where the feature is constant in the node."""
    split.feature = feature
    cwb_best_split(&work.scan, settings.criterion, settings.min_samples_leaf, tolerance,
                   X.n_bins[feature], split)
    return work.scan.n + (work.scan.missing_mass > 0) > 1


cdef int64_t search_features(
    const Matrix *X, const Settings *settings, Work *work, const Node *node, int64_t drawn,
    int64_t n_batch
) noexcept nogil:
    """Best split of each of the features work.features[drawn:drawn + n_batch] in a node.

    Returns how many of them are not constant there.
    """
    cdef int64_t n = node.end - node.start, i = 0, k, n_varying = 0
    cdef double tolerance = ROUNDING * node.mass
    cdef const uint8_t *codes[4]
    cdef const int32_t *features = work.features + drawn
    cdef cwb_split *splits = work.splits + drawn
    cdef bint grouped = (X.indptr == NULL and settings.min_samples_leaf <= 1)
    while i < n_batch:
        if grouped and i + 4 <= n_batch and 2 * n >= CWB_BINS:
            for k in range(4):
                codes[k] = X.codes + features[i + k] * X.n_rows
            cwb_accumulate4(codes, work.rows + node.start, work.weights + node.start, n,
                            work.hist)
            for k in range(4):
                cwb_collect(work.hist + k * CWB_BINS, NULL, X.n_bins[features[i + k]],
                            &work.scan)
                n_varying += best_of_scan(X, settings, work, tolerance, features[i + k],
                                          splits + i + k)
            i += 4
        else:
            scan_feature(X, settings, work, node, features[i])
            n_varying += best_of_scan(X, settings, work, tolerance, features[i], splits + i)
            i += 1
    return n_varying


cdef void draw_features(const Matrix *X, Work *work, int64_t drawn, int64_t n) noexcept nogil:
    """Put n more random features, without replacement, behind the first `drawn`."""
    cdef int64_t i, j
    cdef int32_t swap
    for i in range(drawn, drawn + n):
        j = i + random_below(work, X.n_usable - i)
        swap = work.features[i]
        work.features[i] = work.features[j]
        work.features[j] = swap


cdef const uint8_t *column_codes(const Matrix *X, Work *work, int32_t feature) noexcept nogil:
    cdef int64_t i
    if X.indptr == NULL:
        return X.codes + feature * X.n_rows
    memset(work.column, X.default_code[feature], X.n_rows)
    for i in range(X.indptr[feature], X.indptr[feature + 1]):
        work.column[X.rows[i]] = X.codes[i]
    return work.column


cdef double split_point(
    const Matrix *X, const cwb_split *split, uint8_t *first, uint32_t *width
) noexcept nogil:
    """Threshold of a split, and the codes [first, first + width) that go right.

    The threshold is the middle between the nearest values that occur in the node. Bins between
    these two, empty in this node, fall on the side on which all their values are.
    """
    cdef const double *lowest = X.lowest + X.bin_start[split.feature]
    cdef const double *highest = X.highest + X.bin_start[split.feature]
    cdef int32_t n_bins = X.n_bins[split.feature], last_left = split.lower
    cdef double threshold = INFINITY
    if split.upper < n_bins:
        threshold = cwb_threshold_between(highest[split.lower], lowest[split.upper])
        while last_left + 1 < split.upper and highest[last_left + 1] <= threshold:
            last_left += 1
        if lowest[last_left + 1] <= threshold:
            threshold = cwb_threshold_between(highest[last_left], lowest[last_left + 1])
    else:
        last_left = n_bins - 1
    first[0] = <uint8_t> (last_left + 1)
    # With all codes in use none is left for missing values.
    width[0] = min(n_bins + split.missing_right, CWB_BINS) - (last_left + 1)
    return threshold


cdef void settle_ties(
    const Matrix *X, const Settings *settings, Work *work, const Node *node, int64_t drawn,
    double best, cwb_split *split
) noexcept nogil:
    """Among candidates whose edges agree to rounding, take the largest edge summed in example
    order; of equal ones the first feature, then the lowest threshold.
    """
    cdef double tolerance = ROUNDING * node.mass, edge, largest = -INFINITY
    cdef int64_t d, n_tied = 0
    cdef int32_t i, n, side, feature
    cdef uint8_t first
    cdef uint32_t width
    cdef const uint8_t *codes
    cdef cwb_split candidate
    for d in range(drawn):
        if work.splits[d].gain >= best - tolerance:
            n_tied += work.splits[d].n_tied
    if n_tied < 2:
        return
    for d in range(drawn):
        if not work.splits[d].gain >= best - tolerance:
            continue
        feature = work.features[d]
        candidate.feature = feature
        scan_feature(X, settings, work, node, feature)
        codes = column_codes(X, work, feature)
        n = cwb_all_gains(&work.scan, settings.criterion, settings.min_samples_leaf)
        for i in range(n):
            for side in range(0 if work.scan.missing_mass > 0 else 1, 2):
                if not work.scan.gain[side][i] >= best - tolerance:
                    continue
                cwb_describe(&work.scan, side, i, X.n_bins[feature], &candidate)
                split_point(X, &candidate, &first, &width)
                edge = cwb_split_edge(codes, first, width, work.rows + node.start,
                                      work.weights + node.start, node.end - node.start,
                                      candidate.left_sum > 0)
                if edge > largest:
                    largest = edge
                    split[0] = candidate


cdef void find_split(
    const Matrix *X, const Settings *settings, Work *work, Node *node
) noexcept nogil:
    """Best split of a node into node.split; gain -inf where the node has to stay a leaf."""
    cdef int64_t n = node.end - node.start, drawn = 0, n_varying = 0, n_batch, d
    cdef double best = -INFINITY, tolerance = ROUNDING * node.mass
    node.split.gain = -INFINITY
    if (n < 2 * settings.min_samples_leaf or n < 2 or node.depth >= settings.max_depth
            or node.mass - fabs(node.sum) <= tolerance):
        return
    while n_varying < settings.max_features and drawn < X.n_usable:
        n_batch = min(settings.max_features - n_varying, X.n_usable - drawn)
        if settings.max_features < X.n_usable:
            draw_features(X, work, drawn, n_batch)
        n_varying += search_features(X, settings, work, node, drawn, n_batch)
        drawn += n_batch
    for d in range(drawn):
        if work.splits[d].gain > best:
            best = work.splits[d].gain
    if not best > tolerance:
        return
    for d in range(drawn):
        if work.splits[d].gain >= best - tolerance:
            node.split = work.splits[d]
            break
    if settings.criterion == CWB_EDGE:
        settle_ties(X, settings, work, node, drawn, best, &node.split)


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


cdef bint split_node(
    const Matrix *X, const Settings *settings, Work *work, Tree *tree, const Node *node,
    Node *children
) noexcept nogil:
    """Carry out node.split: partition its rows, append its two children to the tree."""
    cdef uint8_t first
    cdef uint32_t width
    cdef double threshold = split_point(X, &node.split, &first, &width)
    cdef const uint8_t *codes = column_codes(X, work, node.split.feature)
    cdef int64_t middle, idle_middle, i, k
    cdef TreeNode *parent
    middle = node.start + cwb_partition(
        codes, first, width, work.rows + node.start, work.weights + node.start,
        node.end - node.start, work.scratch_rows, work.scratch_weights)
    idle_middle = node.idle_start
    if node.idle_end > node.idle_start:
        idle_middle += cwb_partition_rows(
            codes, first, width, work.idle_rows + node.idle_start,
            node.idle_end - node.idle_start, work.scratch_rows)
    for k in range(2):
        children[k].start = middle if k else node.start
        children[k].end = node.end if k else middle
        children[k].idle_start = idle_middle if k else node.idle_start
        children[k].idle_end = node.idle_end if k else idle_middle
        children[k].depth = node.depth + 1
        children[k].index = tree.n
        cwb_node_sums(work.weights + children[k].start, children[k].end - children[k].start,
                      &children[k].sum, &children[k].mass)
        if not add_leaf(tree, children[k].sum, children[k].mass):
            return False
        if X.indptr != NULL:
            for i in range(children[k].start, children[k].end):
                work.node_of[work.rows[i]] = children[k].index
    parent = tree.nodes + node.index
    parent.feature = node.split.feature
    parent.threshold = threshold
    parent.left = children[0].index
    parent.missing = 1 if node.split.missing_right else -1
    parent.sign = 0
    return True


cdef void load_weights(
    const Matrix *X, Work *work, const double *weights, Node *root
) noexcept nogil:
    """Rows of non-zero weight into work.rows, the others into work.idle_rows.

    Weights are scaled by a power of two so that the largest lies in [1/2, 1): no rounding, and
    neither overflow nor underflow of their squares.
    """
    cdef double largest = 0, scale
    cdef int exponent = 0
    cdef int64_t i, n = 0, n_idle = 0
    for i in range(X.n_rows):
        largest = max(largest, fabs(weights[i]))
    frexp(largest, &exponent)
    scale = ldexp(1.0, -max(exponent, -1020))
    for i in range(X.n_rows):
        if weights[i] != 0:
            work.rows[n] = <int32_t> i
            work.weights[n] = scale * weights[i]
            n += 1
        else:
            work.idle_rows[n_idle] = <int32_t> i
            n_idle += 1
    if X.indptr != NULL:
        memset(work.node_of, 0xFF, X.n_rows * sizeof(int32_t))
        for i in range(n):
            work.node_of[work.rows[i]] = 0
            work.weight_of[work.rows[i]] = work.weights[i]
    root.start = root.idle_start = root.depth = 0
    root.end = n
    root.idle_end = n_idle
    root.index = 0
    cwb_node_sums(work.weights, n, &root.sum, &root.mass)


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


cdef bint grow_tree(
    const Matrix *X, const Settings *settings, Work *work, const double *weights, uint64_t seed,
    Tree *tree, uint8_t *packed
) noexcept nogil:
    """Grow one tree; its outputs into `packed`. False where memory ran out."""
    cdef bint best_first = settings.max_leaves > 0
    cdef int64_t n_leaves = 1, k
    cdef Node node
    cdef Node children[2]
    work.random = seed
    work.n_frontier = 0
    tree.n = 0
    memcpy(work.features, X.usable, X.n_usable * sizeof(int32_t))
    load_weights(X, work, weights, &node)
    find_split(X, settings, work, &node)
    if not add_leaf(tree, node.sum, node.mass) or not push(work, &node, best_first):
        return False
    while work.n_frontier > 0:
        node = pop(work, best_first)
        if node.split.gain < 0 or (best_first and n_leaves >= settings.max_leaves):
            set_outputs(work, tree, &node)
            continue
        if not split_node(X, settings, work, tree, &node, children):
            return False
        n_leaves += 1
        for k in range(1, -1, -1):
            find_split(X, settings, work, &children[k])
            if not push(work, &children[k], best_first):
                return False
    tree.edge = cwb_finish_outputs(work.positive, weights, X.n_rows, packed)
    merge_equal_leaves(tree, work.scratch_rows)
    return True


cdef class TreeGrower:
    """Grows trees on one binned matrix; keeps the scratch memory of its threads between calls.

    Parameters
    ----------
    binned : cwboost.kernels.BinnedMatrix
    criterion : int
        A value of `TREE_CRITERIA`.
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

    def __cinit__(self, binned, *, int criterion, int64_t max_depth, int64_t max_leaves,
                  int64_t min_samples_leaf, int64_t max_features, int n_threads):
        self.work = NULL
        self.n_threads = n_threads
        self.binned = binned
        self.settings.criterion = criterion
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
        cdef const int64_t[::1] indptr
        cdef const int32_t[::1] rows
        cdef const uint8_t[::1] default_code
        self.X.n_rows = binned.n_rows
        self.X.n_usable = usable.shape[0]
        self.X.codes = &codes[0] if codes.shape[0] else NULL
        self.X.usable = &usable[0] if usable.shape[0] else NULL
        self.X.n_bins = &n_bins[0]
        self.X.bin_start = &bin_start[0]
        self.X.lowest = &lowest[0] if lowest.shape[0] else NULL
        self.X.highest = &highest[0] if highest.shape[0] else NULL
        self.X.indptr = NULL
        if binned.indptr is not None:
            indptr = binned.indptr
            rows = binned.rows
            default_code = binned.default_code
            self.X.indptr = &indptr[0]
            self.X.rows = &rows[0] if rows.shape[0] else NULL
            self.X.default_code = &default_code[0]

    cdef _allocate(self):
        cdef int t
        cdef size_t n = self.X.n_rows, n_features = max(1, self.X.n_usable)
        cdef bint sparse = self.X.indptr != NULL
        cdef Work *work
        self.work = <Work *> calloc(self.n_threads, sizeof(Work))
        if self.work == NULL:
            raise MemoryError("scratch memory of the tree grower")
        for t in range(self.n_threads):
            work = self.work + t
            work.rows = <int32_t *> malloc(n * sizeof(int32_t))
            work.idle_rows = <int32_t *> malloc(n * sizeof(int32_t))
            work.scratch_rows = <int32_t *> malloc(2 * n * sizeof(int32_t))
            work.weights = <double *> malloc(n * sizeof(double))
            work.scratch_weights = <double *> malloc(n * sizeof(double))
            work.positive = <uint8_t *> malloc(n + 8)
            work.hist = <cwb_pair *> calloc(4 * CWB_BINS, 16)
            work.counts = <int64_t *> calloc(CWB_BINS, sizeof(int64_t))
            work.features = <int32_t *> malloc(n_features * sizeof(int32_t))
            work.splits = <cwb_split *> malloc(n_features * sizeof(cwb_split))
            work.frontier_capacity = 64
            work.frontier = <Node *> malloc(work.frontier_capacity * sizeof(Node))
            work.node_of = <int32_t *> malloc(n * sizeof(int32_t) if sparse else 1)
            work.weight_of = <double *> malloc(n * sizeof(double) if sparse else 1)
            work.column = <uint8_t *> malloc(n if sparse else 1)
            if (work.rows == NULL or work.idle_rows == NULL or work.scratch_rows == NULL
                    or work.weights == NULL or work.scratch_weights == NULL
                    or work.positive == NULL or work.hist == NULL or work.counts == NULL
                    or work.features == NULL or work.splits == NULL or work.frontier == NULL
                    or work.node_of == NULL or work.weight_of == NULL or work.column == NULL):
                raise MemoryError("scratch memory of the tree grower")

    def __dealloc__(self):
        cdef int t
        cdef Work *work
        if self.work == NULL:
            return
        for t in range(self.n_threads):
            work = self.work + t
            free(work.rows)
            free(work.idle_rows)
            free(work.scratch_rows)
            free(work.weights)
            free(work.scratch_weights)
            free(work.positive)
            free(work.hist)
            free(work.counts)
            free(work.features)
            free(work.splits)
            free(work.frontier)
            free(work.node_of)
            free(work.weight_of)
            free(work.column)
        free(self.work)

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
