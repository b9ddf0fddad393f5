# The rows of a task of the tree evaluator: tree_rows.pyx.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "prediction/codes.h" nogil:
    ctypedef struct cwb_coding:
        pass
    ctypedef struct cwb_coded_node:
        pass
    ctypedef struct cwb_coded_trees:
        const cwb_coding *codings
        int64_t n_codings
        const double *thresholds
        const cwb_coded_node *nodes
        const int64_t *start
        const int32_t *order
        const int64_t *order_start
        const int32_t *n_inner
        const int32_t *height
        const int8_t *output
    ctypedef struct cwb_code_kernels:
        void (*code)(const cwb_coded_trees *trees, const double *x, uint8_t *codes) noexcept nogil
        void (*sets)(const cwb_coded_trees *trees, int64_t first, int64_t last,
                     const uint8_t *codes, int64_t n_rows, uint64_t *reach,
                     uint64_t *out) noexcept nogil
        void (*graded)(const cwb_coded_trees *trees, int64_t t, const uint8_t *codes,
                       int64_t n_rows, uint64_t *reach, double *out) noexcept nogil
        int64_t max_reached
    void cwb_fetch_nodes(const cwb_coded_trees *trees, int64_t t, int64_t part, int64_t n_parts)

cdef const cwb_code_kernels *code_kernels

cdef struct Work:
    # Scratch of one thread.
    double *x            # (n_blocks, n_used, 64): values of a task's rows; of codes, one block
    uint8_t *codes       # (n_blocks, n_columns, 64), and 64 more
    double *scores       # (n_blocks, n_scores, 64)
    uint64_t *reach
    uint64_t *sets
    int64_t x_stride     # from a block to the next; 0 with codes
    int64_t codes_stride
    bint simple          # no value of the task is NaN; only without codes

cdef struct Sizes:
    int64_t n_blocks     # of a task
    int64_t n_used
    int64_t n_columns    # of codes; 0 without codes
    int64_t n_scores
    int64_t n_reached    # nodes of the largest tree
    int64_t n_sets       # trees at once

cdef class Scratch:
    cdef Work *works
    cdef int n_threads
    cdef int64_t n_blocks
    cdef void *memory

cdef Scratch scratch_of(int n_threads, Sizes sizes)

cdef void fill_dense(
    Work *work, const cwb_coded_trees *coded, const feature_t[:, :] X, const int32_t[::1] used,
    int64_t first, int64_t n_rows
) noexcept nogil

cdef struct SparseRows:
    const double *values
    const int32_t *columns
    const int64_t *starts
    const int32_t *column_of

cdef void fill_sparse(
    Work *work, const cwb_coded_trees *coded, const SparseRows *X, int64_t first, int64_t n_rows
) noexcept nogil

cdef void clear_sparse(
    Work *work, const SparseRows *X, int64_t first, int64_t n_rows
) noexcept nogil
