from libc.stdint cimport int64_t

from cwboost._kernels.trees.types cimport Node, Work

cdef void start_saving(Work *work) noexcept nogil
cdef void stop_saving(Work *work) noexcept nogil
cdef void save_histograms(
    Work *work, Node *parent, Node *nodes, int64_t n_nodes, const bint *waiting) noexcept nogil
cdef bint is_worth_saving(const Work *work, const Node *node) noexcept nogil
cdef double *sums_of(Work *work, const Node *node) noexcept nogil
cdef void release(Work *work, Node *node) noexcept nogil
