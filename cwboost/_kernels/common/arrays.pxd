# Short arrays, made and read without views of memory; shared by the kernels of this package only.

from libc.stdint cimport int64_t


cdef enum Kind:
    UINT8
    INT8
    INT32
    INT64
    FLOAT64

cdef object new_vector(int64_t n, Kind kind)
cdef object new_matrix(int64_t n_rows, int64_t n, Kind kind)
cdef void *data_of(object array) noexcept
cdef bint is_vector(object array, Kind kind) noexcept
cdef bint is_matrix(object array, Kind kind, int64_t n_rows, int64_t n) noexcept
cdef object as_vector(object numbers, Kind kind)
cdef int64_t length_of(object array) noexcept
cdef void *entries(object array, Kind kind) except? NULL
cdef void *vector(object array, Kind kind, int64_t n) except? NULL
cdef void *matrix(object array, Kind kind, int64_t n_rows, int64_t n) except? NULL
