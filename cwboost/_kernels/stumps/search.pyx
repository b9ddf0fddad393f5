"""Exact search for the best decision stump of every target, all targets in one pass.

For signed weights r_t(i) the best stump of target t is argmax over h of |sum_i r_t(i) h(x_i)|,
where h is -1 or +1 on either side of a threshold on one feature, or constant. The examples of
every feature are sorted once (sorted_columns.pyx); `StumpSearch.search` then

1. turns the weights into fixed-point numbers, so that sums do not depend on their order;
2. scans every column with int32 sums, a vector of targets at a time (scan_body.h), or, if the
   weights do not fit the caches, those parts of columns that may hold a winner (bins.h);
3. settles, for each target, the columns that the scan's error bound cannot distinguish from the
   best (settle_body.h), in the order of features;
4. writes the outputs of the winners from the sorted order, without reading the features again.

Threads work on different columns and write to separate slots, and every sum is exact: the results
have the same bits at any number of threads.
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY, fabs, isfinite, rint, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

import numpy as np

from cwboost._kernels.common.arrays cimport (
    FLOAT64, INT8, INT32, UINT8, data_of, new_matrix, new_vector)
from cwboost._kernels.stumps.bins cimport BinnedColumns, Scratch, Slice
from cwboost._kernels.stumps.entries cimport Entries
from cwboost._kernels.stumps.kernels cimport (
    CWB_COARSE, CWB_VECTOR, cwb_chunks, cwb_rows, cwb_scale_of, cwb_scan_bound, cwb_stump,
    cwb_stump_kernels, cwb_target, cwb_traced, cwb_weights, kernels)
from cwboost._kernels.stumps.sorted_columns cimport SortedColumns, cwb_column, cwb_row

cdef extern from "stumps/outputs.h" nogil:
    void cwb_write_outputs(const cwb_column *c, int64_t position, int above, int missing,
                           int64_t n_samples, uint8_t *bits)

cdef extern from "stumps/passes.h" nogil:
    int64_t cwb_row_tasks(int64_t n)
    void cwb_masses(const cwb_stump_kernels *kernels, const cwb_weights *w, int64_t n,
                    double *sums, int n_threads)
    void cwb_totals(const cwb_stump_kernels *kernels, const cwb_weights *w, int64_t n,
                    double *sums, double *squares, int n_threads)
    void cwb_fill_all(const cwb_stump_kernels *kernels, const cwb_weights *w, int lanes,
                      int64_t n, int32_t *rows, int n_threads)
    void cwb_scans(const cwb_stump_kernels *kernels, const cwb_rows *rows,
                   const cwb_column *columns, const int64_t *features, int64_t n_columns,
                   const int64_t *chunk_starts, int32_t *best, int32_t *trace, int n_threads)
    void cwb_stump_edges(const cwb_stump_kernels *kernels, const cwb_weights *w, int64_t n,
                         const uint8_t *bits, double *sums, int n_threads)

cdef extern from "common/threshold.h" nogil:
    double cwb_float32_threshold_between(double a, double b)

cdef int64_t CACHED_BYTES = 3 << 18
# Rows of more bytes than this fit at most the last cache and are searched in bins first.
cdef int64_t BINNED_BYTES = 1 << 24
# If bins leave out less than half of the positions, the next searches do not use them.
cdef int SEARCHES_WITHOUT_BINS = 15


cdef class StumpSearch:
    """Search over sorted columns; keeps scratch memory between calls.

    Two Python threads must not call it at once.

    Parameters
    ----------
    columns : SortedColumns
    entries : Entries or None
        Those of the matrix that was sorted, between which thresholds lie.

    Attributes
    ----------
    use_bins : int
        Leaves out bins that hold no winner: 1 whenever possible, 0 never, -1, the default, if it
        saves time. The results have the same bits.
    """

    def __init__(self, SortedColumns columns not None, Entries entries):
        cdef int64_t f
        self.use_bins = -1
        self.without_bins = 0
        self.sorted, self.entries = columns, entries
        self.columns = columns.columns
        self.n_samples = columns.n_samples
        self.wide = columns.wide
        self.rows, self.half, self.best, self.trace = Scratch(), Scratch(), Scratch(), Scratch()
        self.winners, self.numbers = np.empty(0, dtype=FOUND), np.empty((3, 0))
        self.sums = np.empty((2, 0, 0))
        self.chunk_starts = np.zeros(columns.n_features + 1, dtype=np.int64)
        for f in range(columns.n_features):
            self.chunk_starts[f + 1] = self.chunk_starts[f] + cwb_chunks(&columns.columns[f])

    def search(self, const double[:, :] weights, const int64_t[::1] features,
               int n_threads):
        """Return the best stump per row of weights; see `cwboost.kernels.SortedFeatures.search`.

        Parameters
        ----------
        weights : (n_targets, n_samples), last axis contiguous
        features : columns to search, ascending and in range

        Returns
        -------
        feature, threshold, polarity, missing, edges, outputs, sums, norms
        """
        cdef int64_t n_targets = weights.shape[0]
        cdef double[::1] scales, totals, squares
        cdef cwb_weights w
        self.make_room(n_targets)
        scales, totals, squares = self.numbers[0], self.numbers[1], self.numbers[2]
        w.r, w.scales, w.n_targets = &weights[0, 0], &scales[0], n_targets
        w.stride = weights.strides[0] // <int64_t> sizeof(double)
        if self.measure(&w, &scales[0], &totals[0], &squares[0], n_threads):
            # The mass is so small that a scale would overflow; a power of two loses nothing.
            factor = np.where(np.isinf(scales), 2.0**600, 1.0)
            found = self.search(np.asarray(weights) * factor[:, None], features, n_threads)
            return *found[:4], found[4] / factor, found[5], found[6] / factor, found[7] / factor
        self.scan_and_settle(&w, totals, features, self.winners, n_threads)
        return self.write(&w, totals, squares, self.winners, n_threads)

    cdef int make_room(self, int64_t n_targets) except -1:
        # Kept between calls: with few examples, to make a view takes as long as a step.
        if self.winners.shape[0] != n_targets:
            self.winners = np.empty(n_targets, dtype=FOUND)
            self.numbers = np.empty((3, n_targets))
        return 0

    cdef double[:, :, ::1] room_for_sums(self, int64_t n_tasks, int64_t n_targets):
        if self.sums.shape[1] != n_tasks or self.sums.shape[2] != n_targets:
            self.sums = np.empty((2, n_tasks, n_targets))
        return self.sums

    cdef bint measure(self, const cwb_weights *weights, double *scales, double *totals,
                      double *squares, int n_threads) except -1:
        # Threads split the examples, not the targets: the solver wrote the weights by examples, so
        # that each thread has its part in its cache. Scales are powers of two: integer weights
        # stay integers, and equal sums stay equal.
        cdef int64_t n = self.n_samples, n_targets = weights.n_targets, t
        cdef int n_used = threads(n * n_targets, n_threads)
        cdef double[:, :, ::1] both = self.room_for_sums(cwb_row_tasks(n), n_targets)
        cdef double[:, ::1] sums = both[0], of_squares = both[1]
        cdef bint small = False
        with nogil:
            cwb_masses(kernels, weights, n, &sums[0, 0], n_used)
        for t in range(n_targets):
            scales[t] = cwb_scale_of(sum_of(sums, t))
            if scales[t] == 0.0:
                raise ValueError(
                    f"weights must be finite and sum to a finite number, row {t} does not"
                )
            small = small or not isfinite(scales[t])
        with nogil:
            cwb_totals(kernels, weights, n, &sums[0, 0], &of_squares[0, 0], n_used)
        for t in range(n_targets):
            totals[t], squares[t] = sum_of(sums, t), sum_of(of_squares, t)
        return small

    cdef int scan_and_settle(self, const cwb_weights *weights, const double[::1] totals,
                             const int64_t[::1] features, Found[::1] found,
                             int n_threads) except -1:
        """Search for all targets; one walk serves a slice of the targets."""
        cdef int64_t n_targets = weights.n_targets, first = 0, s, lanes, n_slices, n_units
        cdef int64_t n_vectors = (n_targets + CWB_VECTOR - 1) // CWB_VECTOR
        cdef int64_t widest = kernels.most_lanes // kernels.unit_lanes
        cdef int64_t unit = kernels.unit_lanes, nbytes
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
            self.search_slice(&part, totals[first:first + part.n_targets], features,
                              &found[first], lanes, n_threads)
            first += lanes
        return 0

    cdef int search_slice(self, const cwb_weights *weights, const double[::1] totals,
                          const int64_t[::1] features, Found *found, int64_t lanes,
                          int n_threads) except -1:
        """Search for up to `lanes` targets.

        The scan gives max |E| / 2 of every column and target, in units of 2^20 / scale, with an
        error of at most cwb_scan_bound of the column.
        """
        cdef int64_t n = self.n_samples, n_columns = features.shape[0], t
        cdef Slice part
        self.fill(weights, totals, n_columns, lanes, &part, n_threads)
        self.scan(&part, features, totals, n_threads)
        n_threads = threads(2 * (n + n_columns) * weights.n_targets, n_threads)
        if n_threads == 1:
            with nogil:
                for t in range(weights.n_targets):
                    self.settle_target(weights, totals[t], features, &part, t, &found[t])
            return 0
        for t in prange(weights.n_targets, nogil=True, schedule="dynamic", num_threads=n_threads):
            self.settle_target(weights, totals[t], features, &part, t, &found[t])
        return 0

    cdef int fill(self, const cwb_weights *weights, const double[::1] totals, int64_t n_columns,
                  int64_t lanes, Slice *part, int n_threads) except -1:
        """Fill the rows of the weights and allocate the results of a scan."""
        cdef int64_t n = self.n_samples, t
        cdef int64_t n_chunks = self.chunk_starts[self.sorted.n_features]
        cdef int32_t *rows = self.rows.room(n * lanes)
        cdef int32_t *half = self.half.room(lanes)
        part.rows.rows, part.rows.half, part.rows.lanes = rows, half, <int> lanes
        part.chunk_starts = &self.chunk_starts[0]
        part.best = self.best.room(lanes * n_columns)
        part.trace = self.trace.room(2 * lanes * n_chunks)
        for t in range(lanes):
            half[t] = 0
        for t in range(weights.n_targets):
            half[t] = <int32_t> -rint(totals[t] * (0.5 * CWB_COARSE))
        n_threads = threads(n * lanes, n_threads)
        with nogil:
            cwb_fill_all(kernels, weights, <int> lanes, n, rows, n_threads)
        return 0

    cdef int scan(self, const Slice *part, const int64_t[::1] features,
                  const double[::1] totals, int n_threads) except -1:
        """Compute the best |E| / 2 and trace of every column, in bins first if that saves time."""
        cdef int64_t n_columns = features.shape[0], n = self.n_samples, lanes = part.rows.lanes
        cdef int64_t t
        cdef bint pays = 4 * n * lanes > BINNED_BYTES and self.without_bins == 0
        cdef double[::1] sure
        if self.wide and (self.use_bins == 1 or (self.use_bins == -1 and pays)):
            if self.bins is None:
                self.bins = BinnedColumns(self.sorted, n_threads)
            sure = np.full(lanes, np.inf)
            for t in range(totals.shape[0]):
                sure[t] = 0.5 * CWB_COARSE * fabs(totals[t])
            if self.bins.scan(part, features, sure, n_threads) > 0.5:
                self.without_bins = SEARCHES_WITHOUT_BINS
            return 0
        self.without_bins -= self.without_bins > 0
        if n_columns == 0:
            return 0
        with nogil:
            cwb_scans(kernels, &part.rows, self.columns, &features[0], n_columns,
                      part.chunk_starts, part.best, part.trace,
                      threads(n * lanes * n_columns // 4, n_threads))
        return 0

    cdef void settle_target(self, const cwb_weights *weights, double total,
                            const int64_t[::1] features, const Slice *part, int64_t lane,
                            Found *found) noexcept nogil:
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
            traced.trace = part.trace + 2 * lanes * part.chunk_starts[features[f]]
            traced.least = sure - bound
            traced.doubt = 4 / CWB_COARSE * bound
            stump = kernels.settle(&target, column, &traced)
            if traced.alone or stump.edge > found.stump.edge:
                found.column = features[f]
                found.stump = stump

    cdef object write(self, const cwb_weights *weights, const double[::1] totals,
                      const double[::1] squares, const Found[::1] found, int n_threads):
        cdef int64_t n = self.n_samples, n_targets = found.shape[0], t, n_bytes = (n + 7) // 8
        polarity, missing = new_vector(n_targets, INT8), new_vector(n_targets, INT8)
        outputs, edges = new_matrix(n_targets, n_bytes, UINT8), new_vector(n_targets, FLOAT64)
        sums, norms = new_vector(n_targets, FLOAT64), new_vector(n_targets, FLOAT64)
        cdef int8_t *polarity_ = <int8_t *> data_of(polarity)
        cdef int8_t *missing_ = <int8_t *> data_of(missing)
        cdef uint8_t *outputs_ = <uint8_t *> data_of(outputs)
        cdef double[:, ::1] parts = self.room_for_sums(cwb_row_tasks(n), n_targets)[0]
        n_threads = threads(n * n_targets, n_threads)
        # As in passes.h, one thread does without a parallel region.
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
            cwb_stump_edges(kernels, weights, n, outputs_, &parts[0, 0], n_threads)
        for t in range(n_targets):
            (<double *> data_of(edges))[t] = sum_of(parts, t)
            (<double *> data_of(sums))[t] = totals[t] / weights.scales[t]
            (<double *> data_of(norms))[t] = sqrt(squares[t]) / weights.scales[t]
        feature, threshold = self.locate(found)
        return feature, threshold, polarity, missing, edges, outputs, sums, norms

    cdef tuple locate(self, const Found[::1] found):
        """Return features and thresholds."""
        cdef int64_t t
        feature, threshold = new_vector(found.shape[0], INT32), new_vector(found.shape[0], FLOAT64)
        for t in range(found.shape[0]):
            (<int32_t *> data_of(feature))[t] = <int32_t> found[t].column
            (<double *> data_of(threshold))[t] = self.threshold_of(&found[t])
        return feature, threshold

    cdef double threshold_of(self, const Found *found) noexcept nogil:
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
        here = self.entries.at(cwb_row(column, p), found.column)
        if p + 1 == column.n_forward or p + 1 == end:
            there = column.skipped
        else:
            there = self.entries.at(cwb_row(column, p + 1), found.column)
        if p < column.n_forward:
            return cwb_float32_threshold_between(here, there)
        return cwb_float32_threshold_between(there, here)

    cdef void write_one(self, const Found *found, double total, int8_t *polarity,
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


cdef double sum_of(const double[:, ::1] sums, int64_t column) noexcept nogil:
    cdef double sum = 0.0
    cdef int64_t row
    for row in range(sums.shape[0]):
        sum += sums[row, column]
    return sum


FOUND = np.dtype(
    [
        ("column", np.int64),
        (
            "stump",
            [
                ("edge", np.float64),
                ("above", np.float64),
                ("missing", np.float64),
                ("position", np.int64),
            ],
        ),
    ]
)


cdef int threads(int64_t work, int n_threads) noexcept nogil:
    # Starting threads takes microseconds: one thread is faster below this number of operations.
    return n_threads if work > 1 << 15 else 1
