"""Exact search for the best decision stump of every target, all targets in one pass.

For signed weights r_t(i) the best stump of target t is argmax over h of |sum_i r_t(i) h(x_i)|,
where h is -1 or +1 on either side of a threshold on one feature, or constant. The examples of
every feature are sorted once (sorted_columns.pyx); `StumpSearch.search` then

1. turns the weights into fixed-point numbers, so that sums do not depend on their order;
2. scans every column with int32 sums, 8 targets a vector (stump_scan.h), or, where the weights
   do not fit the caches, those parts of columns that may hold a winner (stump_bins.h);
3. settles, for each target, the columns which the scan's error bound cannot tell from the best
   (stump_settle.h), in the order of features;
4. writes the outputs of the winners from the sorted order, without reading the features again.

Work is parallel over columns into slots of their own, and every sum is exact: the results have
the same bits at any number of threads.
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY, fabs, isfinite, rint
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

import numpy as np

from cwboost._kernels.stumps.sorted_columns cimport SortedColumns, cwb_column
from cwboost._kernels.stumps.bins cimport BinnedColumns, Slice, aligned

cdef extern from "stumps/scan.h" nogil:
    enum: CWB_SCAN_VECTOR
    enum: CWB_SCAN_MAX_VECTORS
    enum: CWB_SCAN_MAX_PAIRS
    ctypedef void (*cwb_scan)(const int32_t *, const cwb_column *, const int32_t *, int32_t *,
                              int32_t *)
    int64_t cwb_chunks(const cwb_column *)
    double cwb_scan_bound(const cwb_column *)
    int cwb_scan_in_pairs(int64_t, int)
    cwb_scan cwb_scan_pick(int, int, int, int)

cdef extern from "stumps/weights.h" nogil:
    const double CWB_COARSE
    double cwb_scale(double)
    double cwb_mass(const double *, int64_t)
    double cwb_total(const double *, double, int64_t)
    void cwb_fill_rows(const double *, int64_t, const double *, int, int, int64_t, int64_t,
                       int32_t *)

cdef extern from "stumps/settle.h" nogil:
    ctypedef struct cwb_traced:
        const int32_t *trace
        int64_t lanes
        int64_t lane
        double least
    cwb_stump cwb_settle(const double *, double, double, const cwb_column *, int,
                         const cwb_traced *, int, double)
    int64_t cwb_row(const cwb_column *, int, int64_t)
    void cwb_write_outputs(const cwb_column *, int, int64_t, int, int, int64_t, uint8_t *)
    double cwb_edge(const double *, const uint8_t *, int64_t)
    double cwb_threshold(double, double)

cdef int64_t ROWS_OF_A_TASK = 1024
cdef int64_t CACHED_BYTES = 3 << 18
# Rows of more than this are looked up in bins first: they are in no cache but the last, if that.
cdef int64_t BINNED_BYTES = 1 << 24
# Where bins left out less than half of the positions, so many searches go without them.
cdef int SEARCHES_WITHOUT_BINS = 15


cdef class StumpSearch:
    """Search over sorted columns, with the scratch memory that it keeps between calls.

    Not to be called from two Python threads at once.

    Parameters
    ----------
    columns : SortedColumns

    Attributes
    ----------
    use_bins : int
        Whether to leave out bins that hold no winner: 1 wherever there can be some, 0 nowhere,
        -1, the default, where it pays. The results are the same bits.
    """

    def __init__(self, SortedColumns columns not None):
        cdef int64_t f
        self.use_bins = -1
        self.without_bins = 0
        self.sorted = columns
        self.columns = columns.columns
        self.n_samples = columns.n_samples
        self.wide = columns.wide
        self.scratch = {}
        self.chunk_starts = np.zeros(columns.n_features + 1, dtype=np.int64)
        for f in range(columns.n_features):
            self.chunk_starts[f + 1] = self.chunk_starts[f] + cwb_chunks(&columns.columns[f])

    def search(self, const double[:, :] weights, const int64_t[::1] features, values,
               int n_threads, bint portable=False):
        """The best stump of every row of weights; see `cwboost.kernels.SortedFeatures.search`.

        Parameters
        ----------
        weights : (n_targets, n_samples), last axis contiguous
        features : columns to search, ascending and in range
        values : callable
            ``values(rows, columns)`` returns the entries of X there as float64.
        portable : bool
            Scan without wide vectors (the results are the same bits).

        Returns
        -------
        feature, threshold, polarity, missing, edges, outputs
        """
        cdef int64_t n_targets = weights.shape[0], stride
        cdef double[::1] scales = np.empty(n_targets), totals = np.empty(n_targets)
        cdef Found[::1] winners = np.empty(n_targets, dtype=FOUND)
        cdef const double *w
        w = &weights[0, 0]
        stride = weights.strides[0] // <int64_t> sizeof(double)
        if self.measure(w, stride, n_targets, &scales[0], &totals[0], n_threads):
            # So small that a scale would overflow: a power of two loses nothing.
            factor = np.where(np.isinf(scales), 2.0**600, 1.0)
            found = self.search(np.asarray(weights) * factor[:, None], features, values,
                                n_threads, portable)
            return *found[:4], found[4] / factor, found[5]
        self.scan_and_settle(w, stride, scales, totals, features, winners, n_threads, portable)
        return self.write(w, stride, totals, winners, values, n_threads)

    cdef bint measure(self, const double *w, int64_t stride, int64_t n_targets,
                      double *scales, double *totals, int n_threads) except -1:
        # By examples, not by targets: with threads, each then finds what it has in its cache, since
        # the solver wrote the weights by examples. Scales are powers of two: integer weights stay
        # integers, and equal sums stay equal.
        cdef int64_t n = self.n_samples, n_tasks = (n + ROWS_OF_A_TASK - 1) // ROWS_OF_A_TASK
        cdef int64_t task, t, first
        cdef int n_used = threads(n * n_targets, n_threads)
        cdef double[:, ::1] sums = np.empty((n_tasks, n_targets))
        cdef bint small = False
        for task in prange(n_tasks, nogil=True, schedule="static", num_threads=n_used):
            for t in range(n_targets):
                first = t * stride + task * ROWS_OF_A_TASK
                sums[task, t] = cwb_mass(w + first, min(ROWS_OF_A_TASK, n - task * ROWS_OF_A_TASK))
        for t in range(n_targets):
            scales[t] = cwb_scale(sum_of(sums, t))
            if scales[t] == 0.0:
                raise ValueError(
                    f"weights must be finite and sum to a finite number, row {t} does not"
                )
            small = small or not isfinite(scales[t])
        for task in prange(n_tasks, nogil=True, schedule="static", num_threads=n_used):
            for t in range(n_targets):
                first = t * stride + task * ROWS_OF_A_TASK
                sums[task, t] = cwb_total(w + first, scales[t],
                                          min(ROWS_OF_A_TASK, n - task * ROWS_OF_A_TASK))
        for t in range(n_targets):
            totals[t] = sum_of(sums, t)
        return small

    cdef int scan_and_settle(self, const double *w, int64_t stride, const double[::1] scales,
                             const double[::1] totals, const int64_t[::1] features,
                             Found[::1] found, int n_threads, bint portable) except -1:
        cdef int64_t n_targets = found.shape[0], first = 0, s, vectors, n_slices
        cdef int64_t n_vectors = (n_targets + CWB_SCAN_VECTOR - 1) // CWB_SCAN_VECTOR
        cdef bint pairs = cwb_scan_in_pairs(n_vectors, portable)
        # What is walked at once: a vector or two of targets.
        cdef int64_t unit = 2 if pairs else 1, n_units = (n_vectors + unit - 1) // unit
        cdef int64_t widest = CWB_SCAN_MAX_PAIRS if pairs else CWB_SCAN_MAX_VECTORS
        cdef int64_t nbytes = unit * CWB_SCAN_VECTOR * 4 * self.n_samples
        # Rows that stay in the second cache are worth a second pass over the positions.
        if 2 * nbytes <= CACHED_BYTES:
            widest = min(widest, CACHED_BYTES // nbytes)
        n_slices = (n_units + widest - 1) // widest
        for s in range(n_slices):
            vectors = unit * (n_units * (s + 1) // n_slices - n_units * s // n_slices)
            self.search_slice(w, stride, scales, totals, features, found, first, vectors,
                              pairs, n_threads, portable)
            first += vectors * CWB_SCAN_VECTOR
        return 0

    cdef int search_slice(self, const double *w, int64_t stride, const double[::1] scales,
                          const double[::1] totals, const int64_t[::1] features,
                          Found[::1] found, int64_t first, int64_t vectors, bint pairs,
                          int n_threads, bint portable) except -1:
        """Search for targets [first, first + 8 vectors), those that there are.

        The scan gives max |E| / 2 of every column and target, in units of 2^20 / scale, off by at
        most cwb_scan_bound of the column.
        """
        cdef int64_t n = self.n_samples, n_columns = features.shape[0], task, t
        cdef int64_t lanes = vectors * CWB_SCAN_VECTOR
        cdef int64_t count = min(lanes, found.shape[0] - first)
        cdef int64_t n_tasks = (n + ROWS_OF_A_TASK - 1) // ROWS_OF_A_TASK
        cdef int64_t n_chunks = self.chunk_starts[self.sorted.n_features]
        cdef int32_t *rows = aligned(self.scratch, "rows", n * lanes)
        cdef int32_t *half = aligned(self.scratch, "half", lanes)
        cdef Slice part
        part.lanes, part.vectors, part.pairs, part.portable = lanes, <int> vectors, pairs, portable
        part.rows, part.half, part.chunk_starts = rows, half, &self.chunk_starts[0]
        part.best = aligned(self.scratch, "best", lanes * n_columns)
        part.trace = aligned(self.scratch, "trace", 2 * lanes * n_chunks)
        for t in range(lanes):
            half[t] = <int32_t> -rint(totals[first + t] * (0.5 * CWB_COARSE)) if t < count else 0
        for task in prange(n_tasks, nogil=True, schedule="static",
                           num_threads=threads(n * lanes, n_threads)):
            cwb_fill_rows(w + first * stride, stride, &scales[first], <int> count, <int> lanes,
                          task * ROWS_OF_A_TASK, min(n, (task + 1) * ROWS_OF_A_TASK), rows)
        self.scan(&part, features, totals[first:first + count], n_threads)
        for t in prange(count, nogil=True, schedule="dynamic",
                        num_threads=threads(2 * (n + n_columns) * count, n_threads)):
            self.settle_target(w + (first + t) * stride, scales[first + t], totals[first + t],
                               features, part.best, part.trace, lanes, t, &found[first + t])
        return 0

    cdef int scan(self, const Slice *part, const int64_t[::1] features,
                  const double[::1] totals, int n_threads) except -1:
        """Best |E| / 2 and trace of every column, in bins first where that pays."""
        cdef int64_t n_columns = features.shape[0], n = self.n_samples, f, t
        cdef bint pays = 4 * n * part.lanes > BINNED_BYTES and self.without_bins == 0
        cdef double[::1] sure
        cdef cwb_scan scan
        if self.wide and (self.use_bins == 1 or (self.use_bins == -1 and pays)):
            if self.bins is None:
                self.bins = BinnedColumns(self.sorted, n_threads)
            sure = np.full(part.lanes, np.inf)
            for t in range(totals.shape[0]):
                sure[t] = 0.5 * CWB_COARSE * fabs(totals[t])
            if self.bins.scan(part, features, sure, n_threads) > 0.5:
                self.without_bins = SEARCHES_WITHOUT_BINS
            return 0
        self.without_bins -= self.without_bins > 0
        scan = cwb_scan_pick(self.wide, part.vectors, part.pairs, part.portable)
        for f in prange(n_columns, nogil=True, schedule="dynamic", chunksize=4,
                        num_threads=threads(n * part.lanes * n_columns // 4, n_threads)):
            scan(part.rows, &self.columns[features[f]], part.half, part.best + f * part.lanes,
                 part.trace + 2 * part.lanes * part.chunk_starts[features[f]])
        return 0

    cdef void settle_target(self, const double *r, double scale, double total,
                            const int64_t[::1] features, const int32_t *best,
                            const int32_t *trace, int64_t lanes, int64_t lane,
                            Found *found) noexcept nogil:
        cdef double constant = 0.5 * CWB_COARSE * fabs(total), sure = constant
        cdef int64_t f, n_columns = features.shape[0], n_left = 0
        cdef const cwb_column *column
        cdef cwb_stump stump
        cdef cwb_traced traced
        cdef bint alone
        # The constants come first: they win ties.
        found.column = -1
        found.stump.edge = fabs(total)
        found.stump.above = total
        found.stump.missing = total
        found.stump.position = -1
        for f in range(n_columns):
            sure = max(sure, best[f * lanes + lane] - cwb_scan_bound(&self.columns[features[f]]))
        for f in range(n_columns):
            n_left += best[f * lanes + lane] + cwb_scan_bound(&self.columns[features[f]]) >= sure
        alone = n_left == 1 and constant + 1 < sure
        traced.lanes = lanes
        traced.lane = lane
        for f in range(n_columns):
            column = &self.columns[features[f]]
            if best[f * lanes + lane] + cwb_scan_bound(column) < sure:
                continue
            traced.trace = trace + 2 * lanes * self.chunk_starts[features[f]]
            traced.least = sure - cwb_scan_bound(column)
            stump = cwb_settle(r, scale, total, column, self.wide, &traced, alone,
                               4 / CWB_COARSE * cwb_scan_bound(column))
            if alone or stump.edge > found.stump.edge:
                found.column = features[f]
                found.stump = stump

    cdef object write(self, const double *w, int64_t stride, const double[::1] totals,
                      const Found[::1] found, object values, int n_threads):
        cdef int64_t n = self.n_samples, n_targets = found.shape[0], t
        polarity = np.empty(n_targets, dtype=np.int8)
        missing = np.empty(n_targets, dtype=np.int8)
        edges = np.empty(n_targets)
        outputs = np.empty((n_targets, (n + 7) // 8), dtype=np.uint8)
        cdef double[::1] edges_ = edges
        cdef int8_t[::1] polarity_ = polarity, missing_ = missing
        cdef uint8_t[:, ::1] outputs_ = outputs
        cdef int64_t n_tasks = (n + ROWS_OF_A_TASK - 1) // ROWS_OF_A_TASK, task, first
        cdef double[:, ::1] sums = np.empty((n_tasks, n_targets))
        for t in prange(n_targets, nogil=True, schedule="static",
                        num_threads=threads(n * n_targets, n_threads)):
            self.write_one(&found[t], totals[t], &polarity_[t], &missing_[t], &outputs_[t, 0])
        for task in prange(n_tasks, nogil=True, schedule="static",
                           num_threads=threads(n * n_targets, n_threads)):
            first = task * ROWS_OF_A_TASK
            for t in range(n_targets):
                sums[task, t] = cwb_edge(w + t * stride + first, &outputs_[t, first >> 3],
                                         min(ROWS_OF_A_TASK, n - first))
        for t in range(n_targets):
            edges_[t] = sum_of(sums, t)
        feature, threshold = self.locate(found, values)
        return feature, threshold, polarity, missing, edges, outputs

    cdef object locate(self, const Found[::1] found, object values):
        """Features and thresholds; values(rows, columns) looks up both sides of a threshold."""
        cdef int64_t n_targets = found.shape[0], t, p, end
        cdef const cwb_column *column
        cdef double here, there
        feature, threshold = np.empty(n_targets, dtype=np.int32), np.zeros(n_targets)
        rows = np.zeros((2, n_targets), dtype=np.int64)
        cdef int32_t[::1] feature_ = feature
        cdef double[::1] threshold_ = threshold
        cdef int64_t[:, ::1] rows_ = rows
        for t in range(n_targets):
            feature_[t] = <int32_t> found[t].column
            if found[t].column < 0:
                continue
            column = &self.columns[found[t].column]
            p, end = found[t].stump.position, column.n_forward + column.n_backward
            if p < end:
                rows_[0, t] = cwb_row(column, self.wide, p)
                rows_[1, t] = cwb_row(column, self.wide, min(p + 1, end - 1))
        cdef const double[:, ::1] sides = values(rows, np.maximum(feature, 0))
        for t in range(n_targets):
            if found[t].column < 0:
                continue
            column = &self.columns[found[t].column]
            p, end = found[t].stump.position, column.n_forward + column.n_backward
            here, there = sides[0, t], sides[1, t]
            if p + 1 == column.n_forward or p + 1 == end:
                there = column.skipped
            if p == end:
                threshold_[t] = INFINITY
            elif p < column.n_forward:
                threshold_[t] = cwb_threshold(here, there)
            else:
                threshold_[t] = cwb_threshold(there, here)
        return feature, threshold

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
            nothing.n_forward = nothing.n_backward = nothing.n_missing = 0
            cwb_write_outputs(&nothing, 0, 0, -polarity[0], polarity[0], self.n_samples, bits)
        else:
            cwb_write_outputs(&self.columns[found.column], self.wide, found.stump.position,
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
    # Starting threads takes microseconds: less work than this (operations) is done sooner alone.
    return n_threads if work > 1 << 15 else 1
