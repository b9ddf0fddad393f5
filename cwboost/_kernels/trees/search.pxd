from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from cwboost._kernels.trees.types cimport Matrix, Node, Settings, Work, cwb_split

cdef const uint8_t *column_codes(const Matrix *X, Work *work, int32_t feature) noexcept nogil
cdef double split_point(
    const Matrix *X, const cwb_split *split, uint8_t *first, uint32_t *width) noexcept nogil
cdef void find_splits(
    const Matrix *X, const Settings *settings, Work *work, Node *nodes, int64_t n_nodes
) noexcept nogil
