# Bins of sorted columns, shared by the kernels of this package only.

from libc.stdint cimport int32_t, int64_t

from cwboost._kernels.stumps.kernels cimport cwb_blocked, cwb_rows
from cwboost._kernels.stumps.sorted_columns cimport SortedColumns, cwb_column

# The rows of some targets, and what a scan of them fills in: a row of lanes of `best` for every
# column searched, the trace of every column from its first chunk on.
cdef struct Slice:
    cwb_rows rows
    int32_t *best
    int32_t *trace
    const int64_t *chunk_starts


cdef class Scratch:
    cdef void *memory
    cdef int64_t n_bytes

    cdef void *room(self, int64_t n_bytes) except NULL


cdef class BinnedColumns:
    cdef SortedColumns sorted
    cdef cwb_column *columns
    cdef cwb_blocked *blocked
    cdef int64_t n_blocks
    cdef int64_t[::1] bin_starts
    cdef Scratch scratch

    cdef double scan(self, const Slice *part, const int64_t[::1] features, double[::1] sure,
                     int n_threads) except -1
