"""Outputs and scores of a batch of binary trees on new rows.

The score s of a row is sum over trees t of coef[t, s] h_t(x), added in the order of the trees in
every thread and block: the bits are the same for any number of threads and any chunks of rows. The
used features of a block of 64 rows are copied to float64; sparse rows are spread over such a block.
Up to 16 blocks, of about 1 MB, meet some trees before the next: large trees are read less often.
"""

from cython.parallel cimport prange
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from cwboost._kernels.common.cpu cimport instruction_set
from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.common.typedefs cimport feature_t
from cwboost._kernels.prediction.tree_rows cimport (
    Scratch, Sizes, SparseRows, Work, clear_sparse, code_kernels, cwb_coded_node, cwb_coded_trees,
    cwb_coding, cwb_fetch_nodes, fill_dense, fill_sparse, scratch_of
)

from cwboost._kernels.prediction.coded_nodes import CodedNodes
from cwboost._kernels.prediction.tree_layouts import TreeLayouts
from cwboost._kernels.prediction.tree_nodes import NODE

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
        const int32_t *height
        const int8_t *output
    ctypedef struct cwb_evaluation_kernels:
        void (*block_sets)(const cwb_trees *trees, int64_t first, int64_t last, const double *x,
                           int64_t n_rows, int simple, uint64_t *reach,
                           uint64_t *out) noexcept nogil
        void (*graded)(const cwb_trees *trees, int64_t t, const double *x, int64_t n_rows,
                       int simple, double *out) noexcept nogil
        void (*add_graded)(const double *outputs, double value, double *scores) noexcept nogil
        void (*add_set)(uint64_t set, double value, double *scores) noexcept nogil
    const cwb_evaluation_kernels *cwb_evaluation_tables[]
    void cwb_write_outputs(const uint64_t *sets, int64_t n_trees, int64_t n_rows,
                           int8_t *outputs, int64_t row_stride)

cdef const cwb_evaluation_kernels *kernels = cwb_evaluation_tables[instruction_set()]

# Trees that meet all blocks of a task before the next: as many as a cache holds.
cdef int64_t TREES_AT_ONCE = 64
cdef int64_t NODES_AT_ONCE = 4096
# Blocks of a task.
cdef int64_t BLOCKS_AT_ONCE = 64
cdef int64_t BYTES_AT_ONCE = 1 << 20

assert NODE.itemsize == sizeof(cwb_inner)


cdef struct Batch:
    # The trees: with nodes for values or, if `flat` is NULL, for codes.
    const cwb_trees *flat
    const cwb_coded_trees *coded
    const int64_t *start
    int64_t n_trees
    bint is_graded


cdef class TreeEvaluator:
    """A batch of trees laid out for evaluation.

    Parameters
    ----------
    offsets, feature, threshold, left, missing, output : ndarray
        Checked flat arrays, as `TreeGrower.grow` returns them.
    n_features : int
    set_start, set_bits : ndarray, optional
        The category sets of the nodes (see `cwboost.kernels.CategorySets`).
    """

    # Threads share an evaluator: no field changes after the constructor.
    cdef object layouts            # TreeLayouts
    cdef int64_t[::1] set_start    # of inner nodes only
    cdef uint8_t[::1] set_bits     # with one more byte
    cdef int32_t[::1] used         # columns of X that some tree reads
    cdef int32_t[::1] column_of    # place of a feature in `used`, -1 for other features
    cdef readonly int64_t n_features
    cdef readonly int64_t n_trees

    def __init__(self, offsets, feature, threshold, left, missing, output, n_features,
                 set_start=None, set_bits=None):
        inner = feature >= 0
        self.n_trees = len(offsets) - 1
        self.n_features = n_features
        used = np.flatnonzero(np.bincount(feature[inner]))
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
        places = np.append(column_of, np.int32(-1))  # of -1 too, the feature of a leaf
        self.layouts = TreeLayouts((offsets, feature, threshold, left, missing, output), places,
                                   np.flatnonzero(np.diff(start)), code_kernels.max_reached)

    def outputs(self, X, int n_threads=1):
        """Return outputs on dense X, or on the CSR triple (data, indices, indptr).

        Returns
        -------
        ndarray of shape (n_rows, n_trees), dtype int8
        """
        cdef Py_ssize_t n_rows = len(X[2]) - 1 if isinstance(X, tuple) else X.shape[0]
        out = np.empty((n_rows, self.n_trees), dtype=np.int8)
        no_coef = np.zeros(self.n_trees + 1, dtype=np.int64)
        self._run(X, n_rows, no_coef, np.zeros(0, np.int32), np.zeros(0),
                  np.empty((n_rows, 0)), out, n_threads)
        return out

    def sets(self, X, int n_threads=1):
        """Return the rows on which each tree is +1, in blocks of 64; X as for `outputs`.

        Not of graded trees.

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
        cdef cwb_trees flat
        cdef cwb_coded_trees coded
        cdef Batch batch
        cdef Sizes sizes
        layout = self.layouts.for_rows(n_rows)
        codes, nodes = (layout, None) if isinstance(layout, CodedNodes) else (None, layout)
        if codes is None:
            flat = trees_of(self, nodes)
            batch.flat, batch.coded, batch.start = &flat, NULL, flat.start
        else:
            coded = coded_trees_of(codes)
            batch.flat, batch.coded, batch.start = NULL, &coded, coded.start
        batch.n_trees, batch.is_graded = self.n_trees, self.layouts.is_graded
        if batch.is_graded and sets is not None:
            raise ValueError("graded trees have no sets")
        if sets is None:
            sets = np.empty((n_blocks, 0), np.uint64)
        sizes.n_used, sizes.n_columns = len(self.used), 0 if codes is None else codes.n_columns
        sizes.n_scores, sizes.n_sets = scores.shape[1], TREES_AT_ONCE
        sizes.n_reached = CWB_FIRST + (2 * code_kernels.max_reached if nodes is None
                                       else nodes.most_inner)
        n_threads = max(1, min(n_threads, n_blocks))
        bytes = CWB_BLOCK * (sizes.n_columns or max(1, sizes.n_used) * sizeof(double))
        sizes.n_blocks = max(1, min(BLOCKS_AT_ONCE, BYTES_AT_ONCE // bytes,
                                    (n_blocks + n_threads - 1) // n_threads))
        scratch = scratch_of(n_threads, sizes)
        votes = votes_of(indptr, indices, data, scores, outputs, sets)
        if isinstance(X, tuple):
            run_sparse(self, &batch, X[0], X[1], X[2], votes, scratch)
        elif X.dtype == np.uint8:
            run_dense[uint8_t](self, &batch, X, votes, scratch)
        elif X.dtype == np.float32:
            run_dense[float](self, &batch, X, votes, scratch)
        else:
            run_dense[double](self, &batch, X, votes, scratch)


cdef cwb_coded_trees coded_trees_of(nodes):
    """Return the struct of `CodedNodes`, which must outlive it."""
    cdef cwb_coded_trees trees
    cdef const int64_t[::1] start = nodes.start, order_start = nodes.order_start
    cdef const int32_t[::1] order = nodes.order, n_inner = nodes.n_inner, height = nodes.height
    cdef const double[::1] thresholds = nodes.thresholds
    cdef const uint8_t[::1] codings = nodes.codings.view(np.uint8)
    cdef const uint8_t[::1] own = nodes.nodes.view(np.uint8)
    trees.codings = <const cwb_coding *> &codings[0]
    trees.n_codings = len(nodes.codings)
    trees.thresholds = &thresholds[0]
    trees.nodes = <const cwb_coded_node *> &own[0]
    trees.start, trees.order_start = &start[0], &order_start[0]
    trees.order = &order[0] if order.shape[0] else NULL
    trees.n_inner, trees.height = &n_inner[0], &height[0]
    cdef const int8_t[::1] output = nodes.output
    trees.output = &output[0]
    return trees


cdef struct Votes:
    # CSR coefficients and the arrays of results; n_scores 0 or outputs NULL: not computed.
    const int64_t *indptr
    const int32_t *indices
    const double *data
    int64_t n_scores
    double *scores
    int8_t *outputs
    uint64_t *sets


cdef cwb_trees trees_of(TreeEvaluator self, nodes):
    """Return the struct of `FlatNodes`, which must outlive it."""
    cdef cwb_trees trees
    cdef const uint8_t[::1] own = nodes.nodes.view(np.uint8)
    cdef const int64_t[::1] start = nodes.start
    cdef const uint8_t[::1] constant = nodes.constant, walk = nodes.walk
    trees.nodes = <const cwb_inner *> &own[0] if own.shape[0] else NULL
    trees.start = &start[0]
    trees.constant = &constant[0] if self.n_trees else NULL
    trees.walk = &walk[0] if self.n_trees else NULL
    trees.set_start, trees.set_bits = &self.set_start[0], &self.set_bits[0]
    trees.n_trees, trees.n_sets = self.n_trees, self.set_bits.shape[0] - 1
    cdef const int32_t[::1] height = nodes.height
    cdef const int8_t[::1] output = nodes.output
    trees.height = &height[0] if height.shape[0] else NULL
    trees.output = &output[0] if output.shape[0] else NULL
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
    const Batch *batch, int64_t first, int64_t last,
    const Votes *votes, Work *work, int64_t block, int64_t first_row, int64_t n_rows
) noexcept nogil:
    """Compute the results of trees [first, last) for the rows of one of the work's blocks."""
    cdef int64_t t, i
    cdef double *scores = work.scores + block * votes.n_scores * CWB_BLOCK
    if batch.is_graded:
        for t in range(first, last):
            evaluate_graded(batch, t, votes, work, block, first_row, n_rows)
        return
    if batch.coded != NULL:
        code_kernels.sets(batch.coded, first, last, work.codes + block * work.codes_stride, n_rows,
                          work.reach, work.sets)
    else:
        kernels.block_sets(batch.flat, first, last, work.x + block * work.x_stride, n_rows,
                           work.simple, work.reach, work.sets)
    for t in range(first, last):
        for i in range(votes.indptr[t], votes.indptr[t + 1]):
            kernels.add_set(work.sets[t - first], votes.data[i],
                            scores + <int64_t> votes.indices[i] * CWB_BLOCK)
    if votes.outputs != NULL:
        cwb_write_outputs(work.sets, last - first, n_rows,
                          votes.outputs + first_row * batch.n_trees + first, batch.n_trees)
    if votes.sets != NULL:
        memcpy(votes.sets + first_row // CWB_BLOCK * batch.n_trees + first, work.sets,
               (last - first) * sizeof(uint64_t))


cdef void evaluate_graded(
    const Batch *batch, int64_t t, const Votes *votes, Work *work, int64_t block,
    int64_t first_row, int64_t n_rows
) noexcept nogil:
    """Compute the results of a graded tree for the rows of a block."""
    cdef double[64] outputs  # of CWB_BLOCK rows
    cdef int64_t i, row
    memset(outputs, 0, sizeof(outputs))
    if batch.coded != NULL:
        code_kernels.graded(batch.coded, t, work.codes + block * work.codes_stride, n_rows,
                            work.reach, outputs)
    else:
        kernels.graded(batch.flat, t, work.x + block * work.x_stride, n_rows, work.simple, outputs)
    for i in range(votes.indptr[t], votes.indptr[t + 1]):
        kernels.add_graded(outputs, votes.data[i],
                           work.scores + (block * votes.n_scores + votes.indices[i]) * CWB_BLOCK)
    if votes.outputs != NULL:
        for row in range(n_rows):
            votes.outputs[(first_row + row) * batch.n_trees + t] = <int8_t> outputs[row]


cdef void evaluate(
    const Batch *batch, const Votes *votes, Work *work,
    int64_t first_row, int64_t n_rows
) noexcept nogil:
    """Compute the results of the rows whose values, or codes, are in the work."""
    cdef int64_t first = 0, last, block, row, s
    cdef const int64_t *start = batch.start
    cdef int64_t n_blocks = (n_rows + CWB_BLOCK - 1) // CWB_BLOCK
    memset(work.scores, 0, n_blocks * votes.n_scores * CWB_BLOCK * sizeof(double))
    work.simple = work.simple and batch.flat != NULL and batch.flat.n_sets == 0
    while first < batch.n_trees:
        last = first + 1
        while (last < min(first + TREES_AT_ONCE, batch.n_trees)
               and start[last + 1] - start[first] <= NODES_AT_ONCE):
            last += 1
        for block in range(n_blocks):
            if batch.coded != NULL and last < batch.n_trees:
                cwb_fetch_nodes(batch.coded, last, block, n_blocks)
            evaluate_block(batch, first, last, votes, work, block,
                           first_row + block * CWB_BLOCK,
                           min(CWB_BLOCK, n_rows - block * CWB_BLOCK))
        first = last
    for row in range(n_rows):
        for s in range(votes.n_scores):
            votes.scores[(first_row + row) * votes.n_scores + s] = work.scores[
                (row // CWB_BLOCK * votes.n_scores + s) * CWB_BLOCK + row % CWB_BLOCK]


cdef void dense_task(
    const Batch *batch, const Votes *votes, Work *work,
    const feature_t[:, :] X, const int32_t[::1] used, int64_t first, int64_t n_rows
) noexcept nogil:
    fill_dense(work, batch.coded, X, used, first, n_rows)
    evaluate(batch, votes, work, first, n_rows)


cdef void sparse_task(
    const Batch *batch, const Votes *votes, Work *work,
    const SparseRows *X, int64_t first, int64_t n_rows
) noexcept nogil:
    fill_sparse(work, batch.coded, X, first, n_rows)
    evaluate(batch, votes, work, first, n_rows)
    if batch.coded == NULL:
        clear_sparse(work, X, first, n_rows)


cdef run_dense(
    TreeEvaluator self, const Batch *batch, const feature_t[:, :] X, Votes votes,
    Scratch scratch
):
    cdef int64_t n_rows = X.shape[0], size = scratch.n_blocks * CWB_BLOCK, task
    cdef const int32_t[::1] used = self.used
    cdef Work *works = scratch.works
    cdef int n_threads = scratch.n_threads
    for task in prange((n_rows + size - 1) // size, nogil=True, num_threads=n_threads,
                       schedule="static"):
        dense_task(batch, &votes, works + omp_get_thread_num(), X, used, task * size,
                   min(size, n_rows - task * size))


cdef run_sparse(
    TreeEvaluator self, const Batch *batch, const double[::1] values,
    const int32_t[::1] columns, const int64_t[::1] starts, Votes votes, Scratch scratch
):
    cdef int64_t n_rows = starts.shape[0] - 1, size = scratch.n_blocks * CWB_BLOCK, task
    cdef SparseRows X
    cdef Work *works = scratch.works
    cdef int n_threads = scratch.n_threads
    X.values = &values[0] if values.shape[0] else NULL
    X.columns = &columns[0] if columns.shape[0] else NULL
    X.starts = &starts[0]
    X.column_of = &self.column_of[0] if self.n_features else NULL
    for task in prange((n_rows + size - 1) // size, nogil=True, num_threads=n_threads,
                       schedule="static"):
        sparse_task(batch, &votes, works + omp_get_thread_num(), &X, task * size,
                    min(size, n_rows - task * size))
