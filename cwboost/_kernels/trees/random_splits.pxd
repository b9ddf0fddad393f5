from libc.stdint cimport int64_t, uint64_t

from cwboost._kernels.trees.types cimport Matrix, Node, Settings, Work

cdef int64_t random_below(Work *work, int64_t bound) noexcept nogil
cdef int64_t draw_splits(
    const Matrix *X, const Settings *settings, Work *work, const Node *nodes, int64_t n_nodes,
    int64_t drawn, int64_t n_batch
) noexcept nogil
