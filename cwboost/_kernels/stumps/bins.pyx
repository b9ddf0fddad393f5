"""The scan of a stump search for examples whose rows of weights do not fit the caches.

The sums of all bins are computed in the order of memory; only bins whose bound reaches an edge
already known are walked in sorted order: see bins.h.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

import numpy as np

from cwboost._kernels.stumps.kernels cimport (
    cwb_blocked, cwb_rows, cwb_scan_bound, cwb_stump_kernels, kernels)
from cwboost._kernels.stumps.sorted_columns cimport SortedColumns, cwb_column

cdef extern from "stumps/bins.h" nogil:
    enum:
        CWB_BLOCK
    int64_t cwb_bins(const cwb_column *c)
    int cwb_block_column(const cwb_column *c, int64_t n_blocks, cwb_blocked *out)
    void cwb_free_blocks(cwb_blocked *c)
    void cwb_bin_bounds(const cwb_rows *rows, const cwb_column *c, int32_t *bins)
    bint cwb_bin_counts(const int32_t *bins, int64_t k, int64_t lanes, const double *sure,
                        double error)
    int64_t cwb_walk_bin(const cwb_stump_kernels *kernels, const cwb_rows *rows,
                         const cwb_column *c, int64_t k, const int32_t *bins, int32_t *best,
                         int32_t *trace)
    void cwb_leave_bin(const cwb_column *c, int64_t k, int64_t lanes, int32_t *trace)

# Number of columns whose bins are summed together, from the same rows of a block.
cdef int64_t COLUMNS_OF_A_TASK = 8


cdef class BinnedColumns:
    """Columns in bins of positions, also stored in blocks of examples: two bytes per entry.

    They have more than 65,536 samples.
    """

    def __cinit__(self, SortedColumns columns not None, int n_threads):
        cdef int64_t f, n_features = columns.n_features
        cdef int failed = 0
        self.sorted, self.columns = columns, columns.columns
        self.n_blocks = (columns.n_samples + CWB_BLOCK - 1) // CWB_BLOCK
        self.scratch = Scratch()
        self.bin_starts = np.zeros(n_features + 1, dtype=np.int64)
        for f in range(n_features):
            self.bin_starts[f + 1] = self.bin_starts[f] + cwb_bins(&self.columns[f])
        self.blocked = <cwb_blocked *> calloc(max(1, n_features), sizeof(cwb_blocked))
        if self.blocked == NULL:
            raise MemoryError("no memory for the bins")
        for f in prange(n_features, nogil=True, schedule="dynamic", num_threads=n_threads):
            failed += cwb_block_column(&self.columns[f], self.n_blocks, &self.blocked[f]) != 0
        if failed:
            raise MemoryError("no memory for the bins")

    def __dealloc__(self):
        cdef int64_t f
        if self.blocked != NULL:
            for f in range(self.sorted.n_features):
                cwb_free_blocks(&self.blocked[f])
            free(self.blocked)

    cdef double scan(self, const Slice *part, const int64_t[::1] features, double[::1] sure,
                     int n_threads) except -1:
        """Scan every column, without the bins that hold no winner.

        `sure` holds, for every lane, an |E| / 2 that is certainly reached (by a constant), and
        infinity in lanes without a target; it is raised. Returns the walked share of the positions.
        """
        cdef int64_t n_columns = features.shape[0], lanes = part.rows.lanes, f, g, column
        cdef int64_t n_groups = (n_columns + COLUMNS_OF_A_TASK - 1) // COLUMNS_OF_A_TASK
        cdef int64_t n_bins = self.bin_starts[self.sorted.n_features]
        cdef int64_t n_walked = 0, n_visited = 0
        cdef int32_t *bins = <int32_t *> self.scratch.room(2 * lanes * n_bins * sizeof(int32_t))
        cdef uint8_t[::1] walked = np.zeros(n_bins + 1, dtype=np.uint8)
        cdef const int64_t *starts = &self.bin_starts[0]
        for g in prange(n_groups, nogil=True, schedule="dynamic", num_threads=n_threads):
            sum_bins(self, part, features, g * COLUMNS_OF_A_TASK,
                     min(n_columns, (g + 1) * COLUMNS_OF_A_TASK), bins)
        # The most promising bin of every target comes first, since its result raises `sure`.
        mark_promising(starts, features, lanes, bins, sure, walked)
        for f in prange(n_columns, nogil=True, schedule="dynamic", num_threads=n_threads):
            n_walked += walk_marked(self, part, features[f], f, bins, walked)
        for f in range(n_columns):
            column = features[f]
            n_visited += self.columns[column].n_forward + self.columns[column].n_backward
            raise_sure(part.best + f * lanes, lanes, cwb_scan_bound(&self.columns[column]), sure)
        for f in prange(n_columns, nogil=True, schedule="dynamic", num_threads=n_threads):
            n_walked += walk_rest(self, part, features[f], f, bins, walked, &sure[0])
        return n_walked / <double> max(1, n_visited)


cdef class Scratch:
    """Memory kept between calls, aligned to cache lines, so that a row of 64 bytes is one line."""

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


cdef void sum_bins(BinnedColumns self, const Slice *part, const int64_t[::1] features,
                   int64_t first, int64_t beyond, int32_t *bins) noexcept nogil:
    """Compute sums and bounds of the bins of features[first:beyond]."""
    cdef int64_t f, block, column, size = 2 * part.rows.lanes
    for f in range(first, beyond):
        column = features[f]
        memset(bins + size * self.bin_starts[column], 0,
               size * (self.bin_starts[column + 1] - self.bin_starts[column]) * sizeof(int32_t))
    for block in range(self.n_blocks):
        for f in range(first, beyond):
            column = features[f]
            kernels.bin_sums(&part.rows, &self.blocked[column], block,
                             bins + size * self.bin_starts[column])
    for f in range(first, beyond):
        column = features[f]
        cwb_bin_bounds(&part.rows, &self.columns[column], bins + size * self.bin_starts[column])


cdef void mark_promising(const int64_t *starts, const int64_t[::1] features, int64_t lanes,
                         const int32_t *bins, const double[::1] sure,
                         uint8_t[::1] walked) noexcept nogil:
    """Mark the bin with the largest bound of every target."""
    cdef int64_t f, k, lane, best
    cdef int32_t largest
    for lane in range(lanes):
        best, largest = -1, -1
        for f in range(features.shape[0]):
            for k in range(starts[features[f]], starts[features[f] + 1]):
                if bins[(2 * k + 1) * lanes + lane] > largest:
                    best, largest = k, bins[(2 * k + 1) * lanes + lane]
        if best >= 0 and largest >= sure[lane]:
            walked[best] = True


cdef int64_t walk_marked(BinnedColumns self, const Slice *part, int64_t column, int64_t place,
                         const int32_t *bins, const uint8_t[::1] walked) noexcept nogil:
    """Walk the marked bins of a column, or all if it has none; returns the number of positions."""
    cdef int64_t k, first = self.bin_starts[column], n_walked = 0
    cdef const cwb_column *c = &self.columns[column]
    cdef int32_t *best = part.best + place * part.rows.lanes
    cdef int32_t *trace = part.trace + 2 * part.rows.lanes * part.chunk_starts[column]
    if first == self.bin_starts[column + 1]:
        kernels.scan(&part.rows, c, best, trace)
        return c.n_forward + c.n_backward
    memset(best, 0, part.rows.lanes * sizeof(int32_t))
    for k in range(first, self.bin_starts[column + 1]):
        if walked[k]:
            n_walked += cwb_walk_bin(kernels, &part.rows, c, k - first,
                                     bins + 2 * part.rows.lanes * first, best, trace)
    return n_walked


cdef void raise_sure(const int32_t *best, int64_t lanes, double bound,
                     double[::1] sure) noexcept nogil:
    cdef int64_t lane
    for lane in range(lanes):
        sure[lane] = max(sure[lane], best[lane] - bound)


cdef int64_t walk_rest(BinnedColumns self, const Slice *part, int64_t column, int64_t place,
                       const int32_t *bins, const uint8_t[::1] walked,
                       const double *sure) noexcept nogil:
    """Walk the other bins that may hold a winner; returns the number of positions."""
    cdef int64_t k, first = self.bin_starts[column], n_walked = 0
    cdef const cwb_column *c = &self.columns[column]
    cdef int32_t *trace = part.trace + 2 * part.rows.lanes * part.chunk_starts[column]
    cdef double bound = cwb_scan_bound(c)
    bins += 2 * part.rows.lanes * first
    for k in range(self.bin_starts[column + 1] - first):
        if walked[first + k]:
            continue
        if cwb_bin_counts(bins, k, part.rows.lanes, sure, bound):
            n_walked += cwb_walk_bin(kernels, &part.rows, c, k, bins,
                                     part.best + place * part.rows.lanes, trace)
        else:
            cwb_leave_bin(c, k, part.rows.lanes, trace)
    return n_walked
