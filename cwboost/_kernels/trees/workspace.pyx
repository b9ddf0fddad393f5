"""A binned matrix in the form that kernels read, and the scratch memory of threads."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from cwboost._kernels.common.arrays cimport FLOAT64, INT32, INT64, UINT8, entries
from cwboost._kernels.trees.build cimport FEWER_ROWS, MAX_INNER_BY_CODES, use_rows
from cwboost._kernels.trees.types cimport (
    CWB_BINS, SET_WORDS, Rows, Settings, Work, cwb_pair, cwb_split)

from cwboost._kernels.common.aligned import aligned_zeros

cdef enum:
    MOST_PLACES = 64  # nodes whose histograms are saved at a time
    MOST_SAVED = 1 << 20  # bins of all of them


# Not cleared by the garbage collector: `__dealloc__` reads the blocks.
@cython.no_gc_clear
cdef class Workspace:
    """A `BinnedMatrix`, or `Bins` alone, and the scratch memory of some threads.

    A node saves histograms of `n_saved` features. `sets`, (n_sets, n_features) of bool, are those
    of features that may interact, at most 256; None is one set of all.
    """

    def __cinit__(self, bins, binned, int n_threads, int64_t n_saved=0, sets=None):
        self.work, self.rows = NULL, NULL
        self.blocks = []
        self.n_threads = n_threads
        self.bins, self.usable = bins, bins.usable
        memset(&self.X, 0, sizeof(self.X))
        self._read_bins(bins)
        if binned is not None:
            self._read_codes(binned)
        if sets is not None:
            self._read_sets(sets)
        self._allocate()
        self._allocate_saved(n_saved)
        self._allocate_near()

    def _read_bins(self, bins):
        """Take the addresses of the arrays of `bins`, which self.bins keeps alive."""
        self.X.n_features, self.X.n_usable = bins.n_features, len(self.usable)
        self.X.usable = <const int32_t *> entries(self.usable, INT32)
        self.X.n_bins = <const int32_t *> entries(bins.n_bins, INT32)
        self.X.bin_start = <const int64_t *> entries(bins.bin_start, INT64)
        self.X.lowest = <const double *> entries(bins.lowest, FLOAT64)
        self.X.highest = <const double *> entries(bins.highest, FLOAT64)

    def _read_codes(self, binned):
        """Take the addresses of the codes; self.arrays keeps them alive."""
        cdef Py_ssize_t f
        self.arrays = binned.codes, *binned.lists()
        codes, listed, indptr, entry_rows, entry_codes, default_code = self.arrays
        self.X.n_rows = self.X.fewest_entries = binned.n_rows
        if len(codes):
            self.X.codes = <const uint8_t *> entries(codes, UINT8)
            if not listed.any():
                return
        self.X.listed = <const uint8_t *> entries(listed, UINT8)
        self.X.indptr = <const int64_t *> entries(indptr, INT64)
        self.X.entry_rows = <const int32_t *> entries(entry_rows, INT32)
        self.X.entry_codes = <const uint8_t *> entries(entry_codes, UINT8)
        self.X.default_code = <const uint8_t *> entries(default_code, UINT8)
        for f in range(self.X.n_features):
            if self.X.listed[f]:
                self.X.fewest_entries = min(
                    self.X.fewest_entries, self.X.indptr[f + 1] - self.X.indptr[f])
        if self.X.codes == NULL:
            self.X.fewest_entries = -1

    def _read_sets(self, sets):
        """Take the address of the bits of the sets, which self.sets keeps alive."""
        n_sets, n_features = sets.shape
        if n_sets > 64 * SET_WORDS:
            raise ValueError(f"sets must be at most {64 * SET_WORDS}, got {n_sets}")
        members = np.zeros((n_features, 64 * SET_WORDS), dtype=np.uint8)
        members[:, :n_sets] = sets.T
        self.sets = np.packbits(members, axis=1).view(np.uint64)
        cdef const uint64_t[:, ::1] bits = self.sets
        self.X.sets = &bits[0, 0]

    def _allocate(self):
        cdef int t
        cdef size_t n = self.X.n_rows, n_features = max(1, self.X.n_usable)
        cdef size_t n_listed = n if self.X.indptr != NULL else 1
        cdef Work *work
        cdef Rows *own
        self.work = <Work *> self._scratch(self.n_threads * sizeof(Work))
        self.rows = <Rows *> self._scratch(self.n_threads * sizeof(Rows))
        for t in range(self.n_threads):
            work, own = self.work + t, self.rows + t
            work.X = &self.X
            own.rows = <int32_t *> self._scratch(n * sizeof(int32_t))
            own.weights = <double *> self._scratch(n * sizeof(double))
            own.weight_of = <double *> self._scratch(n_listed * sizeof(double))
            use_rows(work, own)
            work.scratch_rows = <int32_t *> self._scratch(n * sizeof(int32_t))
            work.scratch_weights = <double *> self._scratch(n * sizeof(double))
            work.positive = <uint8_t *> self._scratch(n)
            work.hist = <cwb_pair *> self._scratch(8 * CWB_BINS * 16)
            work.features = <int32_t *> self._scratch(n_features * sizeof(int32_t))
            work.swaps = <int32_t *> self._scratch(n_features * sizeof(int32_t))
            work.pending = <int32_t *> self._scratch(n_features * sizeof(int32_t))
            work.splits = <cwb_split *> self._scratch(2 * n_features * sizeof(cwb_split))
            work.slot_of = <uint8_t *> self._scratch(n_listed)
            memset(work.slot_of, 2, n_listed)
            work.column = <uint8_t *> self._scratch(n_listed)
            work.reach = self._scratch((2 * MAX_INNER_BY_CODES + 1) * 32)
            memcpy(work.features, self.X.usable, self.X.n_usable * sizeof(int32_t))

    def _allocate_saved(self, int64_t n_saved):
        """Allocate the places of saved histograms, unless the search reads lists alone."""
        cdef int t
        cdef Work *work
        cdef size_t n = CWB_BINS * min(n_saved, self.X.n_usable)
        for t in range(self.n_threads if n > 0 and self.X.codes != NULL else 0):
            work = self.work + t
            work.n_saved = min(n_saved, self.X.n_usable)
            work.n_places = min(MOST_PLACES, MOST_SAVED // n)
            work.saved_sums = <double *> self._scratch(work.n_places * n * sizeof(cwb_pair))
            work.free_places = <int32_t *> self._scratch(MOST_PLACES * sizeof(int32_t))

    def _allocate_near(self):
        """Allocate room for a copy of a node's codes, one of a node below it, and so on."""
        cdef int t
        cdef int64_t n_rows = self.X.n_rows // (FEWER_ROWS - 1)
        for t in range(self.n_threads if self.X.codes != NULL else 0):
            self.work[t].near_codes = <uint8_t *> self._scratch(n_rows * self.X.n_features)
            self.work[t].near_rows = <int32_t *> self._scratch(n_rows * sizeof(int32_t))

    cdef void *_scratch(self, size_t size) except NULL:
        """Return zeros, aligned to a vector, with room for one more; they live as long as this."""
        block = aligned_zeros(size // sizeof(double) + 9)
        self.blocks.append(block)
        return <void *> <uintptr_t> block.ctypes.data

    cdef void use(self, const Settings *settings) noexcept:
        """Let every thread search by these settings, which must outlive the search."""
        cdef int t
        for t in range(self.n_threads):
            self.work[t].settings = settings

    def __dealloc__(self):
        cdef int t
        for t in range(self.n_threads if self.work != NULL else 0):
            free(self.work[t].frontier.nodes)
