"""The rows of a task of the tree evaluator, in blocks of 64: their values, or codes of these.

The used features of a block are copied to float64; sparse rows are spread over such a block. Trees
on codes (see codes.h) need only one block of values, from which the codes of each are found.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from cwboost._kernels.common.cpu cimport instruction_set
from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "prediction/codes.h" nogil:
    const int CWB_CODED_BLOCK
    const cwb_code_kernels *cwb_code_tables[]

cdef extern from "<stdlib.h>" nogil:
    int posix_memalign(void **memory, size_t alignment, size_t size)

code_kernels = cwb_code_tables[instruction_set()]


cdef class Scratch:
    """Scratch memory of all threads, freed together."""

    def __cinit__(self):
        self.memory = NULL

    def __dealloc__(self):
        free(self.memory)


cdef Scratch scratch_of(int n_threads, Sizes sizes):
    """Return scratch memory, zero, for tasks of up to `sizes.n_blocks` blocks."""
    cdef bint coded = sizes.n_columns > 0
    cdef int64_t values = max(1, sizes.n_used) * CWB_CODED_BLOCK
    cdef int64_t n_codes = sizes.n_columns * CWB_CODED_BLOCK
    cdef size_t x = (1 if coded else sizes.n_blocks) * values * sizeof(double)
    cdef size_t codes = sizes.n_blocks * n_codes + CWB_CODED_BLOCK if coded else 0
    cdef size_t scores = sizes.n_blocks * sizes.n_scores * CWB_CODED_BLOCK * sizeof(double)
    cdef size_t reach = (sizes.n_reached * sizeof(uint64_t) + 63) // 64 * 64
    cdef size_t each = x + codes + scores + reach + sizes.n_sets * sizeof(uint64_t)
    cdef size_t head = (n_threads * sizeof(Work) + 63) // 64 * 64
    cdef Scratch scratch = Scratch()
    cdef uint8_t *memory
    cdef int t
    each = (each + 63) // 64 * 64
    if posix_memalign(&scratch.memory, 64, head + n_threads * each):
        scratch.memory = NULL
        raise MemoryError("scratch memory of the tree evaluator")
    memset(scratch.memory, 0, head + n_threads * each)
    scratch.works = <Work *> scratch.memory
    scratch.n_threads, scratch.n_blocks = n_threads, sizes.n_blocks
    for t in range(n_threads):
        memory = <uint8_t *> scratch.memory + head + t * each
        scratch.works[t].x = <double *> memory
        scratch.works[t].codes = memory + x
        scratch.works[t].scores = <double *> (memory + x + codes)
        scratch.works[t].reach = <uint64_t *> (memory + x + codes + scores)
        scratch.works[t].sets = <uint64_t *> (memory + x + codes + scores + reach)
        scratch.works[t].x_stride = 0 if coded else values
        scratch.works[t].codes_stride = n_codes
    return scratch


cdef void code_block(Work *work, const cwb_coded_trees *coded, int64_t block) noexcept nogil:
    code_kernels.code(coded, work.x + block * work.x_stride,
                      work.codes + block * work.codes_stride)


cdef void fill_dense(
    Work *work, const cwb_coded_trees *coded, const feature_t[:, :] X, const int32_t[::1] used,
    int64_t first, int64_t n_rows
) noexcept nogil:
    """Copy the used features of rows first ... first + n_rows - 1; `coded` NULL: no codes."""
    cdef int64_t u, row, block, done = 0, n_unknown = 0
    cdef double *x
    for block in range((n_rows + CWB_CODED_BLOCK - 1) // CWB_CODED_BLOCK):
        x = work.x + block * work.x_stride
        done = block * CWB_CODED_BLOCK
        for u in range(used.shape[0]):
            for row in range(min(CWB_CODED_BLOCK, n_rows - done)):
                x[u * CWB_CODED_BLOCK + row] = <double> X[first + done + row, used[u]]
                n_unknown += x[u * CWB_CODED_BLOCK + row] != x[u * CWB_CODED_BLOCK + row]
        if coded != NULL:
            code_block(work, coded, block)
    work.simple = n_unknown == 0


cdef int64_t spread(
    Work *work, const SparseRows *X, int64_t first, int64_t done, int64_t n_rows, bint clear
) noexcept nogil:
    """Spread rows of a block; with `clear`, set their entries to zero. Return how many are NaN."""
    cdef int64_t i, row, u, n_unknown = 0
    cdef double *x = work.x + done // CWB_CODED_BLOCK * work.x_stride
    for row in range(min(CWB_CODED_BLOCK, n_rows - done)):
        for i in range(X.starts[first + done + row], X.starts[first + done + row + 1]):
            u = X.column_of[X.columns[i]]
            if u >= 0:
                x[u * CWB_CODED_BLOCK + row] = 0 if clear else X.values[i]
                n_unknown += X.values[i] != X.values[i]
    return n_unknown


cdef void fill_sparse(
    Work *work, const cwb_coded_trees *coded, const SparseRows *X, int64_t first, int64_t n_rows
) noexcept nogil:
    """Do the same from CSR rows. Without codes, `clear_sparse` is to follow."""
    cdef int64_t block, n_unknown = 0
    for block in range((n_rows + CWB_CODED_BLOCK - 1) // CWB_CODED_BLOCK):
        n_unknown += spread(work, X, first, block * CWB_CODED_BLOCK, n_rows, False)
        if coded != NULL:
            code_block(work, coded, block)
            spread(work, X, first, block * CWB_CODED_BLOCK, n_rows, True)
    work.simple = n_unknown == 0


cdef void clear_sparse(
    Work *work, const SparseRows *X, int64_t first, int64_t n_rows
) noexcept nogil:
    """Set the entries of the rows that `fill_sparse` spread to zero again."""
    cdef int64_t block
    for block in range((n_rows + CWB_CODED_BLOCK - 1) // CWB_CODED_BLOCK):
        spread(work, X, first, block * CWB_CODED_BLOCK, n_rows, True)
