"""Single entries of a training matrix, such as the values on both sides of a threshold.

An entry of a dense matrix costs one read, an entry of a CSC matrix a binary search in its column.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t


cdef class Entries:
    """The entries of a matrix; the arguments are checked by the caller.

    Parameters
    ----------
    data : ndarray, dtype uint8, float32 or float64
        Of shape (n_samples, n_features) in any layout of aligned numbers, or the stored numbers
        of a CSC matrix.
    indices, indptr : ndarray, both dtype int32 or both int64, default=None
        Of a CSC matrix whose indices ascend in every column.
    """

    def __init__(self, data, indices=None, indptr=None):
        self.arrays = data, indices, indptr
        self.data = <const char *> <size_t> data.__array_interface__["data"][0]
        self.size = data.itemsize
        self.indices = self.indptr = NULL
        if indices is None:
            self.row_step, self.column_step = data.strides
            return
        self.wide = indices.dtype == np.int64
        self.indices = <const void *> <size_t> indices.__array_interface__["data"][0]
        self.indptr = <const void *> <size_t> indptr.__array_interface__["data"][0]

    def __call__(self, int64_t row, int64_t column):
        """Return the entry, which must lie inside the matrix."""
        return self.at(row, column)

    cdef double at(self, int64_t row, int64_t column) noexcept nogil:
        cdef int64_t first, beyond, middle, end
        if self.indices == NULL:
            return number(self.data + row * self.row_step + column * self.column_step, self.size)
        first = index(self.indptr, column, self.wide)
        beyond = end = index(self.indptr, column + 1, self.wide)
        while first < beyond:
            middle = (first + beyond) // 2
            if index(self.indices, middle, self.wide) < row:
                first = middle + 1
            else:
                beyond = middle
        if first == end or index(self.indices, first, self.wide) != row:
            return 0.0
        return number(self.data + first * self.size, self.size)


cdef double number(const char *at, int size) noexcept nogil:
    if size == 1:
        return (<const uint8_t *> at)[0]
    if size == 4:
        return (<const float *> at)[0]
    return (<const double *> at)[0]


cdef int64_t index(const void *numbers, int64_t k, bint wide) noexcept nogil:
    return (<const int64_t *> numbers)[k] if wide else (<const int32_t *> numbers)[k]
