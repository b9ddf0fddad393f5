# Single entries of a training matrix, shared by the kernels of this package only.

from libc.stdint cimport int64_t


cdef class Entries:
    # Keeps the memory that the pointers lead to.
    cdef tuple arrays
    cdef const char *data
    cdef int64_t row_step, column_step
    cdef int size
    # The indices of a CSC matrix, NULL if the matrix is dense.
    cdef const void *indices
    cdef const void *indptr
    cdef bint wide

    cdef double at(self, int64_t row, int64_t column) noexcept nogil
