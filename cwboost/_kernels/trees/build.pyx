"""Growth of binary trees with outputs -1 and +1 for signed weights, over binned features.

Given one signed weight r_i per example, pricing asks for the tree h with the largest edge

    sum_i r_i h(x_i) = sum over leaves l of sign_l * (sum of r_i in l),

so a leaf's sign is that of its weight sum, and the edge of a grown tree is the sum over its
leaves of |sum of r_i|. Finding the best tree is intractable; here it is grown greedily: each node
gets the split of largest gain by the chosen criterion (see split_body.h). With labels sign(r_i) and
masses |r_i| it is a weighted two-class problem, to which "gini" applies as well: it prefers purer
children of the same sign, and so has a gain where the edge is flat.

A tree grows from its own seed, and weights are rounded so that sums are exact (rows.h): the tree
depends neither on the number of threads nor on the order in which nodes are split. Growth by all
threads together (together.pyx) and on partitions (partitions.pyx) finds the same one. A stable
partition keeps rows and weights of a node contiguous and in example order; examples of zero weight
take no part.

Rows of a small node lie far apart in a large matrix, so that each code read is another line of
memory. Nodes below one with a tenth of the rows grow from a copy of its codes, and those below
one with a tenth of these from a copy of that, until the codes fit into a cache.
"""

from cython.parallel cimport prange
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memset

from cwboost._kernels.common.cpu cimport cwb_set, instruction_set
from cwboost._kernels.trees.histogram cimport is_shared
from cwboost._kernels.trees.nodes cimport (
    become_constant, merge_equal_leaves, sort_by_level, split_node, start_tree)
from cwboost._kernels.trees.draws cimport release, start_saving, stop_saving
from cwboost._kernels.trees.search cimport column_codes, find_splits
from cwboost._kernels.trees.types cimport (
    Frontier, Matrix, Node, Rows, Settings, Tree, TreeNode, Work)

cdef extern from "trees/outputs.h" nogil:
    ctypedef struct cwb_coded:
        int32_t feature, left, right
        uint8_t first, width
    void cwb_node_sums "CWB_BEST(node_sums)"(const double *weights, int64_t n, double *out)
    double cwb_mass "CWB_BEST(mass)"(const double *weights, int64_t n)
    void cwb_leaves_by_codes "CWB_BEST(leaves_by_codes)"(
        const cwb_coded *nodes, int64_t n_inner, int n_leaves, const uint8_t *codes,
        int64_t stride, int64_t n_rows, void *reach, uint8_t *leaves)

cdef extern from "trees/rows.h" nogil:
    double cwb_scale_of(double mass)
    void cwb_combine(const char *weights, int64_t stride, const double *code, int64_t n_classes,
                     int64_t start, int64_t end, double *sums)
    int64_t cwb_take_rows(const double *weights, const int64_t *kept, int64_t n, double scale,
                          int32_t *rows, double *taken)
    void cwb_copy_codes(const uint8_t *codes, const int32_t *rows, int64_t n, uint8_t *copy)
    int64_t cwb_partition(const uint8_t *codes, uint8_t first, uint32_t width, int32_t *rows,
                          double *weights, int64_t n, int32_t *scratch_rows,
                          double *scratch_weights)
    int64_t cwb_partition_part(const uint8_t *codes, uint8_t first, uint32_t width,
                               const int32_t *rows, const double *weights, int64_t n,
                               int32_t *scratch_rows, double *scratch_weights)
    void cwb_place_part(const int32_t *scratch_rows, const double *scratch_weights, int64_t n,
                        int64_t n_left, int32_t *rows, double *weights, int64_t left,
                        int64_t right)
    int64_t cwb_partition_rows(const uint8_t *codes, uint8_t first, uint32_t width,
                               int32_t *rows, int64_t n, int32_t *scratch_rows)
    double cwb_edge_of(const uint8_t *packed, const double *weights, const int64_t *kept,
                       int64_t n, double scale, double *total)
    void cwb_pack_outputs(const uint8_t *positive, int64_t n, uint8_t *packed)

cwb_set = instruction_set()

cdef enum:
    SLOWER_ALONE = 4  # times that a row takes longer if it goes down a tree by itself
    CACHED = 1 << 19  # bytes of codes that are near enough: half of a common second cache


cdef bint push(Frontier *frontier, const Node *node, bint best_first=False) noexcept nogil:
    """Add a node, with best_first to a heap with the largest gain on top."""
    cdef int64_t i = frontier.n, parent, capacity = max(64, 2 * frontier.capacity)
    cdef Node *nodes = frontier.nodes
    if i == frontier.capacity:
        nodes = <Node *> realloc(nodes, capacity * sizeof(Node))
        if nodes == NULL:
            return False
        frontier.nodes, frontier.capacity = nodes, capacity
    frontier.n += 1
    while best_first and i > 0:
        parent = (i - 1) // 2
        if not node.split.gain > nodes[parent].split.gain:
            break
        nodes[i] = nodes[parent]
        i = parent
    nodes[i] = node[0]
    return True


cdef Node pop(Frontier *frontier, bint best_first=False) noexcept nogil:
    """Take the node on top."""
    cdef Node *nodes = frontier.nodes
    cdef Node top, last
    cdef int64_t i = 0, child, n = frontier.n - 1
    frontier.n = n
    last = nodes[n]
    if not best_first or n == 0:
        return last
    top = nodes[0]
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n and nodes[child + 1].split.gain > nodes[child].split.gain:
            child += 1
        if not nodes[child].split.gain > last.split.gain:
            break
        nodes[i] = nodes[child]
        i = child
    nodes[i] = last
    return top


cdef int64_t partition(
    const uint8_t *codes, const TreeNode *split, Work *work, const Node *node
) noexcept nogil:
    """Move the rows of a node that go right behind the others; return how many go left."""
    cdef int64_t n = node.end - node.start, n_parts = work.n_team, n_left = 0, k, first, end
    cdef int32_t *rows = work.rows + node.start
    cdef double *weights = work.weights + node.start
    cdef Work *own
    if not is_shared(work, node):
        return cwb_partition(codes, split.first, split.width, rows, weights, n, work.scratch_rows,
                             work.scratch_weights)
    for k in prange(n_parts, num_threads=work.n_team, schedule="static"):
        first, end = n * k // n_parts, n * (k + 1) // n_parts
        work.team[k].n_left = cwb_partition_part(
            codes, split.first, split.width, rows + first, weights + first, end - first,
            work.scratch_rows + first, work.scratch_weights + first)
    for k in range(n_parts):
        own = work.team + k
        own.left, own.right = n_left, n * k // n_parts - n_left
        n_left += own.n_left
    for k in prange(n_parts, num_threads=work.n_team, schedule="static"):
        first, end = n * k // n_parts, n * (k + 1) // n_parts
        cwb_place_part(work.scratch_rows + first, work.scratch_weights + first, end - first,
                       work.team[k].n_left, rows, weights, work.team[k].left,
                       n_left + work.team[k].right)
    return n_left


cdef void divide_rows(
    Work *work, const TreeNode *split, const Node *node, Node *children
) noexcept nogil:
    """Move the rows that go right behind the others, and compute the sums of both children."""
    cdef int64_t k, middle = node.start + partition(
        column_codes(work, split.feature, node.start, node.end), split, work, node)
    for k in range(2):
        children[k].start = middle if k else node.start
        children[k].end = node.end if k else middle
        sum_node(work, children + k)


cdef void sum_node(Work *work, Node *node) noexcept nogil:
    cdef double[2] sums
    cwb_node_sums(work.weights + node.start, node.end - node.start, sums)
    node.sum, node.mass = sums[0], sums[1]


cdef void combine(
    const char *weights, int64_t stride, const double *code, int64_t n_classes, int64_t n,
    int n_threads, double *sums
) noexcept nogil:
    """Write ``code @ weights``; a row's sum does not depend on the number of threads."""
    cdef int64_t part
    for part in prange(n_threads, num_threads=n_threads):
        cwb_combine(weights, stride, code, n_classes, part * n // n_threads,
                    (part + 1) * n // n_threads, sums)


cdef double mass_of(const double *weights, int64_t n) noexcept nogil:
    return cwb_mass(weights, n)


cdef void clear_others(
    const int64_t *kept, int64_t n_kept, int64_t n, double *weights
) noexcept nogil:
    """Set the weights of all rows to zero but those of some, ascending."""
    cdef int64_t i, k = 0
    for i in range(n):
        if k < n_kept and kept[k] == i:
            k += 1
        else:
            weights[i] = 0.0


cdef int64_t take_rows(Work *work, const double *weights, double scale) noexcept nogil:
    """Write to work.rows those whose rounded weight is not zero."""
    cdef int64_t n = work.X.n_rows if work.kept == NULL else work.n_kept
    return cwb_take_rows(weights, work.kept, n, scale, work.rows, work.weights)


cdef void outputs_by_codes(
    Work *work, const Tree *tree, int64_t start, int64_t end, int32_t *cells
) noexcept nogil:
    """Do what `write_outputs` does, but for packing, from the codes of dense features."""
    cdef const Matrix *X = work.X
    cdef cwb_coded[MAX_INNER_BY_CODES] inner
    cdef int32_t[2 * MAX_INNER_BY_CODES + 1] place
    cdef int32_t[MAX_INNER_BY_CODES + 1] leaf
    cdef int32_t n_leaves = 0, n_inner = 0
    cdef int64_t i
    cdef cwb_coded *own
    cdef const TreeNode *node
    for i in range(tree.n):
        if tree.nodes[i].left < 0:
            leaf[n_leaves], place[i] = <int32_t> i, n_leaves
            n_leaves += 1
    if cells == NULL:  # one place for the leaves of either sign
        for i in range(n_leaves):
            place[leaf[i]] = tree.nodes[leaf[i]].sign > 0
        n_leaves = 2
    for i in range(tree.n):
        if tree.nodes[i].left >= 0:
            place[i] = n_leaves + n_inner
            n_inner += 1
    for i in range(tree.n):
        node = tree.nodes + i
        if node.left >= 0:
            own = inner + place[i] - n_leaves
            own.feature, own.first, own.width = node.feature, node.first, node.width
            own.left, own.right = place[node.left], place[node.left + 1]
    cwb_leaves_by_codes(inner, n_inner, n_leaves, X.codes + start, X.n_rows, end - start,
                        work.reach, work.positive + start)
    for i in range(start, end if cells != NULL else start):
        cells[i] = leaf[work.positive[i]] if cells[i] < 0 else cells[i]


cdef bint outputs_by_rows(
    Work *work, const Tree *tree, int64_t first_row, int64_t end_row, int32_t *cells
) noexcept nogil:
    """Compute the outputs of a tree on some rows: they go down together, node by node.

    Write the place of each row's leaf to `cells` as well, unless that is NULL. Rows whose cell is
    not negative stay above.
    """
    cdef Node part
    cdef const TreeNode *node
    cdef int64_t i, end, middle
    part.index = 0
    part.start = part.end = 0
    for i in range(first_row, end_row):
        if cells == NULL or cells[i] < 0:
            work.rows[part.end] = <int32_t> i
            part.end += 1
    work.frontier.n = 0
    if not push(&work.frontier, &part):
        return False
    while work.frontier.n > 0:
        part = pop(&work.frontier)
        node = tree.nodes + part.index
        end = part.end
        if node.left < 0:
            for i in range(part.start, end):
                work.positive[work.rows[i]] = node.sign > 0
            if cells != NULL:
                for i in range(part.start, end):
                    cells[work.rows[i]] = part.index
            continue
        middle = part.start + cwb_partition_rows(
            column_codes(work, node.feature, part.start, end), node.first, node.width,
            work.rows + part.start, end - part.start, work.scratch_rows)
        part.index, part.end = node.left, middle
        if part.end > part.start and not push(&work.frontier, &part):
            return False
        part.index, part.start, part.end = node.left + 1, middle, end
        if part.end > part.start and not push(&work.frontier, &part):
            return False
    return True


cdef int64_t n_without(const int32_t *cells, int64_t start, int64_t end) noexcept nogil:
    """Return how many rows have no cell yet."""
    cdef int64_t i, n = 0
    for i in range(start, end):
        n += cells[i] < 0
    return n


cdef bint write_outputs(
    Work *work, const Tree *tree, int64_t start, int64_t end, uint8_t *packed, int32_t *cells
) noexcept nogil:
    """Write the outputs of a tree on rows start:end, as bits, or those of their cells that are < 0.

    The cell of a row is the place of its leaf. One of the pointers is NULL. `start` is a multiple
    of eight. Returns False if memory ran out.
    """
    if tree.n == 1:
        memset(work.positive + start, tree.nodes[0].sign > 0, end - start)
        if cells != NULL:
            memset(cells + start, 0, (end - start) * sizeof(int32_t))
    elif (work.X.codes != NULL and tree.n // 2 <= MAX_INNER_BY_CODES
            and (cells == NULL or n_without(cells, start, end) >= (end - start) // SLOWER_ALONE)):
        outputs_by_codes(work, tree, start, end, cells)
    elif not outputs_by_rows(work, tree, start, end, cells):
        return False
    if packed != NULL:
        cwb_pack_outputs(work.positive + start, end - start, packed + start // 8)
    return True


cdef void write_leaves(
    const int32_t *rows, const Tree *tree, int64_t part, int64_t n_parts, int32_t *cells
) noexcept nogil:
    """Write the cells of the rows that took part, those in a part of the leaves of a tree."""
    cdef int64_t i, k
    for i in range(part * tree.n // n_parts, (part + 1) * tree.n // n_parts):
        for k in range(tree.nodes[i].start, tree.nodes[i].end if tree.nodes[i].left < 0 else 0):
            cells[rows[k]] = <int32_t> i


cdef void use_rows(Work *work, const Rows *rows) noexcept nogil:
    work.rows, work.weights, work.weight_of = rows.rows, rows.weights, rows.weight_of


cdef void note_rows(Tree *tree, const Node *node) noexcept nogil:
    tree.nodes[node.index].start = <int32_t> node.start
    tree.nodes[node.index].end = <int32_t> node.end


cdef bint start_growth(
    Work *work, const double *weights, uint64_t seed, Tree *tree, Node *root
) noexcept nogil:
    """Take the rows that have a weight and find the root's split; False if memory ran out."""
    cdef int64_t i
    root.fixed, root.index, root.depth, root.seed = False, 0, 0, seed
    memset(root.sets, 0xff, sizeof(root.sets))
    # Of a tiny mass, the scale would overflow.
    tree.scale = min(cwb_scale_of(cwb_mass(weights, work.X.n_rows)), 2.0**1023)
    root.start, root.end = 0, take_rows(work, weights, tree.scale)
    for i in range(root.end if work.X.indptr != NULL else 0):
        work.weight_of[work.rows[i]] = work.weights[i]
    sum_node(work, root)
    root.least_mass = work.settings.leaf_mass * root.mass
    if not start_tree(tree, root):
        return False
    note_rows(tree, root)
    find_splits(work, tree, NULL, root, 1)
    return True


cdef bint grow_below(
    Work *work, Tree *tree, const Node *top, int64_t fewest_rows, Frontier *small
) noexcept nogil:
    """Split a node whose split is found, and all nodes below it; False if memory ran out.

    Nodes of fewer rows, if any, are not split but put into `small`.
    """
    cdef bint done
    work.frontier.n = 0
    done = split_below(work, tree, top, fewest_rows, small)
    stop_saving(work)
    return done


cdef bint split_below(
    Work *work, Tree *tree, const Node *top, int64_t fewest_rows, Frontier *small
) noexcept nogil:
    """Do what `grow_below` does, while the frontier may have other nodes."""
    cdef const Settings *settings = work.settings
    cdef bint best_first = settings.max_leaves > 0
    cdef bint is_last
    cdef int64_t n_leaves = 1, n_others = work.frontier.n, k
    cdef Node node
    cdef Node children[2]
    if not push(&work.frontier, top, best_first):
        return False
    while work.frontier.n > n_others:
        node = pop(&work.frontier, best_first)
        if node.split.gain < 0 or (best_first and n_leaves >= settings.max_leaves):
            continue
        if node.end - node.start < fewest_rows:
            release(work, &node)
            if not push(small, &node):
                return False
            continue
        if is_worth_copying(work, &node):
            if not split_copy(work, tree, &node):
                return False
            continue
        if not split_node(work.X, tree, &node, children):
            return False
        n_leaves += 1
        is_last = children[0].depth == settings.max_depth
        if not is_last or tree.keeps_rows:
            divide_rows(work, tree.nodes + node.index, &node, children)
            for k in range(2):
                note_rows(tree, children + k)
        if is_last:
            release(work, &node)
            continue
        find_splits(work, tree, &node, children, 2)
        for k in range(1, -1, -1):
            if not push(&work.frontier, &children[k], best_first):
                return False
    return True


cdef bint is_worth_copying(const Work *work, const Node *node) noexcept nogil:
    """Return True if those below a node read more codes than a copy does, from far apart."""
    cdef const Matrix *X = work.X
    cdef const Settings *settings = work.settings
    cdef int64_t n_levels = settings.max_depth - node.depth
    return (work.near_codes != NULL and X.n_rows * X.n_usable > CACHED
            and FEWER_ROWS * (node.end - node.start) <= X.n_rows
            and n_levels * min(settings.max_features, X.n_usable) >= 2 * X.n_usable
            and settings.max_leaves == 0 and work.n_team == 0)


cdef bint split_copy(Work *work, Tree *tree, const Node *top) noexcept nogil:
    """Do what `split_below` does, from a copy of the node's codes."""
    cdef const Matrix *X = work.X
    cdef Matrix near = X[0]
    cdef int64_t n = top.end - top.start, k, i
    cdef int32_t *rows = work.rows + top.start
    cdef int32_t *near_rows = work.near_rows
    cdef bint done
    near.codes, near.n_rows, near.fewest_entries = work.near_codes, n, n
    for k in range(X.n_usable):
        cwb_copy_codes(X.codes + X.usable[k] * X.n_rows, rows, n,
                       work.near_codes + X.usable[k] * n)
    for i in range(n):
        near_rows[i] = rows[i]
        rows[i] = <int32_t> i
    work.near_codes += n * X.n_features
    work.near_rows += n
    work.X = &near
    done = split_below(work, tree, top, 0, NULL)
    work.X = X
    work.near_codes -= n * X.n_features
    work.near_rows -= n
    for i in range(n):
        rows[i] = near_rows[rows[i]]
    return done


cdef bint settle(Tree *tree, bint merge) noexcept nogil:
    """Order the nodes of a grown tree; False if memory ran out."""
    if merge:
        merge_equal_leaves(tree)
    return sort_by_level(tree)


cdef void write_edge(
    Work *work, const double *weights, Tree *tree, uint8_t *packed, double *edge
) noexcept nogil:
    """Write the edge of a tree's outputs.

    The outputs that constraints fix may have a smaller edge than a constant: become it then.
    """
    cdef int64_t n_rows = work.X.n_rows
    cdef int64_t n = n_rows if work.kept == NULL else work.n_kept
    cdef double total
    edge[0] = cwb_edge_of(packed, weights, work.kept, n, tree.scale, &total)
    if edge[0] < fabs(total):
        become_constant(tree, total)
        write_outputs(work, tree, 0, n_rows, packed, NULL)
        edge[0] = fabs(total)
    edge[0] /= tree.scale


cdef bint grow_tree(
    Work *work, const double *weights, uint64_t seed, Tree *tree, uint8_t *packed,
    int32_t *cells, double *edge
) noexcept nogil:
    """Grow one tree; write its outputs and its edge, or its cells; False if memory ran out.

    With `cells`, neighbouring leaves of one sign stay apart.
    """
    cdef Node root
    start_saving(work)
    if not (start_growth(work, weights, seed, tree, &root)
            and grow_below(work, tree, &root, 0, NULL)
            and settle(tree, cells == NULL)):
        return False
    if cells != NULL:
        write_leaves(work.rows, tree, 0, 1, cells)
    if not write_outputs(work, tree, 0, work.X.n_rows, packed, cells):
        return False
    if packed != NULL:
        write_edge(work, weights, tree, packed, edge)
    return True
