from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from cwboost._kernels.trees.types cimport Frontier, Node, Rows, Tree, TreeNode, Work

cdef enum:
    # Up to this number of inner nodes, leaves are found from the codes, 256 rows at a time: their
    # places take a byte.
    MAX_INNER_BY_CODES = 255
    # A copy of codes has fewer rows than what it is made from by this factor: a smaller one takes
    # more memory, a larger one leaves more nodes to read codes from far apart.
    FEWER_ROWS = 10

cdef void use_rows(Work *work, const Rows *rows) noexcept nogil
cdef bint grow_tree(
    Work *work, const double *weights, uint64_t seed, Tree *tree, uint8_t *packed,
    int32_t *cells, double *edge) noexcept nogil

# What growth by all threads, or on partitions, takes one by one.
cdef bint start_growth(
    Work *work, const double *weights, uint64_t seed, Tree *tree, Node *root) noexcept nogil
cdef bint grow_below(
    Work *work, Tree *tree, const Node *top, int64_t fewest_rows, Frontier *small) noexcept nogil
cdef bint push(Frontier *frontier, const Node *node, bint best_first=*) noexcept nogil
cdef bint settle(Tree *tree, bint merge) noexcept nogil
cdef void write_edge(
    Work *work, const double *weights, Tree *tree, uint8_t *packed, double *edge) noexcept nogil
cdef void combine(
    const char *weights, int64_t stride, const double *code, int64_t n_classes, int64_t n,
    int n_threads, double *sums) noexcept nogil
cdef double mass_of(const double *weights, int64_t n) noexcept nogil
cdef void clear_others(
    const int64_t *kept, int64_t n_kept, int64_t n, double *weights) noexcept nogil
cdef void sum_node(Work *work, Node *node) noexcept nogil
cdef void divide_rows(
    Work *work, const TreeNode *split, const Node *node, Node *children) noexcept nogil
cdef int64_t take_rows(Work *work, const double *weights, double scale) noexcept nogil
cdef void write_leaves(
    const int32_t *rows, const Tree *tree, int64_t part, int64_t n_parts, int32_t *cells
) noexcept nogil
cdef bint write_outputs(
    Work *work, const Tree *tree, int64_t start, int64_t end, uint8_t *packed, int32_t *cells
) noexcept nogil
