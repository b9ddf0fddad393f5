"""Sorted columns of the rows kept, those of non-zero weight, for one search (kept_rows.h)."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

import numpy as np

from cwboost._kernels.stumps.kernels cimport cwb_stump_kernels, cwb_weights, kernels
from cwboost._kernels.stumps.sorted_columns cimport SortedColumns, cwb_column

cdef extern from "stumps/kept_rows.h" nogil:
    int cwb_find_positions(const cwb_column *c, int64_t n_samples, cwb_positions *out)
    void cwb_free_positions(cwb_positions *c)
    int cwb_allocate_kept(cwb_column *left, int64_t capacity)
    int cwb_keep_rows(const cwb_stump_kernels *kernels, const cwb_column *c,
                      const cwb_positions *of, const cwb_kept *kept, cwb_column *left)
    int64_t cwb_whole_position(const cwb_column *c, const cwb_positions *of,
                               const cwb_column *left, int64_t p)
    void cwb_fill_kept(const cwb_weights *w, int lanes, const cwb_kept *kept, int64_t first,
                       int64_t beyond, int32_t *rows)

cdef int64_t ROWS_OF_A_TASK = 1024


cdef class KeptRows:
    """What the rows kept leave of sorted columns.

    Parameters
    ----------
    whole : SortedColumns
    n_threads : int

    Attributes
    ----------
    left : SortedColumns
        The shorter columns, of those features that `keep` was last called with.
    """

    def __cinit__(self, SortedColumns whole not None, int n_threads):
        cdef int64_t f
        cdef int failed = 0
        self.whole, self.capacity = whole, 0
        self.left = SortedColumns(whole.n_samples, whole.n_features)
        self.marks = np.zeros(whole.n_samples, dtype=np.uint8)
        self.positions = <cwb_positions *> calloc(max(1, whole.n_features), sizeof(cwb_positions))
        if self.positions == NULL:
            raise MemoryError("no memory for the positions of the rows")
        for f in range(whole.n_features):
            self.left.columns[f].wide = whole.wide
        for f in prange(whole.n_features, nogil=True, schedule="dynamic", num_threads=n_threads):
            failed += cwb_find_positions(&whole.columns[f], whole.n_samples,
                                         &self.positions[f]) != 0
        if failed:
            raise MemoryError("no memory for the positions of the rows")

    def __dealloc__(self):
        cdef int64_t f
        if self.positions != NULL:
            for f in range(self.whole.n_features):
                cwb_free_positions(&self.positions[f])
            free(self.positions)

    cdef int keep(self, rows, const int64_t[::1] features, int n_threads) except -1:
        """Shorten the columns of `features`; `rows` are some but not all, ascending, in range."""
        cdef const int64_t[::1] rows_ = rows
        cdef int64_t k, n_columns = features.shape[0]
        cdef int failed = 0
        self.rows = rows  # keeps the memory alive
        self.kept.rows, self.kept.n_rows = &rows_[0], rows_.shape[0]
        self.kept.marks, self.kept.zero = &self.marks[0], 0
        self.kept.n_samples = self.whole.n_samples
        self.marks[:] = 0
        for k in range(self.kept.n_rows):
            self.marks[rows_[k]] = 0xFF
            # The first example that is not kept.
            self.kept.zero += rows_[k] == self.kept.zero
        if self.kept.n_rows > self.capacity:
            self.make_room(self.kept.n_rows + self.kept.n_rows // 4)
        for k in prange(n_columns, nogil=True, schedule="dynamic", chunksize=4,
                        num_threads=n_threads):
            failed += cwb_keep_rows(kernels, &self.whole.columns[features[k]],
                                    &self.positions[features[k]], &self.kept,
                                    &self.left.columns[features[k]]) != 0
        if failed:
            raise MemoryError("no memory for the rows kept")
        return 0

    def make_room(self, int64_t n_rows):
        """Allocate memory for this number of rows kept, in columns that visit as many."""
        cdef int64_t f, n
        cdef const cwb_column *c
        for f in range(self.whole.n_features):
            c = &self.whole.columns[f]
            n = min(n_rows, c.n_forward + c.n_backward + c.n_missing)
            if cwb_allocate_kept(&self.left.columns[f], n):
                raise MemoryError("no memory for the rows kept")
        self.capacity = n_rows

    cdef int64_t whole_position(self, int64_t feature, int64_t p) noexcept nogil:
        """Return the position in the whole column of a threshold at p of the shorter one."""
        return cwb_whole_position(&self.whole.columns[feature], &self.positions[feature],
                                  &self.left.columns[feature], p)

    cdef int fill(self, const cwb_weights *weights, int lanes, int32_t *out,
                  int n_threads) except -1:
        """Fill the rows of the weights of examples that may be read."""
        cdef int64_t n = self.kept.n_rows, lane, task
        for lane in range(lanes):
            out[self.kept.zero * lanes + lane] = 0
        for task in prange((n + ROWS_OF_A_TASK - 1) // ROWS_OF_A_TASK, nogil=True,
                           schedule="static", num_threads=n_threads):
            cwb_fill_kept(weights, lanes, &self.kept, task * ROWS_OF_A_TASK,
                          min(n, (task + 1) * ROWS_OF_A_TASK), out)
        return 0
