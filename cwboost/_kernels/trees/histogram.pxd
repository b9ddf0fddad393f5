from libc.stdint cimport int32_t, int64_t, uint8_t

from cwboost._kernels.trees.types cimport Matrix, Node, Settings, Work

# Gains and sums within this fraction of a node's mass are rounding.
cdef double ROUNDING

cdef inline int64_t *counts_of(const Settings *settings, Work *work) noexcept nogil:
    return work.counts if settings.min_samples_leaf > 1 else NULL

cdef void mark(Work *work, const Node *node, uint8_t slot) noexcept nogil
cdef void list_histograms(
    const Matrix *X, const Settings *settings, Work *work, const Node *nodes, int64_t n_nodes,
    int32_t feature
) noexcept nogil
cdef void scan_codes(
    const Matrix *X, const Settings *settings, Work *work, const Node *node, int32_t feature
) noexcept nogil
cdef void scan_histogram(
    const Matrix *X, const Settings *settings, Work *work, int64_t k, int32_t feature
) noexcept nogil
cdef void group_histograms(
    const Matrix *X, Work *work, const Node *node, const int32_t *features,
    const int32_t *places, int64_t size
) noexcept nogil
