# Bins of sorted columns, shared by the kernels of this package only.

from libc.stdint cimport int32_t, int64_t, uint8_t

from cwboost._kernels.stumps.sorted_columns cimport SortedColumns, cwb_column

cdef extern from "stumps/blocks.h" nogil:
    ctypedef struct cwb_blocked:
        pass


# The rows of some targets, and what a scan of them fills in (stump_scan.h): a row of lanes of
# `best` for every column searched, the trace of every column from its first chunk on.
cdef struct Slice:
    const int32_t *rows
    const int32_t *half
    int32_t *best
    int32_t *trace
    const int64_t *chunk_starts
    int64_t lanes
    int vectors
    bint pairs
    bint portable


cdef int32_t *aligned(dict memory, str name, int64_t size) except NULL


cdef class BinnedColumns:
    cdef SortedColumns sorted
    cdef cwb_column *columns
    cdef cwb_blocked *blocked
    cdef int64_t n_blocks
    cdef int64_t[::1] bin_starts
    cdef dict scratch

    cdef double scan(self, const Slice *part, const int64_t[::1] features, double[::1] sure,
                     int n_threads) except -1
