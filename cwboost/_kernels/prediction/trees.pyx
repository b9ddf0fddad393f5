"""Outputs and scores of a batch of binary trees on new rows.

The score s of a row is sum over trees t of coef[t, s] h_t(x), of graded trees, which have an output
for every score, coef[t, s] h_ts(x). It is added in the order of the trees in every thread and
block: the bits are the same for any number of threads and any chunks of rows. The
used features of a block of 64 rows are copied to float64; sparse rows are spread over such a block.
Trees on codes (see trees.h) need only one block of values, from which the codes of each are found.
Up to 64 blocks, of about 1 MB, meet some trees before the next: large trees are read less often.
"""

from cython.parallel cimport prange
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from cwboost._kernels.common.arrays cimport FLOAT64, INT8, INT32, INT64, as_vector, data_of
from cwboost._kernels.common.cpu cimport cwb_set, instruction_set
from cwboost._kernels.common.openmp cimport omp_get_thread_num
from cwboost._kernels.common.typedefs cimport feature_t

from cwboost._kernels.prediction.tree_nodes import NODE, TreeLayouts, padded

cdef extern from "prediction/trees.h" nogil:
    const int CWB_BLOCK
    ctypedef struct cwb_node:
        pass
    ctypedef struct cwb_coded_node:
        pass
    ctypedef struct cwb_coding:
        pass
    ctypedef struct cwb_trees:
        const cwb_node *nodes
        const cwb_coded_node *coded
        const int64_t *start
        const int32_t *order
        const int64_t *order_start
        const int32_t *n_inner
        const int32_t *height
        const int8_t *output
        int64_t width, n_outputs, n_trees, max_reached
        int is_graded
        const cwb_coding *codings
        const double *thresholds
        int64_t n_codings
    ctypedef struct cwb_block:
        const double *values
        const uint8_t *codes
        int64_t n_rows
        int simple
    int64_t max_reached "CWB_BEST(max_reached)"
    int64_t max_cells "CWB_BEST(max_cells)"
    void cwb_code "CWB_BEST(code)"(const cwb_trees *trees, const double *values, uint8_t *codes)
    void cwb_sets "CWB_BEST(sets)"(
        const cwb_trees *trees, int64_t first, int64_t last, const cwb_block *block,
        uint64_t *reach, uint64_t *out)
    void cwb_places "CWB_BEST(places)"(
        const cwb_trees *trees, int64_t t, const cwb_block *block, uint64_t *reach,
        uint32_t *place)
    void cwb_add_outputs "CWB_BEST(add_outputs)"(
        const int8_t *output, int64_t width, const uint32_t *place, int64_t n_rows,
        const double *coef, double *scores)
    void cwb_add_set "CWB_BEST(add_set)"(uint64_t set, double value, double *scores)
    void cwb_fetch_nodes(const cwb_trees *trees, int64_t t, int64_t part, int64_t n_parts)
    void cwb_write_outputs(const uint64_t *sets, int64_t n_trees, int64_t n_rows,
                           int8_t *outputs, int64_t row_stride)

cwb_set = instruction_set()

# Trees that meet all blocks of a task before the next: as many as a cache holds.
cdef int64_t TREES_AT_ONCE = 64
cdef int64_t NODES_AT_ONCE = 4096
# Blocks of a task.
cdef int64_t BLOCKS_AT_ONCE = 64
cdef int64_t BYTES_AT_ONCE = 1 << 20

assert NODE.itemsize == sizeof(cwb_node)


cdef class TreeEvaluator:
    """A batch of trees laid out for evaluation, from checked arrays of `ThresholdTrees.nodes`.

    The rows that its methods take are a dense matrix of uint8, float32 or float64, or the CSR
    triple (data, indices, indptr).
    """

    # Threads share an evaluator: no field changes after the constructor.
    cdef object layouts            # TreeLayouts
    cdef cwb_trees trees           # without the nodes, which a layout has
    cdef tuple arrays              # those of `trees`
    cdef int32_t[::1] used         # columns of X that some tree reads
    cdef int32_t[::1] column_of    # place of a feature in `used`, -1 for other features
    cdef readonly int64_t n_features
    cdef readonly int64_t n_trees

    def __init__(self, offsets, feature, threshold, left, missing, output, n_features):
        self.n_trees = len(offsets) - 1
        self.n_features = n_features
        used = np.flatnonzero(np.bincount(feature[feature >= 0]))
        # One more, for -1, the feature of a leaf.
        column_of = np.full(n_features + 1, -1, dtype=np.int32)
        column_of[used] = np.arange(len(used))
        self.used = used.astype(np.int32)
        self.column_of = column_of
        offsets, left = as_vector(offsets, INT64), as_vector(left, INT32)
        feature = column_of[feature]
        self.trees.is_graded = output.ndim == 2
        self.trees.n_outputs = output.shape[1] if output.ndim == 2 else 1
        rows = padded(output.reshape(len(output), self.trees.n_outputs))
        self.trees.width = rows.shape[1]
        place = self._order_nodes(offsets, feature, left, as_vector(rows.ravel(), INT8))
        self.layouts = TreeLayouts((offsets, feature, threshold, left, missing, output), place)

    cdef object _order_nodes(self, const int64_t[::1] offsets, const int32_t[::1] feature,
                             const int32_t[::1] left, const int8_t[::1] output):
        """Find the order and the heights of the trees; return the place of each node in its tree.

        Children come after their parents.
        """
        cdef int64_t n = feature.shape[0], n_trees = self.n_trees, t, v, first, at = 0
        cdef bint is_graded = self.trees.is_graded
        of_trees, order_start = np.zeros((2, n_trees), np.int32), np.zeros(n_trees + 1, np.int64)
        of_nodes = np.zeros((3, n), np.int32)
        cdef int32_t[::1] n_inner = of_trees[0], height = of_trees[1]
        cdef int32_t[::1] place = of_nodes[0], depth = of_nodes[1], order = of_nodes[2]
        cdef int64_t[::1] begin = order_start
        self.trees.max_reached = min(max_cells if is_graded else max_reached, n)
        for t in range(n_trees):
            first = offsets[t]
            for v in range(first, offsets[t + 1]):
                place[v] = <int32_t> (v - first)
                height[t] = max(height[t], depth[v])
                if feature[v] >= 0:
                    n_inner[t] += 1
                    depth[first + left[v]] = depth[first + left[v] + 1] = depth[v] + 1
            if n_inner[t] <= self.trees.max_reached:
                for v in range(first, offsets[t + 1]):
                    if feature[v] >= 0:
                        order[at], at = place[v], at + 1
                for v in range(first, offsets[t + 1]):
                    if feature[v] < 0 and (is_graded or output[v] > 0):
                        order[at], at = place[v], at + 1
            begin[t + 1] = at
        self.arrays = of_trees, order_start, of_nodes, offsets.base, output.base
        self.trees.n_trees = n_trees
        self.trees.start, self.trees.output = &offsets[0], &output[0] if n else NULL
        self.trees.order, self.trees.order_start = &order[0] if n else NULL, &begin[0]
        self.trees.n_inner = &n_inner[0] if n_trees else NULL
        self.trees.height = &height[0] if n_trees else NULL
        return of_nodes[0]

    def outputs(self, X, int n_threads=1):
        """Return int8 outputs, (n_rows, n_trees), of graded trees (n_rows, n_trees, n_outputs)."""
        shape = (n_rows_of(X), self.n_trees, self.trees.n_outputs)
        out = np.empty(shape if self.trees.is_graded else shape[:2], dtype=np.int8)
        self._run(X, n_threads, outputs=out)
        return out

    def cells(self, X, int n_threads=1):
        """Return the place in each tree of the leaf that a row is in, (n_rows, n_trees), int32."""
        out = np.empty((n_rows_of(X), self.n_trees), dtype=np.int32)
        self._run(X, n_threads, cells=out)
        return out

    def sets(self, X, int n_threads=1):
        """Return the rows on which each tree is +1, (ceil(n_rows / 64), n_trees), uint64.

        Row ``64 * b + k`` is bit k of block b; bits beyond the rows are anything. Graded trees have
        no sets.
        """
        if self.trees.is_graded:
            raise ValueError("graded trees have no sets")
        out = np.empty((-(-n_rows_of(X) // CWB_BLOCK), self.n_trees), dtype=np.uint64)
        self._run(X, n_threads, sets=out)
        return out

    def scores(self, X, coef, int n_threads=1):
        """Return float64 scores, (n_rows, n_scores).

        `coef` is a csr_array of shape (n_trees, n_scores); of graded trees, `padded` rows of
        n_outputs numbers.
        """
        if self.trees.is_graded and coef.shape != (self.n_trees, self.trees.width):
            raise ValueError(f"coef must have shape {(self.n_trees, self.trees.width)}, "
                             f"got {coef.shape}")
        n_scores = self.trees.n_outputs if self.trees.is_graded else coef.shape[1]
        out = np.empty((n_rows_of(X), n_scores))
        self._run(X, n_threads, coef, scores=out)
        return out

    def _run(self, X, int n_threads, coef=None, scores=None, outputs=None, cells=None, sets=None):
        """Fill those arrays that are given with the results for the rows of X."""
        cdef int64_t n_rows = n_rows_of(X), n_blocks = (n_rows + CWB_BLOCK - 1) // CWB_BLOCK
        cdef Votes votes
        nodes = self.layouts.for_rows(n_rows)
        data, indptr, indices = np.zeros(0), np.zeros(self.n_trees + 1), np.zeros(0)
        if self.trees.is_graded and coef is not None:
            data = np.ascontiguousarray(coef).ravel()
        elif coef is not None:
            data, indptr, indices = coef.data, coef.indptr, coef.indices
        indptr, data = as_vector(indptr, INT64), as_vector(data, FLOAT64)
        indices = as_vector(indices, INT32)
        votes.indptr, votes.data = <int64_t *> data_of(indptr), <double *> data_of(data)
        votes.indices = <int32_t *> data_of(indices)
        votes.n_scores = 0 if scores is None else scores.shape[1]
        is_padded = self.trees.is_graded and votes.n_scores
        votes.width = self.trees.width if is_padded else votes.n_scores
        votes.scores = NULL if scores is None else <double *> data_of(scores)
        votes.cells = NULL if cells is None else <int32_t *> data_of(cells)
        votes.outputs = NULL if outputs is None else <int8_t *> data_of(outputs)
        votes.sets = NULL if sets is None else <uint64_t *> data_of(sets)
        cdef cwb_trees trees = trees_of(self, nodes)
        n_threads = max(1, min(n_threads, n_blocks))
        cdef Room room = room_for(len(self.used), nodes.n_columns, votes.width,
                                  trees.max_reached, (n_blocks + n_threads - 1) // n_threads)
        memory = np.zeros(n_threads * room.size + 8)
        if isinstance(X, tuple):
            run_sparse(self, &trees, X[0], X[1], X[2], &votes, &room, memory, n_threads)
        elif X.dtype == np.uint8:
            run_dense[uint8_t](self, &trees, X, &votes, &room, memory, n_threads)
        elif X.dtype == np.float32:
            run_dense[float](self, &trees, X, &votes, &room, memory, n_threads)
        else:
            run_dense[double](self, &trees, X, &votes, &room, memory, n_threads)


def n_rows_of(X):
    return len(X[2]) - 1 if isinstance(X, tuple) else X.shape[0]


cdef cwb_trees trees_of(TreeEvaluator self, nodes):
    """Return the struct of the trees with `TreeNodes`, which must outlive it."""
    cdef cwb_trees trees = self.trees
    trees.nodes, trees.coded, trees.n_codings = NULL, NULL, 0
    if nodes.codings is None:
        trees.nodes = <const cwb_node *> data_of(nodes.nodes)
    else:
        trees.coded = <const cwb_coded_node *> data_of(nodes.nodes)
        trees.codings = <const cwb_coding *> data_of(nodes.codings)
        trees.thresholds = <const double *> data_of(nodes.thresholds)
        trees.n_codings = len(nodes.codings)
    return trees


cdef struct Votes:
    # Coefficients, CSR or of graded trees in padded rows, and the arrays of results; n_scores 0 or
    # an array NULL: not computed.
    const int64_t *indptr
    const int32_t *indices
    const double *data
    int64_t n_scores, width
    double *scores
    int8_t *outputs
    int32_t *cells
    uint64_t *sets


cdef struct Room:
    # Scratch of one thread, in doubles: of a block, and where its parts begin.
    int64_t n_blocks     # of a task
    int64_t n_values, n_codes
    int64_t codes, scores, reach, sets, size


cdef struct Work:
    double *values       # (n_blocks, n_used, 64); with codes, of one block
    uint8_t *codes       # (n_blocks, n_columns, 64), and 64 more
    double *scores       # (n_blocks, n_scores, 64); of graded trees (n_blocks, 64, width)
    uint64_t *reach      # nodes of the largest tree that is not walked
    uint64_t *sets       # trees at once
    int64_t values_stride, codes_stride  # from a block to the next
    bint simple          # no value of the task is NaN


cdef Room room_for(int64_t n_used, int64_t n_columns, int64_t width, int64_t max_reached,
                   int64_t n_blocks):
    """Return the room of tasks of up to `n_blocks` blocks; `n_columns` of codes, 0 without."""
    cdef Room room
    cdef int64_t n_block
    room.n_values, room.n_codes = max(1, n_used) * CWB_BLOCK, n_columns * CWB_BLOCK // 8
    n_block = (room.n_codes if n_columns else room.n_values) + width * CWB_BLOCK
    room.n_blocks = BYTES_AT_ONCE // (8 * n_block)
    room.n_blocks = max(1, min(BLOCKS_AT_ONCE, room.n_blocks, n_blocks))
    room.codes = room.n_values * (1 if n_columns else room.n_blocks)
    room.scores = room.codes + room.n_blocks * room.n_codes + CWB_BLOCK // 8
    room.reach = room.scores + room.n_blocks * width * CWB_BLOCK
    room.sets = room.reach + 2 * max_reached + 8
    room.size = room.sets + TREES_AT_ONCE
    return room


cdef Work work_of(double *memory, const Room *room) noexcept nogil:
    """Return the work of this thread in the memory of all: zeros, from a cache line on."""
    cdef Work work
    memory += omp_get_thread_num() * room.size
    work.values, work.codes = memory, <uint8_t *> (memory + room.codes)
    work.scores, work.reach = memory + room.scores, <uint64_t *> (memory + room.reach)
    work.sets = <uint64_t *> (memory + room.sets)
    work.values_stride = 0 if room.n_codes else room.n_values
    work.codes_stride, work.simple = 8 * room.n_codes, False
    return work


cdef void code_block(Work *work, const cwb_trees *trees, int64_t block) noexcept nogil:
    """Find the codes of a block, if the trees compare codes."""
    if trees.coded != NULL:
        cwb_code(trees, work.values + block * work.values_stride,
                 work.codes + block * work.codes_stride)


cdef void fill_dense(
    Work *work, const cwb_trees *trees, const feature_t[:, :] X, const int32_t[::1] used,
    int64_t first, int64_t n_rows
) noexcept nogil:
    """Copy the used features of rows first ... first + n_rows - 1."""
    cdef int64_t u, row, block, done = 0, n_unknown = 0
    cdef double *x
    for block in range((n_rows + CWB_BLOCK - 1) // CWB_BLOCK):
        x = work.values + block * work.values_stride
        done = block * CWB_BLOCK
        for u in range(used.shape[0]):
            for row in range(min(CWB_BLOCK, n_rows - done)):
                x[u * CWB_BLOCK + row] = <double> X[first + done + row, used[u]]
                n_unknown += x[u * CWB_BLOCK + row] != x[u * CWB_BLOCK + row]
        code_block(work, trees, block)
    work.simple = n_unknown == 0


cdef struct SparseRows:
    const double *values
    const int32_t *columns
    const int64_t *starts
    const int32_t *column_of


cdef int64_t spread(
    Work *work, const SparseRows *X, int64_t first, int64_t done, int64_t n_rows, bint clear
) noexcept nogil:
    """Spread rows of a block; with `clear`, set their entries to zero. Return how many are NaN."""
    cdef int64_t i, row, u, n_unknown = 0
    cdef double *x = work.values + done // CWB_BLOCK * work.values_stride
    for row in range(min(CWB_BLOCK, n_rows - done)):
        for i in range(X.starts[first + done + row], X.starts[first + done + row + 1]):
            u = X.column_of[X.columns[i]]
            if u >= 0:
                x[u * CWB_BLOCK + row] = 0 if clear else X.values[i]
                n_unknown += X.values[i] != X.values[i]
    return n_unknown


cdef void fill_sparse(
    Work *work, const cwb_trees *trees, const SparseRows *X, int64_t first, int64_t n_rows
) noexcept nogil:
    """Do the same from CSR rows. Without codes, `clear_sparse` is to follow."""
    cdef int64_t block, n_unknown = 0
    for block in range((n_rows + CWB_BLOCK - 1) // CWB_BLOCK):
        n_unknown += spread(work, X, first, block * CWB_BLOCK, n_rows, False)
        if trees.coded != NULL:
            code_block(work, trees, block)
            spread(work, X, first, block * CWB_BLOCK, n_rows, True)
    work.simple = n_unknown == 0


cdef void clear_sparse(
    Work *work, const SparseRows *X, int64_t first, int64_t n_rows
) noexcept nogil:
    """Set the entries of the rows that `fill_sparse` spread to zero again."""
    cdef int64_t block
    for block in range((n_rows + CWB_BLOCK - 1) // CWB_BLOCK):
        spread(work, X, first, block * CWB_BLOCK, n_rows, True)


cdef void evaluate_block(
    const cwb_trees *trees, int64_t first, int64_t last,
    const Votes *votes, Work *work, int64_t index, int64_t first_row, int64_t n_rows
) noexcept nogil:
    """Compute the results of trees [first, last) for the rows of one of the work's blocks."""
    cdef int64_t t, i
    cdef double *scores = work.scores + index * votes.width * CWB_BLOCK
    cdef cwb_block block
    block.values = work.values + index * work.values_stride
    block.codes = work.codes + index * work.codes_stride
    block.n_rows, block.simple = n_rows, work.simple
    if trees.is_graded or votes.cells != NULL:
        for t in range(first, last):
            evaluate_cells(trees, t, votes, &block, work.reach, scores, first_row)
        return
    cwb_sets(trees, first, last, &block, work.reach, work.sets)
    for t in range(first, last):
        for i in range(votes.indptr[t], votes.indptr[t + 1]):
            cwb_add_set(work.sets[t - first], votes.data[i],
                        scores + <int64_t> votes.indices[i] * CWB_BLOCK)
    if votes.outputs != NULL:
        cwb_write_outputs(work.sets, last - first, n_rows,
                          votes.outputs + first_row * trees.n_trees + first, trees.n_trees)
    if votes.sets != NULL:
        memcpy(votes.sets + first_row // CWB_BLOCK * trees.n_trees + first, work.sets,
               (last - first) * sizeof(uint64_t))


cdef void evaluate_cells(
    const cwb_trees *trees, int64_t t, const Votes *votes, const cwb_block *block,
    uint64_t *reach, double *scores, int64_t first_row
) noexcept nogil:
    """Compute the results of a tree from the leaves in which the rows of a block are."""
    cdef uint32_t[64] place  # of CWB_BLOCK rows
    cdef const int8_t *output = trees.output + trees.start[t] * trees.width
    cdef int64_t i, row
    cwb_places(trees, t, block, reach, place)
    if votes.n_scores:
        cwb_add_outputs(output, trees.width, place, block.n_rows,
                        votes.data + t * trees.width, scores)
    for row in range(block.n_rows):
        i = (first_row + row) * trees.n_trees + t
        if votes.outputs != NULL:
            memcpy(votes.outputs + i * trees.n_outputs, output + place[row] * trees.width,
                   trees.n_outputs)
        if votes.cells != NULL:
            votes.cells[i] = <int32_t> place[row]


cdef void evaluate(
    const cwb_trees *trees, const Votes *votes, Work *work, int64_t first_row, int64_t n_rows
) noexcept nogil:
    """Compute the results of the rows whose values, or codes, are in the work."""
    cdef int64_t first = 0, last, block, row, s
    cdef const int64_t *start = trees.start
    cdef int64_t n_blocks = (n_rows + CWB_BLOCK - 1) // CWB_BLOCK
    cdef int64_t row_stride = votes.width if trees.is_graded else 1
    cdef int64_t score_stride = 1 if trees.is_graded else CWB_BLOCK
    memset(work.scores, 0, n_blocks * votes.width * CWB_BLOCK * sizeof(double))
    while first < trees.n_trees:
        last = first + 1
        while (last < min(first + TREES_AT_ONCE, trees.n_trees)
               and start[last + 1] - start[first] <= NODES_AT_ONCE):
            last += 1
        for block in range(n_blocks):
            if trees.coded != NULL and last < trees.n_trees:
                cwb_fetch_nodes(trees, last, block, n_blocks)
            evaluate_block(trees, first, last, votes, work, block,
                           first_row + block * CWB_BLOCK,
                           min(CWB_BLOCK, n_rows - block * CWB_BLOCK))
        first = last
    for row in range(n_rows):
        for s in range(votes.n_scores):
            votes.scores[(first_row + row) * votes.n_scores + s] = work.scores[
                row // CWB_BLOCK * votes.width * CWB_BLOCK
                + row % CWB_BLOCK * row_stride + s * score_stride]


cdef void dense_task(
    const cwb_trees *trees, const Votes *votes, Work work,
    const feature_t[:, :] X, const int32_t[::1] used, int64_t first, int64_t n_rows
) noexcept nogil:
    fill_dense(&work, trees, X, used, first, n_rows)
    evaluate(trees, votes, &work, first, n_rows)


cdef void sparse_task(
    const cwb_trees *trees, const Votes *votes, Work work,
    const SparseRows *X, int64_t first, int64_t n_rows
) noexcept nogil:
    fill_sparse(&work, trees, X, first, n_rows)
    evaluate(trees, votes, &work, first, n_rows)
    if trees.coded == NULL:
        clear_sparse(&work, X, first, n_rows)


cdef run_dense(
    TreeEvaluator self, const cwb_trees *trees, const feature_t[:, :] X, const Votes *votes,
    const Room *room, double[::1] memory, int n_threads
):
    cdef int64_t n_rows = X.shape[0], size = room.n_blocks * CWB_BLOCK, task
    cdef const int32_t[::1] used = self.used
    cdef double *scratch = <double *> ((<size_t> &memory[0] + 63) & ~<size_t> 63)
    for task in prange((n_rows + size - 1) // size, nogil=True, num_threads=n_threads,
                       schedule="static"):
        dense_task(trees, votes, work_of(scratch, room), X, used, task * size,
                   min(size, n_rows - task * size))


cdef run_sparse(
    TreeEvaluator self, const cwb_trees *trees, const double[::1] values,
    const int32_t[::1] columns, const int64_t[::1] starts, const Votes *votes, const Room *room,
    double[::1] memory, int n_threads
):
    cdef int64_t n_rows = starts.shape[0] - 1, size = room.n_blocks * CWB_BLOCK, task
    cdef SparseRows X
    cdef double *scratch = <double *> ((<size_t> &memory[0] + 63) & ~<size_t> 63)
    X.values = &values[0] if values.shape[0] else NULL
    X.columns = &columns[0] if columns.shape[0] else NULL
    X.starts, X.column_of = &starts[0], &self.column_of[0]
    for task in prange((n_rows + size - 1) // size, nogil=True, num_threads=n_threads,
                       schedule="static"):
        sparse_task(trees, votes, work_of(scratch, room), &X, task * size,
                    min(size, n_rows - task * size))
