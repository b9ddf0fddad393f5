from libc.stdint cimport int64_t

from cwboost._kernels.trees.types cimport Matrix, Node, Settings, Work

cdef extern from "trees/types.h" nogil:
    const int CWB_SCREENED

cdef bint may_screen(const Matrix *X, const Settings *settings) noexcept nogil
cdef bint screen_features(
    const Matrix *X, const Settings *settings, Work *work, const Node *node, int64_t n_nodes
) noexcept nogil
cdef int64_t most_promising(
    const Matrix *X, Work *work, double least, int64_t most) noexcept nogil
