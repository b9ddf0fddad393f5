from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t

from cwboost._kernels.trees.types cimport Matrix, Node, Settings, Tree, Work, cwb_split

cdef const uint8_t *column_codes(
    Work *work, int32_t feature, int64_t start, int64_t end) noexcept nogil
cdef double split_point(
    const Matrix *X, const cwb_split *split, uint8_t *first, uint32_t *width) noexcept nogil
cdef int8_t constraint_of(const Matrix *X, const Tree *tree, const cwb_split *split) noexcept nogil
cdef void find_splits(
    Work *work, const Tree *tree, Node *parent, Node *nodes, int64_t n_nodes) noexcept nogil

# What growth on partitions takes one by one.
cdef bint may_split(const Settings *settings, const Node *node) noexcept nogil
cdef bint split_of_histogram(
    Work *work, const Node *node, int32_t feature, const double *sums,
    cwb_split *split) noexcept nogil
