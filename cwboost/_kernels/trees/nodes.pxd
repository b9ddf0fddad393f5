from libc.stdint cimport int64_t

from cwboost._kernels.trees.types cimport Matrix, Node, Tree

cdef bint start_tree(Tree *tree, const Node *root) noexcept nogil
cdef bint split_node(
    const Matrix *X, Tree *tree, const Node *node, Node *children) noexcept nogil
cdef bint start_subtree(const Tree *tree, const Node *top, Tree *subtree) noexcept nogil
cdef bint join_subtree(Tree *tree, int64_t place, const Tree *subtree) noexcept nogil
cdef void merge_equal_leaves(Tree *tree) noexcept nogil
cdef bint sort_by_level(Tree *tree) noexcept nogil
cdef void become_constant(Tree *tree, double total) noexcept nogil

cdef class TreeBatch:
    cdef Tree *trees
    cdef Py_ssize_t n
    cdef arrays(self)
