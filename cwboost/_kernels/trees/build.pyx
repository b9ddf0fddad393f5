"""Growth of binary trees with outputs -1 and +1 for signed weights, over binned features.

Given one signed weight r_i per example, pricing asks for the tree h with the largest edge

    sum_i r_i h(x_i) = sum over leaves l of sign_l * (sum of r_i in l),

so a leaf's sign is that of its weight sum, and the edge of a grown tree is the sum over its
leaves of |sum of r_i|. Finding the best tree is intractable; here it is grown greedily: each node
gets the split of largest gain by the chosen criterion (see criteria.h). With labels sign(r_i) and
masses |r_i| it is a weighted two-class problem, to which "gini" and "entropy" apply as well: they
prefer purer children of the same sign, and so have a gain where the edge is flat.

One thread grows a tree from the tree's own seed, so the result does not depend on the number of
threads. A stable partition keeps rows and weights of a node contiguous and in example order;
examples of zero weight are set aside and only follow the tree.
"""

from libc.math cimport fabs, frexp, ldexp, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memset

from cwboost._kernels.trees.categories cimport category_sides
from cwboost._kernels.trees.histogram cimport ROUNDING
from cwboost._kernels.trees.kernels cimport cwb_coded, kernels
from cwboost._kernels.trees.search cimport column_codes, find_splits, split_point
from cwboost._kernels.trees.types cimport (
    CWB_FIRST, Matrix, Node, Settings, Tree, TreeNode, Work)

cdef extern from "trees/outputs.h" nogil:
    int64_t cwb_take_rows(const double *weights, int64_t n, double least, double scale,
                          int32_t *rows, double *taken)
    int64_t cwb_leave_rows(const double *weights, int64_t n, double least, int32_t *rows)
    int64_t cwb_partition(const uint8_t *codes, uint8_t first, uint32_t width, int32_t *rows,
                          double *weights, int64_t n, int32_t *scratch_rows,
                          double *scratch_weights)
    int64_t cwb_partition_rows(const uint8_t *codes, uint8_t first, uint32_t width,
                               int32_t *rows, int64_t n, int32_t *scratch_rows)
    int64_t cwb_take_kept(const double *weights, const int64_t *kept, int64_t n, double least,
                          double scale, int32_t *rows, double *taken)
    double cwb_edge_of(const uint8_t *positive, const double *weights, const int64_t *kept,
                       int64_t n)
    void cwb_pack_outputs(const uint8_t *positive, int64_t n, uint8_t *packed)

cdef extern from "trees/trim.h" nogil:
    double cwb_trim_bound(const double *weights, int64_t n, double largest, double fraction)
    double cwb_trim_bound_of_rows(const double *weights, const int64_t *kept, int64_t n,
                                  double largest, double fraction)

cdef double SMALLEST = 5e-324  # of all weights that are not zero


cdef bint push(Work *work, const Node *node, bint best_first) noexcept nogil:
    """Add a node to the frontier, with best_first a heap with the largest gain on top."""
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
    """Append a leaf with the sign of its weight sum (+1 if the sum is rounding error)."""
    cdef TreeNode *grown
    if tree.n == tree.capacity:
        grown = <TreeNode *> realloc(tree.nodes, 2 * tree.capacity * sizeof(TreeNode))
        if grown == NULL:
            return False
        tree.nodes = grown
        tree.capacity *= 2
    tree.nodes[tree.n].threshold = tree.nodes[tree.n].gain = 0
    tree.nodes[tree.n].feature = -1
    tree.nodes[tree.n].left = -1
    tree.nodes[tree.n].missing = tree.nodes[tree.n].categorical = 0
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
    """Compute the sums of children that stay leaves, whose rows are not partitioned.

    They follow from the histogram, up to the rounding of the parent's mass.
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
        kernels.node_sums(work.weights + children[k].start, children[k].end - children[k].start,
                          &children[k].sum, &children[k].mass, &children[k].squares)


cdef double chance_gain(const Settings *settings, const Node *node) noexcept nogil:
    """Return what the best comparison gains in edge on average if no feature is associated."""
    cdef double root = sqrt(node.squares), sum = 0
    cdef int k
    for k in range(5):
        sum += max(0.0, settings.chance[k] * root - fabs(node.sum))
    return sum / 5


cdef void fix_one_side(Tree *tree, Node *children, int8_t direction) noexcept nogil:
    """Set the output of one side of a constrained comparison: -1 if lower, +1 if higher.

    With one side all -1 or the other all +1, the outputs cannot fall across the comparison,
    whatever grows below the free side. The side is fixed whose sign the constraint agrees with; if
    both are right, the purer.
    """
    cdef Node *low = children if direction > 0 else children + 1
    cdef Node *high = children + 1 if direction > 0 else children
    cdef bint fix_low
    if low.sum > 0:
        fix_low = False
    elif high.sum < 0:
        fix_low = True
    else:
        fix_low = fabs(low.sum) * high.mass >= fabs(high.sum) * low.mass
    low.fixed, high.fixed = fix_low, not fix_low
    if fix_low:
        tree.nodes[low.index].sign = -1
    else:
        tree.nodes[high.index].sign = 1


cdef bint split_node(
    const Matrix *X, const Settings *settings, Work *work, Tree *tree, const Node *node,
    Node *children, bint by_codes
) noexcept nogil:
    """Carry out node.split: partition its rows, append its two children to the tree."""
    cdef uint8_t first
    cdef uint32_t width
    cdef double threshold = split_point(X, &node.split, &first, &width), gain
    cdef const uint8_t *codes = column_codes(X, work, node.split.feature)
    cdef int64_t k
    cdef TreeNode *parent
    if node.split.categorical:
        codes = category_sides(X, work, node, &node.split)
    for k in range(2):
        children[k].depth = node.depth + 1
        children[k].fixed = False
        children[k].index = tree.n + k
        children[k].start = children[k].end = children[k].idle_start = children[k].idle_end = 0
    if by_codes and node.depth + 1 == settings.max_depth:
        sums_of_leaves(codes, first, width, work, node, children)
    else:
        partition_rows(codes, first, width, work, node, children)
    for k in range(2):
        if not add_leaf(tree, children[k].sum, children[k].mass):
            return False
    if work.monotonic != NULL and work.monotonic[node.split.feature] != 0:
        fix_one_side(tree, children, work.monotonic[node.split.feature])
    parent = tree.nodes + node.index
    parent.feature = node.split.feature
    parent.threshold = threshold
    gain = fabs(children[0].sum) + fabs(children[1].sum) - fabs(node.sum)
    parent.gain = gain - chance_gain(settings, node)
    tree.total += gain
    parent.left = children[0].index
    parent.missing = 1 if node.split.missing_right else -1
    parent.sign = 0
    parent.first = first
    parent.width = <uint8_t> width
    parent.categorical = node.split.categorical
    memcpy(parent.right, node.split.right, sizeof(parent.right))
    return True


cdef double load_weights(
    const Matrix *X, const Settings *settings, Work *work, const double *weights, bint by_codes,
    Node *root
) noexcept nogil:
    """Write the rows that take part in the search to work.rows, the others to work.idle_rows.

    Weights are scaled by a power of two so that the largest lies in [1/2, 1): no rounding, and
    neither overflow nor underflow of their squares. Returns the sum of all weights, to rounding.
    """
    cdef double largest, total, scale, least = SMALLEST
    cdef int exponent = 0
    cdef int64_t i, n
    kernels.largest_and_sum(weights, X.n_rows, &largest, &total)
    frexp(largest, &exponent)
    scale = ldexp(1.0, -max(exponent, -1020))
    if work.kept == NULL:
        if settings.trim > 0 and largest > 0:
            least = max(least, cwb_trim_bound(weights, X.n_rows, largest, settings.trim))
        n = cwb_take_rows(weights, X.n_rows, least, scale, work.rows, work.weights)
    else:
        if settings.trim > 0 and largest > 0:
            least = max(least, cwb_trim_bound_of_rows(weights, work.kept, work.n_kept, largest,
                                                      settings.trim))
        n = cwb_take_kept(weights, work.kept, work.n_kept, least, scale, work.rows, work.weights)
    if X.indptr != NULL:
        for i in range(X.n_rows):
            work.slot_of[i] = 2
        for i in range(n):
            work.weight_of[work.rows[i]] = work.weights[i]
    root.start = root.idle_start = root.depth = 0
    root.end = n
    root.idle_end = 0
    if not by_codes:
        root.idle_end = cwb_leave_rows(weights, X.n_rows, least, work.idle_rows)
    root.index = 0
    kernels.node_sums(work.weights, n, &root.sum, &root.mass, &root.squares)
    return total


cdef void merge_equal_leaves(Tree *tree, int32_t *place) noexcept nogil:
    """Replace every subtree whose leaves all have one sign by a leaf, and close the gaps.

    `place` is scratch for one int32 per node: the new index of a node, -1 if it is dropped.
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
                node.threshold = node.gain = 0
                node.missing = node.categorical = 0
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
    """Compute the outputs of a finished tree on all rows from the codes of dense features."""
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
    kernels.outputs_by_codes(inner, n_inner, X.codes, X.n_rows, work.reach, work.positive)


cdef bint may_use_codes(const Matrix *X, const Settings *settings) noexcept nogil:
    """Return True if every tree is small enough to evaluate all its nodes on all rows."""
    cdef int64_t most = (<int64_t> 1 << min(settings.max_depth, 60)) - 1
    if settings.max_leaves > 0:
        most = min(most, settings.max_leaves - 1)
    return X.codes != NULL and X.categorical == NULL and most <= MAX_INNER_BY_CODES


cdef bint grow_tree(
    const Matrix *X, const Settings *settings, Work *work, const double *weights, uint64_t seed,
    Tree *tree, uint8_t *packed
) noexcept nogil:
    """Grow one tree and write its outputs to `packed`; False if memory ran out."""
    cdef bint best_first = settings.max_leaves > 0, by_codes = may_use_codes(X, settings)
    cdef int64_t n_leaves = 1, k
    cdef double total
    cdef Node node
    cdef Node children[2]
    work.random = seed
    work.n_frontier = 0
    work.monotonic = tree.monotonic
    node.fixed = False
    tree.n = 0
    if X.n_usable > 0:  # else there is no array
        memcpy(work.features, X.usable, X.n_usable * sizeof(int32_t))
    total = load_weights(X, settings, work, weights, by_codes, &node)
    tree.total, work.root_mass = fabs(node.sum), node.mass
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
    tree.edge = cwb_edge_of(work.positive, weights, work.kept, work.n_kept)
    if tree.edge < fabs(total):
        # With the trimmed weights, which the search left out, a constant may be better.
        tree.n = 0
        add_leaf(tree, total, fabs(total))
        tree.nodes[0].sign = 1 if total > 0 else -1  # -1 also for a total of zero
        memset(work.positive, total > 0, X.n_rows)
        tree.edge = cwb_edge_of(work.positive, weights, work.kept, work.n_kept)
    cwb_pack_outputs(work.positive, X.n_rows, packed)
    return True
