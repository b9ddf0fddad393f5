# Columns of the restricted master, shared by the kernels of this package only.

from libc.stdint cimport int32_t, int64_t, uint8_t


cdef class ColumnStore:
    cdef readonly int64_t n_classes, n_bytes, capacity
    cdef bint shared
    cdef list memory, tables
    # Of each class: its first column, how many it has and has room for, and where to find a column
    # by its hash.
    cdef uint8_t** first
    cdef int64_t* count
    cdef int64_t* room
    cdef int32_t** slots

    cdef int64_t store(self, int64_t c, const uint8_t* bits, uint8_t* is_new) except -1
    cdef int64_t find(self, int64_t c, const uint8_t* bits, int64_t* slot) noexcept nogil
    cdef int grow(self, int64_t c) except -1
