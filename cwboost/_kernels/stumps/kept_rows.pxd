# Sorted columns of the rows kept, shared by the kernels of this package only.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from cwboost._kernels.stumps.kernels cimport cwb_weights
from cwboost._kernels.stumps.sorted_columns cimport SortedColumns, cwb_column

cdef extern from "stumps/kept_rows.h" nogil:
    ctypedef struct cwb_positions:
        void *position
        uint64_t *ends
    ctypedef struct cwb_kept:
        const int64_t *rows
        int64_t n_rows, n_samples
        const uint8_t *marks
        int64_t zero


cdef class KeptRows:
    cdef SortedColumns whole
    cdef readonly SortedColumns left
    cdef cwb_positions *positions
    cdef cwb_kept kept
    cdef object rows
    cdef uint8_t[::1] marks
    cdef int64_t capacity

    cdef int keep(self, rows, const int64_t[::1] features, int n_threads) except -1
    cdef int64_t whole_position(self, int64_t feature, int64_t p) noexcept nogil
    cdef int fill(self, const cwb_weights *weights, int lanes, int32_t *out,
                  int n_threads) except -1
