from libc.stdint cimport int64_t, uint64_t

from cwboost._kernels.trees.types cimport Matrix, Node, Work

cdef bint draws(const Work *work) noexcept nogil
cdef void draw_features(Work *work, uint64_t seed, int64_t drawn, int64_t n) noexcept nogil
cdef void undo_draws(Work *work, int64_t drawn) noexcept nogil
cdef bint draws_anew(int64_t depth) noexcept nogil
cdef uint64_t child_seed(const Matrix *X, const Node *parent, int64_t side) noexcept nogil
cdef void start_saving(Work *work) noexcept nogil
cdef void stop_saving(Work *work) noexcept nogil
cdef void save_histograms(
    Work *work, Node *parent, Node *nodes, int64_t n_nodes, const bint *waiting) noexcept nogil
cdef bint is_worth_saving(const Work *work, const Node *node) noexcept nogil
cdef double *sums_of(Work *work, const Node *node) noexcept nogil
cdef void release(Work *work, Node *node) noexcept nogil
