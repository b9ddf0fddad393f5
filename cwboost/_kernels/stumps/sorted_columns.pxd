# Sorted columns, shared by the kernels of this package only.

from libc.stdint cimport int64_t, uint8_t

cdef extern from "stumps/column_sort.h" nogil:
    ctypedef struct cwb_column:
        void *index
        uint8_t *last
        int64_t n_forward
        int64_t n_backward
        int64_t n_missing
        double skipped
        int wide
    int64_t cwb_row(const cwb_column *c, int64_t p)


cdef class SortedColumns:
    cdef cwb_column *columns
    cdef readonly int64_t n_samples
    cdef readonly int64_t n_features
    cdef int wide
