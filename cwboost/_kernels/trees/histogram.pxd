from libc.stdint cimport int32_t, int64_t, uint8_t

from cwboost._kernels.trees.types cimport CWB_BINS, Matrix, Node, Work

cdef inline int64_t n_codes(const Matrix *X, int32_t feature) noexcept nogil:
    """Return the number of codes of a feature, that of missing values included."""
    return min(X.n_bins[feature] + 1, CWB_BINS)


cdef void mark(Work *work, const Node *node, uint8_t slot) noexcept nogil
cdef void list_histograms(
    Work *work, const Node *nodes, int64_t n_nodes, int32_t feature) noexcept nogil
cdef bint is_shared(const Work *work, const Node *node) noexcept nogil
cdef void group_histograms(
    Work *work, const Node *node, const int32_t *features, int64_t size) noexcept nogil
cdef int64_t group_of(int64_t n_features) noexcept nogil
cdef bint by_list(const Matrix *X, int32_t feature, int64_t n_rows) noexcept nogil
cdef int64_t node_histograms(
    Work *work, const Node *node, const int32_t *features, int64_t n_features, double *sums
) noexcept nogil
cdef void scan_histogram(Work *work, int64_t k, int32_t feature) noexcept nogil
cdef void scan_few(Work *work, const Node *node, int32_t feature) noexcept nogil
cdef void scan_sums(Work *work, const void *sums, int32_t feature) noexcept nogil
