"""Outputs and scores of a batch of binary trees on new rows.

The score s of a row is sum over trees t of coef[t, s] h_t(x), added in the order of the trees in
every thread and block: the bits are the same for any number of threads and any chunks of rows. The
used features of a block of 64 rows are copied to float64; sparse rows are spread over such a block.
Up to 16 blocks, of about 1 MB, meet some trees before the next: large trees are read less often.
"""

from cython.parallel cimport prange
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from cwboost._kernels.common.cpu cimport instruction_set
from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.common.typedefs cimport feature_t

from cwboost._kernels.prediction.tree_nodes import laid_out

cdef extern from "prediction/trees.h" nogil:
    const int CWB_BLOCK
    const int CWB_FIRST
    ctypedef struct cwb_inner:
        double threshold
        int32_t feature, flags
        int32_t child[2]
    ctypedef struct cwb_trees:
        const cwb_inner *nodes
        const int64_t *start
        const uint8_t *constant
        const uint8_t *walk
        const int64_t *set_start
        const uint8_t *set_bits
        int64_t n_trees, n_sets
    ctypedef struct cwb_evaluation_kernels:
        void (*block_sets)(const cwb_trees *trees, int64_t first, int64_t last, const double *x,
                           int64_t n_rows, int simple, uint64_t *reach,
                           uint64_t *out) noexcept nogil
        void (*add_set)(uint64_t set, double value, double *scores) noexcept nogil
    const cwb_evaluation_kernels *cwb_evaluation_tables[]
    void cwb_write_outputs(const uint64_t *sets, int64_t n_trees, int64_t n_rows,
                           int8_t *outputs, int64_t row_stride)

cdef extern from "<stdlib.h>" nogil:
    int posix_memalign(void **memory, size_t alignment, size_t size)

cdef const cwb_evaluation_kernels *kernels = cwb_evaluation_tables[instruction_set()]

# Trees that meet all blocks of a task before the next: as many as a cache holds.
cdef int64_t TREES_AT_ONCE = 64
cdef int64_t NODES_AT_ONCE = 4096
# Blocks of a task.
cdef int64_t BLOCKS_AT_ONCE = 16
cdef int64_t BYTES_AT_ONCE = 1 << 20
# A tree with more inner nodes than this is walked, since a row meets few of them.
cdef int64_t MAX_NODES_BY_SET = 255


cdef struct Work:
    # Scratch of one thread.
    double *x            # (n_blocks, n_used, 64): values of the rows of a task's blocks
    double *scores       # (n_blocks, n_scores, 64)
    uint64_t *reach
    uint64_t *sets
    int64_t n_used
    bint simple          # no tree has categories, and no value of the task is NaN


cdef class TreeEvaluator:
    """A batch of trees laid out for evaluation.

    Parameters
    ----------
    offsets, feature, threshold, left, missing, sign : ndarray
        Checked flat arrays, as `TreeGrower.grow` returns them.
    n_features : int
    set_start, set_bits : ndarray, optional
        The category sets of the nodes (see `cwboost.kernels.CategorySets`).
    """

    cdef object nodes
    cdef int64_t[::1] set_start    # of inner nodes only
    cdef uint8_t[::1] set_bits     # with one more byte
    cdef int64_t[::1] start
    cdef uint8_t[::1] constant
    cdef uint8_t[::1] walk
    cdef int32_t[::1] used         # columns of X that some tree reads
    cdef int32_t[::1] column_of    # place of a feature in `used`, -1 for other features
    cdef int64_t most_inner
    cdef readonly int64_t n_features
    cdef readonly int64_t n_trees

    def __init__(self, offsets, feature, threshold, left, missing, sign, n_features,
                 set_start=None, set_bits=None):
        inner = feature >= 0
        self.n_trees = len(offsets) - 1
        self.n_features = n_features
        used = np.unique(feature[inner])
        column_of = np.full(n_features, -1, dtype=np.int32)
        column_of[used] = np.arange(len(used))
        self.used = used.astype(np.int32)
        self.column_of = column_of
        start = np.zeros(1, np.int64)
        bits = np.zeros(1, np.uint8)
        if set_start is not None:
            start = np.append(set_start[: len(inner)][inner], set_start[len(inner):])
            bits = np.append(set_bits, bits)
        self.set_start, self.set_bits = start, bits
        feature = np.where(inner, column_of[feature], -1)
        nodes, self.start = laid_out(offsets, feature, threshold, left, missing, sign,
                                     np.flatnonzero(np.diff(start)))
        sizes = np.diff(np.asarray(self.start)) - CWB_FIRST
        self.most_inner = sizes.max(initial=0)
        self.constant = (sign[offsets[:self.n_trees]] > 0).astype(np.uint8)
        self.walk = (sizes > MAX_NODES_BY_SET).astype(np.uint8)
        assert nodes.itemsize == sizeof(cwb_inner)
        self.nodes = nodes.view(np.uint8)

    def outputs(self, X, int n_threads=1):
        """Return outputs on dense X, or on the CSR triple (data, indices, indptr).

        Returns
        -------
        ndarray of shape (n_rows, n_trees), dtype int8, values -1 and +1
        """
        cdef Py_ssize_t n_rows = len(X[2]) - 1 if isinstance(X, tuple) else X.shape[0]
        out = np.empty((n_rows, self.n_trees), dtype=np.int8)
        no_coef = np.zeros(self.n_trees + 1, dtype=np.int64)
        self._run(X, n_rows, no_coef, np.zeros(0, np.int32), np.zeros(0),
                  np.empty((n_rows, 0)), out, n_threads)
        return out

    def sets(self, X, int n_threads=1):
        """Return the rows on which each tree is +1, in blocks of 64; X as for `outputs`.

        Returns
        -------
        ndarray of shape (ceil(n_rows / 64), n_trees), dtype uint64
            Row ``64 * b + k`` is bit k of block b; bits beyond the rows are anything.
        """
        cdef Py_ssize_t n_rows = len(X[2]) - 1 if isinstance(X, tuple) else X.shape[0]
        out = np.empty(((n_rows + CWB_BLOCK - 1) // CWB_BLOCK, self.n_trees), dtype=np.uint64)
        no_coef = np.zeros(self.n_trees + 1, dtype=np.int64)
        self._run(X, n_rows, no_coef, np.zeros(0, np.int32), np.zeros(0),
                  np.empty((n_rows, 0)), np.empty((n_rows, 0), np.int8), n_threads, out)
        return out

    def scores(self, X, coef, int n_threads=1):
        """Return scores on dense X, or on the CSR triple (data, indices, indptr).

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features), uint8, float32 or float64; or tuple
        coef : csr_array of shape (n_trees, n_scores), dtype float64
        n_threads : int, default=1

        Returns
        -------
        ndarray of shape (n_rows, n_scores), dtype float64
        """
        cdef Py_ssize_t n_rows = len(X[2]) - 1 if isinstance(X, tuple) else X.shape[0]
        out = np.empty((n_rows, coef.shape[1]))
        self._run(X, n_rows, coef.indptr.astype(np.int64), coef.indices.astype(np.int32),
                  coef.data, out, np.empty((n_rows, 0), np.int8), n_threads)
        return out

    cdef _run(self, X, Py_ssize_t n_rows, indptr, indices, data, scores, outputs, int n_threads,
              sets=None):
        cdef Py_ssize_t n_blocks = (n_rows + CWB_BLOCK - 1) // CWB_BLOCK
        n_threads = max(1, min(n_threads, n_blocks))
        cdef Py_ssize_t bytes = max(1, len(self.used)) * CWB_BLOCK * sizeof(double)
        cdef Py_ssize_t together = max(1, min(BLOCKS_AT_ONCE, BYTES_AT_ONCE // bytes,
                                              (n_blocks + n_threads - 1) // n_threads))
        if sets is None:
            sets = np.empty((n_blocks, 0), np.uint64)
        works = _Scratch(n_threads, together, len(self.used), scores.shape[1], self.most_inner)
        if isinstance(X, tuple):
            run_sparse(self, X[0], X[1], X[2], works, indptr, indices, data, scores, outputs,
                       sets)
        elif X.dtype == np.uint8:
            run_dense[uint8_t](self, X, works, indptr, indices, data, scores, outputs, sets)
        elif X.dtype == np.float32:
            run_dense[float](self, X, works, indptr, indices, data, scores, outputs, sets)
        else:
            run_dense[double](self, X, works, indptr, indices, data, scores, outputs, sets)


cdef class _Scratch:
    """Scratch memory of all threads, freed together."""

    cdef Work *works
    cdef int n_threads
    cdef int64_t n_blocks  # of a task
    cdef void *memory

    def __cinit__(self, int n_threads, int64_t n_blocks, int64_t n_used, int64_t n_scores,
                  int64_t most_inner):
        cdef size_t x = n_blocks * max(1, n_used) * CWB_BLOCK * sizeof(double)
        cdef size_t scores = n_blocks * n_scores * CWB_BLOCK * sizeof(double)
        cdef size_t reach = ((most_inner + CWB_FIRST) * sizeof(uint64_t) + 63) // 64 * 64
        cdef size_t sets = TREES_AT_ONCE * sizeof(uint64_t)
        cdef size_t each = x + scores + reach + sets
        cdef size_t head = (n_threads * sizeof(Work) + 63) // 64 * 64
        cdef uint8_t *memory
        cdef int t
        self.memory = NULL
        self.n_threads = n_threads
        self.n_blocks = n_blocks
        if posix_memalign(&self.memory, 64, head + n_threads * each):
            self.memory = NULL
            raise MemoryError("scratch memory of the tree evaluator")
        memset(self.memory, 0, head + n_threads * each)
        self.works = <Work *> self.memory
        for t in range(n_threads):
            memory = <uint8_t *> self.memory + head + t * each
            self.works[t].x = <double *> memory
            self.works[t].scores = <double *> (memory + x)
            self.works[t].reach = <uint64_t *> (memory + x + scores)
            self.works[t].sets = <uint64_t *> (memory + x + scores + reach)
            self.works[t].n_used = n_used

    def __dealloc__(self):
        free(self.memory)


cdef struct Votes:
    # CSR coefficients and the arrays of results; n_scores 0 or outputs NULL: not computed.
    const int64_t *indptr
    const int32_t *indices
    const double *data
    int64_t n_scores
    double *scores
    int8_t *outputs
    uint64_t *sets


cdef cwb_trees trees_of(TreeEvaluator self, const uint8_t[::1] nodes):
    cdef cwb_trees trees
    trees.nodes = <const cwb_inner *> &nodes[0] if nodes.shape[0] else NULL
    trees.start = &self.start[0]
    trees.constant = &self.constant[0] if self.n_trees else NULL
    trees.walk = &self.walk[0] if self.n_trees else NULL
    trees.set_start, trees.set_bits = &self.set_start[0], &self.set_bits[0]
    trees.n_trees, trees.n_sets = self.n_trees, self.set_bits.shape[0] - 1
    return trees


cdef Votes votes_of(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] data,
    double[:, ::1] scores, int8_t[:, ::1] outputs, uint64_t[:, ::1] sets
):
    cdef Votes votes
    votes.indptr = &indptr[0]
    votes.indices = &indices[0] if indices.shape[0] else NULL
    votes.data = &data[0] if data.shape[0] else NULL
    votes.n_scores = scores.shape[1]
    votes.scores = &scores[0, 0] if scores.shape[0] and scores.shape[1] else NULL
    votes.outputs = &outputs[0, 0] if outputs.shape[0] and outputs.shape[1] else NULL
    votes.sets = &sets[0, 0] if sets.shape[0] and sets.shape[1] else NULL
    return votes


cdef void evaluate_block(
    const cwb_trees *trees, int64_t first, int64_t last, const Votes *votes, Work *work,
    int64_t block, int64_t first_row, int64_t n_rows
) noexcept nogil:
    """Compute the results of trees [first, last) for the rows of one of the work's blocks."""
    cdef int64_t t, i
    cdef double *scores = work.scores + block * votes.n_scores * CWB_BLOCK
    kernels.block_sets(trees, first, last, work.x + block * work.n_used * CWB_BLOCK, n_rows,
                       work.simple, work.reach, work.sets)
    for t in range(first, last):
        for i in range(votes.indptr[t], votes.indptr[t + 1]):
            kernels.add_set(work.sets[t - first], votes.data[i],
                            scores + <int64_t> votes.indices[i] * CWB_BLOCK)
    if votes.outputs != NULL:
        cwb_write_outputs(work.sets, last - first, n_rows,
                          votes.outputs + first_row * trees.n_trees + first, trees.n_trees)
    if votes.sets != NULL:
        memcpy(votes.sets + first_row // CWB_BLOCK * trees.n_trees + first, work.sets,
               (last - first) * sizeof(uint64_t))


cdef void evaluate(
    const cwb_trees *trees, const Votes *votes, Work *work, int64_t first_row, int64_t n_rows
) noexcept nogil:
    """Compute the results of the rows whose values are in work.x."""
    cdef int64_t first = 0, last, block, row, s
    cdef int64_t n_blocks = (n_rows + CWB_BLOCK - 1) // CWB_BLOCK
    memset(work.scores, 0, n_blocks * votes.n_scores * CWB_BLOCK * sizeof(double))
    work.simple = work.simple and trees.n_sets == 0
    while first < trees.n_trees:
        last = first + 1
        while (last < min(first + TREES_AT_ONCE, trees.n_trees)
               and trees.start[last + 1] - trees.start[first] <= NODES_AT_ONCE):
            last += 1
        for block in range(n_blocks):
            evaluate_block(trees, first, last, votes, work, block, first_row + block * CWB_BLOCK,
                           min(CWB_BLOCK, n_rows - block * CWB_BLOCK))
        first = last
    for row in range(n_rows):
        for s in range(votes.n_scores):
            votes.scores[(first_row + row) * votes.n_scores + s] = work.scores[
                (row // CWB_BLOCK * votes.n_scores + s) * CWB_BLOCK + row % CWB_BLOCK]


cdef inline double *values_of(Work *work, int64_t row) noexcept nogil:
    """Return where the values of a row of the work's blocks begin; they are CWB_BLOCK apart."""
    return work.x + row // CWB_BLOCK * work.n_used * CWB_BLOCK + row % CWB_BLOCK


cdef void fill_dense(
    Work *work, const feature_t[:, :] X, const int32_t[::1] used, int64_t first, int64_t n_rows
) noexcept nogil:
    """Copy the used features of rows first ... first + n_rows - 1."""
    cdef int64_t u, row, done = 0, n_unknown = 0
    cdef double *x
    while done < n_rows:
        x = values_of(work, done)
        for u in range(used.shape[0]):
            for row in range(min(CWB_BLOCK, n_rows - done)):
                x[u * CWB_BLOCK + row] = <double> X[first + done + row, used[u]]
                n_unknown += x[u * CWB_BLOCK + row] != x[u * CWB_BLOCK + row]
        done = done + CWB_BLOCK
    work.simple = n_unknown == 0


cdef void fill_sparse(
    Work *work, const double[::1] values, const int32_t[::1] columns, const int64_t[::1] starts,
    const int32_t[::1] column_of, int64_t first, int64_t n_rows, bint clear
) noexcept nogil:
    """Do the same from CSR rows; with `clear`, set their entries to zero again."""
    cdef int64_t i, row, u, n_unknown = 0
    cdef double *x
    for row in range(n_rows):
        x = values_of(work, row)
        for i in range(starts[first + row], starts[first + row + 1]):
            u = column_of[columns[i]]
            if u >= 0:
                x[u * CWB_BLOCK] = 0 if clear else values[i]
                n_unknown += values[i] != values[i]
    work.simple = n_unknown == 0


cdef void dense_task(
    const cwb_trees *trees, const Votes *votes, Work *work, const feature_t[:, :] X,
    const int32_t[::1] used, int64_t first, int64_t n_rows
) noexcept nogil:
    fill_dense(work, X, used, first, n_rows)
    evaluate(trees, votes, work, first, n_rows)


cdef void sparse_task(
    const cwb_trees *trees, const Votes *votes, Work *work, const double[::1] values,
    const int32_t[::1] columns, const int64_t[::1] starts, const int32_t[::1] column_of,
    int64_t first, int64_t n_rows
) noexcept nogil:
    fill_sparse(work, values, columns, starts, column_of, first, n_rows, False)
    evaluate(trees, votes, work, first, n_rows)
    fill_sparse(work, values, columns, starts, column_of, first, n_rows, True)


cdef run_dense(
    TreeEvaluator self, const feature_t[:, :] X, _Scratch scratch, indptr, indices, data, scores,
    outputs, sets
):
    cdef cwb_trees trees = trees_of(self, self.nodes)
    cdef Votes votes = votes_of(indptr, indices, data, scores, outputs, sets)
    cdef int64_t n_rows = X.shape[0], size = scratch.n_blocks * CWB_BLOCK, task
    cdef const int32_t[::1] used = self.used
    cdef Work *works = scratch.works
    cdef int n_threads = scratch.n_threads
    for task in prange((n_rows + size - 1) // size, nogil=True, num_threads=n_threads,
                       schedule="static"):
        dense_task(&trees, &votes, works + omp_get_thread_num(), X, used, task * size,
                   min(size, n_rows - task * size))


cdef run_sparse(
    TreeEvaluator self, const double[::1] values, const int32_t[::1] columns,
    const int64_t[::1] starts, _Scratch scratch, indptr, indices, data, scores, outputs, sets
):
    cdef cwb_trees trees = trees_of(self, self.nodes)
    cdef Votes votes = votes_of(indptr, indices, data, scores, outputs, sets)
    cdef int64_t n_rows = starts.shape[0] - 1, size = scratch.n_blocks * CWB_BLOCK, task
    cdef const int32_t[::1] column_of = self.column_of
    cdef Work *works = scratch.works
    cdef int n_threads = scratch.n_threads
    for task in prange((n_rows + size - 1) // size, nogil=True, num_threads=n_threads,
                       schedule="static"):
        sparse_task(&trees, &votes, works + omp_get_thread_num(), values, columns, starts,
                    column_of, task * size, min(size, n_rows - task * size))
