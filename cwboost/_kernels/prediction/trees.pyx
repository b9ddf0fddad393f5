"""Outputs and scores of a batch of binary trees on new rows.

The score s of a row is sum over trees t of coef[t, s] h_t(x), added in the order of the trees in
every thread and block: the bits are the same for any number of threads and any chunks of rows. The
used features of a block of 64 rows are copied to float64; sparse rows are spread over such a block,
so memory does not grow with the number of features.
"""

from cython.parallel cimport prange
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from cwboost._kernels.common.cpu cimport instruction_set
from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "prediction/trees.h" nogil:
    const int CWB_BLOCK
    const int CWB_FIRST
    enum:
        CWB_CATEGORIES
    ctypedef struct cwb_inner:
        double threshold
        int32_t feature, left, right, flags
    ctypedef struct cwb_trees:
        const cwb_inner *nodes
        const int64_t *start
        const uint8_t *constant
        const uint8_t *walk
        const int64_t *set_start
        const uint8_t *set_bits
        int64_t n_trees
    ctypedef struct cwb_evaluation_kernels:
        void (*block_sets)(const cwb_trees *trees, int64_t first, int64_t last, const double *x,
                           int64_t n_rows, uint64_t *reach, uint64_t *out) noexcept nogil
        void (*add_set)(uint64_t set, double value, double *scores) noexcept nogil
    const cwb_evaluation_kernels *cwb_evaluation_tables[]
    void cwb_write_outputs(const uint64_t *sets, int64_t n_trees, int64_t n_rows,
                           int8_t *outputs, int64_t row_stride)

cdef extern from "<stdlib.h>" nogil:
    int posix_memalign(void **memory, size_t alignment, size_t size)

cdef const cwb_evaluation_kernels *kernels = cwb_evaluation_tables[instruction_set()]

cdef int64_t TREES_AT_ONCE = 64
# A tree with more inner nodes than this is walked, since a row meets few of them.
cdef int64_t MAX_NODES_BY_SET = 255


cdef struct Work:
    # Scratch of one thread.
    double *x            # (n_used, 64): values of a block's rows
    double *scores       # (n_scores, 64)
    uint64_t *reach
    uint64_t *sets


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
        before = np.concatenate([[0], np.cumsum(inner)])  # inner nodes before each node
        root = offsets[: len(offsets) - 1]
        self.n_trees = len(root)
        self.n_features = n_features
        self.start = before[offsets].astype(np.int64)
        sizes = np.diff(np.asarray(self.start))
        self.most_inner = sizes.max(initial=0)
        self.constant = (sign[root] > 0).astype(np.uint8)
        self.walk = (sizes > MAX_NODES_BY_SET).astype(np.uint8)
        used = np.unique(feature[inner])
        column_of = np.full(n_features, -1, dtype=np.int32)
        column_of[used] = np.arange(len(used))
        self.used = used.astype(np.int32)
        self.column_of = column_of
        # Place of every node in its tree: leaves by sign, inner nodes in order.
        tree = np.repeat(np.arange(self.n_trees), np.diff(offsets))
        place = np.where(inner, CWB_FIRST + before[: len(inner)] - before[offsets[tree]], sign > 0)
        child = left[inner] + root[tree[inner]]
        nodes = np.zeros(len(child), dtype=[
            ("threshold", np.float64), ("feature", np.int32), ("left", np.int32),
            ("right", np.int32), ("flags", np.int32)])
        nodes["threshold"] = threshold[inner]
        nodes["feature"] = column_of[feature[inner]]
        nodes["left"] = place[child]
        nodes["right"] = place[child + 1]
        nodes["flags"] = missing[inner] > 0
        start = np.zeros(1, np.int64)
        bits = np.zeros(1, np.uint8)
        if set_start is not None:
            start = np.append(set_start[: len(inner)][inner], set_start[len(inner):])
            bits = np.append(set_bits, bits)
            is_set = np.flatnonzero(np.diff(start))
            nodes["flags"][is_set] |= CWB_CATEGORIES
            nodes["threshold"][is_set] = is_set.view(np.float64)
        self.set_start, self.set_bits = start, bits
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
        if sets is None:
            sets = np.empty((n_blocks, 0), np.uint64)
        works = _Scratch(n_threads, len(self.used), scores.shape[1], self.most_inner)
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
    cdef void *memory

    def __cinit__(self, int n_threads, int64_t n_used, int64_t n_scores, int64_t most_inner):
        cdef size_t x = max(1, n_used) * CWB_BLOCK * sizeof(double)
        cdef size_t scores = n_scores * CWB_BLOCK * sizeof(double)
        cdef size_t reach = ((most_inner + CWB_FIRST) * sizeof(uint64_t) + 63) // 64 * 64
        cdef size_t sets = TREES_AT_ONCE * sizeof(uint64_t)
        cdef size_t each = x + scores + reach + sets
        cdef size_t head = (n_threads * sizeof(Work) + 63) // 64 * 64
        cdef uint8_t *memory
        cdef int t
        self.memory = NULL
        self.n_threads = n_threads
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
    trees.n_trees = self.n_trees
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
    const cwb_trees *trees, const Votes *votes, Work *work, int64_t first_row, int64_t n_rows
) noexcept nogil:
    """Compute the results of the rows whose values are in work.x."""
    cdef int64_t t, first = 0, last, i, s, row
    memset(work.scores, 0, votes.n_scores * CWB_BLOCK * sizeof(double))
    while first < trees.n_trees:
        last = min(first + TREES_AT_ONCE, trees.n_trees)
        kernels.block_sets(trees, first, last, work.x, n_rows, work.reach, work.sets)
        for t in range(first, last):
            for i in range(votes.indptr[t], votes.indptr[t + 1]):
                kernels.add_set(work.sets[t - first], votes.data[i],
                                work.scores + <int64_t> votes.indices[i] * CWB_BLOCK)
        if votes.outputs != NULL:
            cwb_write_outputs(work.sets, last - first, n_rows,
                              votes.outputs + first_row * trees.n_trees + first, trees.n_trees)
        if votes.sets != NULL:
            memcpy(votes.sets + first_row // CWB_BLOCK * trees.n_trees + first, work.sets,
                   (last - first) * sizeof(uint64_t))
        first = last
    for row in range(n_rows):
        for s in range(votes.n_scores):
            votes.scores[(first_row + row) * votes.n_scores + s] = (
                work.scores[s * CWB_BLOCK + row])


cdef void fill_dense(
    Work *work, const feature_t[:, :] X, const int32_t[::1] used, int64_t first, int64_t n_rows
) noexcept nogil:
    """Copy the used features of rows first ... first + n_rows - 1."""
    cdef int64_t u, row
    for u in range(used.shape[0]):
        for row in range(n_rows):
            work.x[u * CWB_BLOCK + row] = <double> X[first + row, used[u]]


cdef void fill_sparse(
    Work *work, const double[::1] values, const int32_t[::1] columns, const int64_t[::1] starts,
    const int32_t[::1] column_of, int64_t first, int64_t n_rows, bint clear
) noexcept nogil:
    """Do the same from CSR rows; with `clear`, set their entries to zero again."""
    cdef int64_t i, row, u
    for row in range(n_rows):
        for i in range(starts[first + row], starts[first + row + 1]):
            u = column_of[columns[i]]
            if u >= 0:
                work.x[u * CWB_BLOCK + row] = 0 if clear else values[i]


cdef void dense_block(
    const cwb_trees *trees, const Votes *votes, Work *work, const feature_t[:, :] X,
    const int32_t[::1] used, int64_t b
) noexcept nogil:
    cdef int64_t n_rows = min(CWB_BLOCK, X.shape[0] - b * CWB_BLOCK)
    fill_dense(work, X, used, b * CWB_BLOCK, n_rows)
    evaluate_block(trees, votes, work, b * CWB_BLOCK, n_rows)


cdef void sparse_block(
    const cwb_trees *trees, const Votes *votes, Work *work, const double[::1] values,
    const int32_t[::1] columns, const int64_t[::1] starts, const int32_t[::1] column_of, int64_t b
) noexcept nogil:
    cdef int64_t n_rows = min(CWB_BLOCK, starts.shape[0] - 1 - b * CWB_BLOCK)
    fill_sparse(work, values, columns, starts, column_of, b * CWB_BLOCK, n_rows, False)
    evaluate_block(trees, votes, work, b * CWB_BLOCK, n_rows)
    fill_sparse(work, values, columns, starts, column_of, b * CWB_BLOCK, n_rows, True)


cdef run_dense(
    TreeEvaluator self, const feature_t[:, :] X, _Scratch scratch, indptr, indices, data, scores,
    outputs, sets
):
    cdef cwb_trees trees = trees_of(self, self.nodes)
    cdef Votes votes = votes_of(indptr, indices, data, scores, outputs, sets)
    cdef int64_t n_blocks = (X.shape[0] + CWB_BLOCK - 1) // CWB_BLOCK, b
    cdef const int32_t[::1] used = self.used
    cdef Work *works = scratch.works
    cdef int n_threads = scratch.n_threads
    for b in prange(n_blocks, nogil=True, num_threads=n_threads, schedule="static"):
        dense_block(&trees, &votes, works + omp_get_thread_num(), X, used, b)


cdef run_sparse(
    TreeEvaluator self, const double[::1] values, const int32_t[::1] columns,
    const int64_t[::1] starts, _Scratch scratch, indptr, indices, data, scores, outputs, sets
):
    cdef cwb_trees trees = trees_of(self, self.nodes)
    cdef Votes votes = votes_of(indptr, indices, data, scores, outputs, sets)
    cdef int64_t n_blocks = (starts.shape[0] - 1 + CWB_BLOCK - 1) // CWB_BLOCK, b
    cdef const int32_t[::1] column_of = self.column_of
    cdef Work *works = scratch.works
    cdef int n_threads = scratch.n_threads
    for b in prange(n_blocks, nogil=True, num_threads=n_threads, schedule="static"):
        sparse_block(&trees, &votes, works + omp_get_thread_num(), values, columns, starts,
                     column_of, b)
