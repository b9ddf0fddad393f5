from libc.stdint cimport int64_t

from cwboost._kernels.tree_types cimport Matrix, Node, Settings, Work

cdef bint screen_features(
    const Matrix *X, const Settings *settings, Work *work, const Node *node, int64_t n_nodes
) noexcept nogil
cdef int64_t most_promising(
    const Matrix *X, Work *work, double least, int64_t most) noexcept nogil
