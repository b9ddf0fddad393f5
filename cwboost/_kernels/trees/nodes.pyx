"""The nodes of growing trees, and the flat arrays that they become."""

from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

import numpy as np

from cwboost._kernels.trees.draws cimport child_seed
from cwboost._kernels.trees.search cimport constraint_of, split_point
from cwboost._kernels.trees.types cimport SET_WORDS, Matrix, Node, Tree, TreeNode

# `TreeNode` in arrays.
NODE = np.dtype([("threshold", np.float64), ("feature", np.int32), ("left", np.int32),
                 ("missing", np.int8), ("output", np.int8), ("first", np.uint8),
                 ("width", np.uint8), ("start", np.int32), ("end", np.int32)],
                align=True)


cdef bint add_leaf(Tree *tree, double sum) noexcept nogil:
    """Append a leaf with the sign of its weight sum, +1 for none; False if memory ran out."""
    cdef TreeNode *grown
    if tree.n == tree.capacity:
        grown = <TreeNode *> realloc(tree.nodes, 2 * tree.capacity * sizeof(TreeNode))
        if grown == NULL:
            return False
        tree.nodes = grown
        tree.capacity *= 2
    tree.nodes[tree.n].sign = -1 if sum < 0 else 1
    make_leaf(tree.nodes + tree.n)
    tree.n += 1
    return True


cdef void make_leaf(TreeNode *node) noexcept nogil:
    node.feature = node.left = -1
    node.threshold = 0
    node.missing = 0


cdef bint start_tree(Tree *tree, const Node *root) noexcept nogil:
    tree.n = 0
    tree.total = fabs(root.sum)
    return add_leaf(tree, root.sum)


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
    const Matrix *X, Tree *tree, const Node *node, Node *children
) noexcept nogil:
    """Carry out node.split: append two children, with their sums; False if memory ran out."""
    cdef uint8_t first
    cdef uint32_t width
    cdef double threshold = split_point(X, &node.split, &first, &width)
    cdef int64_t k, word
    cdef int8_t constraint
    cdef TreeNode *parent
    children[0].sum, children[1].sum = node.split.left_sum, node.sum - node.split.left_sum
    children[0].mass, children[1].mass = node.split.left_mass, node.mass - node.split.left_mass
    for k in range(2):
        children[k].depth = node.depth + 1
        children[k].seed = child_seed(X, node, k)
        children[k].fixed = False
        children[k].least_mass = node.least_mass
        children[k].index = <int32_t> tree.n
        children[k].start = children[k].end = 0
        for word in range(SET_WORDS):
            children[k].sets[word] = node.sets[word]
            if X.sets != NULL:
                children[k].sets[word] &= X.sets[SET_WORDS * node.split.feature + word]
        if not add_leaf(tree, children[k].sum):
            return False
    constraint = constraint_of(X, tree, &node.split)
    if constraint != 0:
        fix_one_side(tree, children, constraint)
    parent = tree.nodes + node.index
    tree.total += fabs(children[0].sum) + fabs(children[1].sum) - fabs(node.sum)
    parent.feature = node.split.feature
    parent.threshold = threshold
    parent.left = children[0].index
    parent.missing = 1 if node.split.missing_right else -1
    parent.sign = 0
    parent.first = first
    parent.width = <uint8_t> width
    return True


cdef bint start_subtree(const Tree *tree, const Node *top, Tree *subtree) noexcept nogil:
    """Start a tree of what grows below a node of another; False if memory ran out."""
    subtree[0] = tree[0]
    subtree.n, subtree.capacity, subtree.total = 1, 64, 0
    subtree.nodes = <TreeNode *> malloc(64 * sizeof(TreeNode))
    if subtree.nodes == NULL:
        return False
    subtree.nodes[0] = tree.nodes[top.index]
    return True


cdef bint join_subtree(Tree *tree, int64_t place, const Tree *subtree) noexcept nogil:
    """Put a subtree in the place of its root; False if memory ran out."""
    cdef int64_t i, shift = tree.n - 1, n = tree.n + subtree.n - 1
    cdef TreeNode *grown
    if n > tree.capacity:
        grown = <TreeNode *> realloc(tree.nodes, 2 * n * sizeof(TreeNode))
        if grown == NULL:
            return False
        tree.nodes, tree.capacity = grown, 2 * n
    tree.nodes[place] = subtree.nodes[0]
    memcpy(tree.nodes + tree.n, subtree.nodes + 1, (subtree.n - 1) * sizeof(TreeNode))
    if tree.nodes[place].left >= 0:
        tree.nodes[place].left += <int32_t> shift
    for i in range(tree.n, n):
        if tree.nodes[i].left >= 0:
            tree.nodes[i].left += <int32_t> shift
    tree.n = n
    tree.total += subtree.total
    return True


cdef void merge_equal_leaves(Tree *tree) noexcept nogil:
    """Replace subtrees whose leaves have one sign by leaves."""
    cdef int64_t i
    cdef TreeNode *node
    cdef const TreeNode *left
    for i in range(tree.n - 1, -1, -1):
        node = tree.nodes + i
        if node.left >= 0:
            left = tree.nodes + node.left
            if left.sign != 0 and left.sign == (left + 1).sign:
                node.sign = left.sign
                make_leaf(node)


cdef bint sort_by_level(Tree *tree) noexcept nogil:
    """Put the nodes that the root leads to in level order; False if memory ran out."""
    cdef int64_t i = 0, n = 1
    cdef TreeNode *ordered = <TreeNode *> malloc(tree.n * sizeof(TreeNode))
    if ordered == NULL:
        return False
    ordered[0] = tree.nodes[0]
    while i < n:
        if ordered[i].left >= 0:
            memcpy(ordered + n, tree.nodes + ordered[i].left, 2 * sizeof(TreeNode))
            ordered[i].left = <int32_t> n
            n += 2
        i += 1
    free(tree.nodes)
    tree.nodes, tree.capacity, tree.n = ordered, tree.n, n
    return True


cdef void become_constant(Tree *tree, double total) noexcept nogil:
    """Make a tree a leaf, with the sign of the sum of all weights."""
    tree.n = 0
    add_leaf(tree, total)


cdef class TreeBatch:
    """Trees as nodes, one tree per target."""

    def __cinit__(self, Py_ssize_t n):
        cdef Py_ssize_t t
        self.n = n
        self.trees = <Tree *> calloc(max(1, n), sizeof(Tree))
        if self.trees == NULL:
            raise MemoryError("nodes of the grown trees")
        for t in range(n):
            self.trees[t].capacity = 64
            self.trees[t].nodes = <TreeNode *> malloc(64 * sizeof(TreeNode))
            if self.trees[t].nodes == NULL:
                raise MemoryError("nodes of the grown trees")

    def __dealloc__(self):
        cdef Py_ssize_t t
        for t in range(self.n if self.trees != NULL else 0):
            free(self.trees[t].nodes)
        free(self.trees)

    cdef arrays(self):
        """Return the nodes of all trees as flat arrays; see `TreeGrower.grow`."""
        cdef int64_t[::1] offsets = np.zeros(self.n + 1, dtype=np.int64)
        cdef Py_ssize_t t
        for t in range(self.n):
            offsets[t + 1] = offsets[t] + self.trees[t].n
        nodes = np.empty(offsets[self.n], NODE)
        cdef TreeNode[::1] own = nodes
        for t in range(self.n):
            memcpy(&own[offsets[t]], self.trees[t].nodes, self.trees[t].n * sizeof(TreeNode))
        arrays = {"offsets": np.asarray(offsets)}
        for name in ("feature", "threshold", "left", "missing", "output"):
            arrays[name] = nodes[name].copy()
        return arrays
