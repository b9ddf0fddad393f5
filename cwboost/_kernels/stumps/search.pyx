"""Exact search for the best decision stump of every target, all targets in one pass.

For signed weights r_t(i) the best stump of target t is argmax over h of |sum_i r_t(i) h(x_i)|,
where h is -1 or +1 on either side of a threshold on one feature, or constant. The examples of
every feature are sorted once (sorted_columns.pyx); `StumpSearch.search` then

1. turns the weights into fixed-point numbers, so that sums do not depend on their order;
2. scans every column with int32 sums, a vector of targets at a time (scan_body.h);
3. settles, for each target, the columns that the scan's error bound cannot distinguish from the
   best (settle_body.h), in the order of features;
4. writes the outputs of the winners from the sorted order, without reading the features again.

Threads work on different columns and write to separate slots, and every sum is exact: the results
have the same bits at any number of threads.

`StumpSearch.search_shared` finds the one stump that serves all targets best (shared.h).
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY, fabs, isfinite, rint
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

import numpy as np

from cwboost._kernels.common.arrays cimport (
    FLOAT64, INT8, INT32, UINT8, data_of, new_matrix, new_vector)
from cwboost._kernels.common.cpu cimport cwb_set, instruction_set
from cwboost._kernels.stumps.sorted_columns cimport SortedColumns, cwb_column, cwb_row

cdef extern from "stumps/kernels.h" nogil:
    enum:
        CWB_VECTOR
    const double CWB_COARSE
    ctypedef struct cwb_weights:
        const double *r
        int64_t stride
        const double *scales
        int64_t n_targets
    ctypedef struct cwb_target:
        const double *r
        double scale, total
    ctypedef struct cwb_rows:
        const int32_t *rows
        const int32_t *half
        int lanes
    ctypedef struct cwb_stump:
        double edge, above, missing
        int64_t position
    ctypedef struct cwb_traced:
        const int32_t *trace
        int64_t lanes, lane
        double least, doubt
        int alone
    int unit_lanes "CWB_BEST(unit_lanes)"
    int most_lanes "CWB_BEST(most_lanes)"
    double cwb_mass "CWB_BEST(mass)"(const double *r, int64_t n)
    double cwb_total "CWB_BEST(total)"(const double *r, double scale, int64_t n)
    double cwb_edge "CWB_BEST(edge)"(const double *r, const uint8_t *bits, int64_t n)
    cwb_stump cwb_settle "CWB_BEST(settle)"(
        const cwb_target *target, const cwb_column *c, const cwb_traced *traced)
    double cwb_scale_of(double mass)
    double cwb_scan_bound(const cwb_column *c)
    int64_t cwb_chunks(const cwb_column *c)

cdef extern from "stumps/outputs.h" nogil:
    void cwb_write_outputs(const cwb_column *c, int64_t position, int above, int missing,
                           int64_t n_samples, uint8_t *bits)

cdef extern from "stumps/passes.h" nogil:
    int64_t cwb_row_tasks(int64_t n)
    void cwb_masses(const cwb_weights *w, int64_t n, double *sums, int n_threads)
    void cwb_totals(const cwb_weights *w, int64_t n, double *sums, int n_threads)
    void cwb_fill_all(const cwb_weights *w, int lanes, int64_t n, int32_t *rows, int n_threads)
    void cwb_scans(const cwb_rows *rows, const cwb_column *columns, const int64_t *features,
                   int64_t n_columns, const int64_t *chunk_starts, int32_t *best, int32_t *trace,
                   int n_threads)
    void cwb_stump_edges(const cwb_weights *w, int64_t n, const uint8_t *bits, double *sums,
                         int n_threads)

cdef extern from "stumps/shared.h" nogil:
    ctypedef struct cwb_together:
        const double *rows
        const double *totals
        int64_t lanes
    void cwb_fill_together(const cwb_weights *w, int64_t lanes, int64_t n, double *rows)
    cwb_stump cwb_shared_settle(const cwb_together *t, const cwb_column *c, double *sums)

cdef extern from "common/threshold.h" nogil:
    double cwb_float32_threshold_between(double a, double b)

cwb_set = instruction_set()

cdef int64_t CACHED_BYTES = 3 << 18
# Tiny weights are multiplied by this.
cdef double ENLARGED = 2.0**600


# The winner of a search: column -1 is the constant.
cdef struct Winner:
    int64_t column
    cwb_stump stump


# The rows of some targets, and what a scan of them fills in: a row of lanes of `best` for every
# column searched, the trace of every column from its first chunk on.
cdef struct Slice:
    cwb_rows rows
    int32_t *best
    int32_t *trace


# The numbers of the matrix that was sorted: a dense one, if `indices` is NULL, or a CSC matrix.
cdef struct Entries:
    const char *data
    int64_t row_step, column_step
    int size
    const void *indices
    const void *indptr
    bint wide


cdef class Scratch:
    """Memory kept between calls, aligned to cache lines, so that a row of 64 bytes is one line."""

    cdef void *memory
    cdef int64_t n_bytes

    def __dealloc__(self):
        free(self.memory)

    cdef void *room(self, int64_t n_bytes) except NULL:
        """Return room for `n_bytes`; what it held before may be lost."""
        if self.memory == NULL or self.n_bytes < n_bytes:
            free(self.memory)
            self.memory = malloc(n_bytes + 64)
            if self.memory == NULL:
                raise MemoryError("no memory for the search")
            self.n_bytes = n_bytes
        return <void *> ((<size_t> self.memory + 63) & ~<size_t> 63)


cdef class StumpSearch:
    """Search over sorted columns; keeps scratch memory between calls.

    Two Python threads must not call it at once. Thresholds lie between entries of the matrix that
    was sorted: `data` is this matrix, in any layout of aligned numbers, or with `indices` and
    `indptr` the stored numbers of a CSC matrix whose indices ascend in every column.
    """

    cdef SortedColumns sorted
    cdef tuple arrays
    cdef Entries matrix
    cdef cwb_column *columns
    cdef int64_t n_samples
    cdef Scratch rows, half, best, trace, winners, numbers, sums
    cdef int64_t[::1] chunk_starts

    def __init__(self, SortedColumns columns not None, data, indices=None, indptr=None):
        cdef int64_t f
        self.sorted, self.columns = columns, columns.columns
        self.n_samples = columns.n_samples
        self.arrays = data, indices, indptr
        self.matrix.data, self.matrix.size = <const char *> data_of(data), data.itemsize
        self.matrix.indices = self.matrix.indptr = NULL
        if indices is None:
            self.matrix.row_step, self.matrix.column_step = data.strides
        else:
            self.matrix.wide = indices.dtype == np.int64
            self.matrix.indices, self.matrix.indptr = data_of(indices), data_of(indptr)
        self.rows, self.half, self.best, self.trace = Scratch(), Scratch(), Scratch(), Scratch()
        self.winners, self.numbers, self.sums = Scratch(), Scratch(), Scratch()
        self.chunk_starts = np.zeros(columns.n_features + 1, dtype=np.int64)
        for f in range(columns.n_features):
            self.chunk_starts[f + 1] = self.chunk_starts[f] + cwb_chunks(&columns.columns[f])

    def search(self, const double[:, :] weights, const int64_t[::1] features,
               int n_threads):
        """Return the fields of `FoundStumps` for the best stump per row of weights.

        The last axis of `weights` is contiguous; the features to search ascend and are in range.
        """
        cdef int64_t n_targets = weights.shape[0], t
        cdef double *scales = <double *> self.numbers.room(2 * n_targets * sizeof(double))
        cdef double *totals = scales + n_targets
        cdef Winner *found = <Winner *> self.winners.room(n_targets * sizeof(Winner))
        cdef cwb_weights w
        w.r, w.scales, w.n_targets = &weights[0, 0], scales, n_targets
        w.stride = weights.strides[0] // <int64_t> sizeof(double)
        if self.measure(&w, scales, totals, n_threads):
            # The mass is so small that a scale would overflow; a power of two loses nothing.
            factor = np.array([1.0 if isfinite(scales[t]) else ENLARGED for t in range(n_targets)])
            return enlarged(self.search, weights, factor, features, n_threads)
        self.scan_and_settle(&w, totals, features, found, n_threads)
        return self.write(&w, totals, found, n_threads)

    cdef double *room_for_sums(self, int64_t n_targets) except NULL:
        """Return room for a sum of each target per task of examples."""
        return <double *> self.sums.room(
            cwb_row_tasks(self.n_samples) * n_targets * sizeof(double))

    cdef bint measure(self, const cwb_weights *weights, double *scales, double *totals,
                      int n_threads) except -1:
        # Threads split the examples, not the targets: the solver wrote the weights by examples, so
        # that each thread has its part in its cache. Scales are powers of two: integer weights
        # stay integers, and equal sums stay equal.
        cdef int64_t n = self.n_samples, n_targets = weights.n_targets, t
        cdef int n_used = threads(n * n_targets, n_threads)
        cdef double *sums = self.room_for_sums(n_targets)
        cdef bint small = False
        with nogil:
            cwb_masses(weights, n, sums, n_used)
        for t in range(n_targets):
            scales[t] = cwb_scale_of(self.sum_of(sums, n_targets, t))
            if scales[t] == 0.0:
                raise ValueError(
                    f"weights must be finite and sum to a finite number, row {t} does not"
                )
            small = small or not isfinite(scales[t])
        with nogil:
            cwb_totals(weights, n, sums, n_used)
        for t in range(n_targets):
            totals[t] = self.sum_of(sums, n_targets, t)
        return small

    cdef double sum_of(self, const double *sums, int64_t n_targets, int64_t t) noexcept nogil:
        """Return the sum of target t over the tasks."""
        cdef double sum = 0.0
        cdef int64_t task
        for task in range(cwb_row_tasks(self.n_samples)):
            sum += sums[task * n_targets + t]
        return sum

    cdef int scan_and_settle(self, const cwb_weights *weights, const double *totals,
                             const int64_t[::1] features, Winner *found,
                             int n_threads) except -1:
        """Search for all targets; one walk serves a slice of the targets."""
        cdef int64_t n_targets = weights.n_targets, first = 0, s, lanes, n_slices, n_units
        cdef int64_t n_vectors = (n_targets + CWB_VECTOR - 1) // CWB_VECTOR
        cdef int64_t widest = most_lanes // unit_lanes
        cdef int64_t unit = unit_lanes, nbytes
        cdef cwb_weights part = weights[0]
        # If half of a wide register would be unused, rows are shorter, for a narrow register.
        if n_vectors == 1 or n_vectors == 3:
            unit = CWB_VECTOR
        n_units = (n_vectors * CWB_VECTOR + unit - 1) // unit
        nbytes = unit * 4 * self.n_samples
        # If rows stay in the second cache, a second pass over the positions pays.
        if 2 * nbytes <= CACHED_BYTES:
            widest = min(widest, CACHED_BYTES // nbytes)
        n_slices = (n_units + widest - 1) // widest
        for s in range(n_slices):
            lanes = unit * (n_units * (s + 1) // n_slices - n_units * s // n_slices)
            part.r = weights.r + first * weights.stride
            part.scales = weights.scales + first
            part.n_targets = min(lanes, n_targets - first)
            self.search_slice(&part, totals + first, features, found + first, lanes, n_threads)
            first += lanes
        return 0

    cdef int search_slice(self, const cwb_weights *weights, const double *totals,
                          const int64_t[::1] features, Winner *found, int64_t lanes,
                          int n_threads) except -1:
        """Search for up to `lanes` targets.

        The scan gives max |E| / 2 of every column and target, in units of 2^20 / scale, with an
        error of at most cwb_scan_bound of the column.
        """
        cdef int64_t n = self.n_samples, n_columns = features.shape[0], t
        cdef int64_t n_chunks = self.chunk_starts[self.sorted.n_features]
        cdef const int64_t *chunk_starts = &self.chunk_starts[0]
        cdef int32_t *rows = <int32_t *> self.rows.room(n * lanes * sizeof(int32_t))
        cdef int32_t *half = <int32_t *> self.half.room(lanes * sizeof(int32_t))
        cdef Slice part
        part.rows.rows, part.rows.half, part.rows.lanes = rows, half, <int> lanes
        part.best = <int32_t *> self.best.room(lanes * n_columns * sizeof(int32_t))
        part.trace = <int32_t *> self.trace.room(2 * lanes * n_chunks * sizeof(int32_t))
        for t in range(lanes):
            half[t] = 0
        for t in range(weights.n_targets):
            half[t] = <int32_t> -rint(totals[t] * (0.5 * CWB_COARSE))
        with nogil:
            cwb_fill_all(weights, <int> lanes, n, rows, threads(n * lanes, n_threads))
            if n_columns > 0:
                cwb_scans(&part.rows, self.columns, &features[0], n_columns, chunk_starts,
                          part.best, part.trace,
                          threads(n * lanes * n_columns // 4, n_threads))
        n_threads = threads(2 * (n + n_columns) * weights.n_targets, n_threads)
        # As in passes.h, one thread does without a parallel region.
        if n_threads == 1:
            with nogil:
                for t in range(weights.n_targets):
                    self.settle_target(weights, totals[t], features, &part, t, &found[t])
            return 0
        for t in prange(weights.n_targets, nogil=True, schedule="dynamic", num_threads=n_threads):
            self.settle_target(weights, totals[t], features, &part, t, &found[t])
        return 0

    cdef void settle_target(self, const cwb_weights *weights, double total,
                            const int64_t[::1] features, const Slice *part, int64_t lane,
                            Winner *found) noexcept nogil:
        cdef double constant = 0.5 * CWB_COARSE * fabs(total), sure = constant, bound
        cdef int64_t f, n_columns = features.shape[0], n_left = 0, lanes = part.rows.lanes
        cdef const int32_t *best = part.best + lane
        cdef const cwb_column *column
        cdef cwb_stump stump
        cdef cwb_traced traced
        cdef cwb_target target
        target.r = weights.r + lane * weights.stride
        target.scale, target.total = weights.scales[lane], total
        # The constants come first: they win ties.
        found.column = -1
        found.stump.edge = fabs(total)
        found.stump.above = found.stump.missing = total
        found.stump.position = -1
        for f in range(n_columns):
            sure = max(sure, best[f * lanes] - cwb_scan_bound(&self.columns[features[f]]))
        for f in range(n_columns):
            n_left += best[f * lanes] + cwb_scan_bound(&self.columns[features[f]]) >= sure
        traced.alone = n_left == 1 and constant + 1 < sure
        traced.lanes, traced.lane = lanes, lane
        for f in range(n_columns):
            column = &self.columns[features[f]]
            bound = cwb_scan_bound(column)
            if best[f * lanes] + bound < sure:
                continue
            traced.trace = part.trace + 2 * lanes * self.chunk_starts[features[f]]
            traced.least = sure - bound
            traced.doubt = 4 / CWB_COARSE * bound
            stump = cwb_settle(&target, column, &traced)
            if traced.alone or stump.edge > found.stump.edge:
                found.column = features[f]
                found.stump = stump

    cdef object write(self, const cwb_weights *weights, const double *totals,
                      const Winner *found, int n_threads):
        cdef int64_t n = self.n_samples, n_targets = weights.n_targets, n_bytes = (n + 7) // 8, t
        polarity, missing = new_vector(n_targets, INT8), new_vector(n_targets, INT8)
        outputs, edges = new_matrix(n_targets, n_bytes, UINT8), new_vector(n_targets, FLOAT64)
        cdef int8_t *polarity_ = <int8_t *> data_of(polarity)
        cdef int8_t *missing_ = <int8_t *> data_of(missing)
        cdef uint8_t *outputs_ = <uint8_t *> data_of(outputs)
        cdef double *parts = self.room_for_sums(n_targets)
        n_threads = threads(n * n_targets, n_threads)
        if n_threads == 1:
            with nogil:
                for t in range(n_targets):
                    self.write_one(&found[t], totals[t], polarity_ + t, missing_ + t,
                                   outputs_ + t * n_bytes)
        else:
            for t in prange(n_targets, nogil=True, schedule="static", num_threads=n_threads):
                self.write_one(&found[t], totals[t], polarity_ + t, missing_ + t,
                               outputs_ + t * n_bytes)
        with nogil:
            cwb_stump_edges(weights, n, outputs_, parts, n_threads)
        for t in range(n_targets):
            (<double *> data_of(edges))[t] = self.sum_of(parts, n_targets, t)
        feature, threshold = self.locate(found, n_targets)
        return feature, threshold, polarity, missing, edges, outputs

    cdef tuple locate(self, const Winner *found, int64_t n):
        """Return features and thresholds."""
        cdef int64_t t
        feature, threshold = new_vector(n, INT32), new_vector(n, FLOAT64)
        for t in range(n):
            (<int32_t *> data_of(feature))[t] = <int32_t> found[t].column
            (<double *> data_of(threshold))[t] = self.threshold_of(&found[t])
        return feature, threshold

    cdef double threshold_of(self, const Winner *found) noexcept nogil:
        """Return the number between the entries on both sides of a stump; 0 for a constant."""
        cdef const cwb_column *column
        cdef double here, there
        cdef int64_t p = found.stump.position, end
        if found.column < 0:
            return 0.0
        column = &self.columns[found.column]
        end = column.n_forward + column.n_backward
        if p == end:
            return INFINITY
        here = entry(&self.matrix, cwb_row(column, p), found.column)
        if p + 1 == column.n_forward or p + 1 == end:
            there = column.skipped
        else:
            there = entry(&self.matrix, cwb_row(column, p + 1), found.column)
        if p < column.n_forward:
            return cwb_float32_threshold_between(here, there)
        return cwb_float32_threshold_between(there, here)

    cdef void write_one(self, const Winner *found, double total, int8_t *polarity,
                        int8_t *missing, uint8_t *bits) noexcept nogil:
        cdef cwb_column nothing
        cdef int default = 1 if total >= 0 else -1
        polarity[0] = 1 if found.stump.above >= 0 else -1
        # Without a missing value in training, NaN gets the better constant.
        missing[0] = default
        if found.stump.missing > 0:
            missing[0] = 1
        elif found.stump.missing < 0:
            missing[0] = -1
        if found.column < 0:
            nothing.n_forward = nothing.n_backward = nothing.n_missing = nothing.wide = 0
            cwb_write_outputs(&nothing, 0, -polarity[0], polarity[0], self.n_samples, bits)
        else:
            cwb_write_outputs(&self.columns[found.column], found.stump.position,
                              polarity[0], missing[0], self.n_samples, bits)

    def search_shared(self, const double[:, :] weights, const int64_t[::1] features,
                      int n_threads):
        """Do the same for the one stump that is best for all rows; its polarity is +1."""
        cdef int64_t n = self.n_samples, n_targets = weights.shape[0], t
        cdef int64_t lanes = (n_targets + 7) // 8 * 8
        cdef double mass = 0.0, edge = 0.0, scale
        cdef double[::1] totals = np.zeros(lanes), scales
        cdef Winner winner
        cdef cwb_weights w
        w.r, w.n_targets = &weights[0, 0], n_targets
        w.stride = weights.strides[0] // <int64_t> sizeof(double)
        for t in range(n_targets):
            mass += cwb_mass(w.r + t * w.stride, n)
        scale = cwb_scale_of(mass)
        if scale == 0.0:
            raise ValueError("weights must be finite and sum to a finite number")
        if not isfinite(scale):
            factor = np.full(n_targets, ENLARGED)
            return enlarged(self.search_shared, weights, factor, features, n_threads)
        scales = np.full(n_targets, scale)
        w.scales = &scales[0]
        for t in range(n_targets):
            totals[t] = cwb_total(w.r + t * w.stride, scale, n)
        winner = self.best_shared(&w, totals, features, n_threads)
        polarity, missing = np.empty(1, dtype=np.int8), np.empty(1, dtype=np.int8)
        outputs = np.empty((1, (n + 7) // 8), dtype=np.uint8)
        cdef int8_t[::1] polarity_ = polarity, missing_ = missing
        cdef uint8_t[:, ::1] outputs_ = outputs
        self.write_one(&winner, 1.0, &polarity_[0], &missing_[0], &outputs_[0, 0])
        for t in range(n_targets):
            edge += fabs(cwb_edge(w.r + t * w.stride, &outputs_[0, 0], n))
        feature, threshold = self.locate(&winner, 1)
        return feature, threshold, polarity, missing, np.array([edge]), outputs

    cdef Winner best_shared(self, const cwb_weights *w, const double[::1] totals,
                            const int64_t[::1] features, int n_threads):
        """Return the stump with the largest sum of |E_t|: the constant, or of the first column."""
        cdef int64_t n_columns = features.shape[0], lanes = totals.shape[0], f
        cdef double *rows = <double *> self.rows.room(self.n_samples * lanes * sizeof(double))
        cdef double[:, ::1] sums = np.empty((n_columns + 1, lanes))
        cdef Winner *found = <Winner *> self.winners.room(n_columns * sizeof(Winner))
        cdef Winner best
        cdef cwb_together together
        cwb_fill_together(w, lanes, self.n_samples, rows)
        together.rows, together.totals, together.lanes = rows, &totals[0], lanes
        for f in prange(n_columns, nogil=True, schedule="dynamic", chunksize=4,
                        num_threads=n_threads):
            found[f].column = features[f]
            found[f].stump = cwb_shared_settle(&together, &self.columns[features[f]],
                                               &sums[f, 0])
        best.column = best.stump.position = -1
        best.stump.above, best.stump.missing = 1.0, 0.0
        best.stump.edge = np.abs(totals).sum()
        for f in range(n_columns):
            if found[f].stump.edge > best.stump.edge:
                best = found[f]
        return best


cdef tuple enlarged(search, weights, factor, features, int n_threads):
    """Return what a search finds for each row of weights times its factor, in the present unit."""
    found = search(np.asarray(weights) * factor[:, None], features, n_threads)
    return *found[:4], found[4] / factor[:len(found[4])], found[5]


cdef double entry(const Entries *X, int64_t row, int64_t column) noexcept nogil:
    """Return an entry: by one read, or by a binary search in a sparse column."""
    cdef int64_t first, beyond, middle, end
    if X.indices == NULL:
        return number(X.data + row * X.row_step + column * X.column_step, X.size)
    first = index(X.indptr, column, X.wide)
    beyond = end = index(X.indptr, column + 1, X.wide)
    while first < beyond:
        middle = (first + beyond) // 2
        if index(X.indices, middle, X.wide) < row:
            first = middle + 1
        else:
            beyond = middle
    if first == end or index(X.indices, first, X.wide) != row:
        return 0.0
    return number(X.data + first * X.size, X.size)


cdef double number(const char *at, int size) noexcept nogil:
    if size == 1:
        return (<const uint8_t *> at)[0]
    if size == 4:
        return (<const float *> at)[0]
    return (<const double *> at)[0]


cdef int64_t index(const void *numbers, int64_t k, bint wide) noexcept nogil:
    return (<const int64_t *> numbers)[k] if wide else (<const int32_t *> numbers)[k]


cdef int threads(int64_t work, int n_threads) noexcept nogil:
    # Starting threads takes microseconds: one thread is faster below this number of operations.
    return n_threads if work > 1 << 15 else 1
