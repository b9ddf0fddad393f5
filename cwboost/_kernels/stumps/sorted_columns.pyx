"""Columns of a matrix in sorted order, laid out for a search from both ends (column_sort.h)."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "stumps/column_sort.h" nogil:
    ctypedef struct cwb_keyed:
        pass
    int cwb_sort_u8_32(cwb_column *, const uint8_t *, const int32_t *, int64_t, int64_t,
                       cwb_keyed *, cwb_keyed *, uint32_t *, int)
    int cwb_sort_f32_32(cwb_column *, const float *, const int32_t *, int64_t, int64_t,
                        cwb_keyed *, cwb_keyed *, uint32_t *, int)
    int cwb_sort_f64_32(cwb_column *, const double *, const int32_t *, int64_t, int64_t,
                        cwb_keyed *, cwb_keyed *, uint32_t *, int)
    int cwb_sort_u8_64(cwb_column *, const uint8_t *, const int64_t *, int64_t, int64_t,
                       cwb_keyed *, cwb_keyed *, uint32_t *, int)
    int cwb_sort_f32_64(cwb_column *, const float *, const int64_t *, int64_t, int64_t,
                        cwb_keyed *, cwb_keyed *, uint32_t *, int)
    int cwb_sort_f64_64(cwb_column *, const double *, const int64_t *, int64_t, int64_t,
                        cwb_keyed *, cwb_keyed *, uint32_t *, int)

ctypedef fused index_t:
    int32_t
    int64_t

cdef int64_t GATHERED_BYTES = 1 << 21


cdef class SortedColumns:
    """The columns of a matrix, each sorted, ready to be scanned.

    Parameters
    ----------
    n_samples, n_features : int
        `sort_dense` or `sort_sparse` must be called once before a search.
    """

    def __cinit__(self, int64_t n_samples, int64_t n_features):
        if not 0 < n_samples < 2**30:
            raise ValueError(f"the number of samples must be in [1, 2**30), got {n_samples}")
        self.n_samples = n_samples
        self.n_features = n_features
        self.wide = n_samples > 65536
        self.columns = <cwb_column *> calloc(max(1, n_features), sizeof(cwb_column))
        if self.columns == NULL:
            raise MemoryError("no memory for the sorted columns")

    def __dealloc__(self):
        cdef int64_t f
        if self.columns != NULL:
            for f in range(self.n_features):
                free(self.columns[f].index)
            free(self.columns)

    @property
    def n_visited(self):
        """Number of entries that a search visits, of n_samples x n_features."""
        cdef int64_t f, total = 0
        for f in range(self.n_features):
            total += self.columns[f].n_forward + self.columns[f].n_backward
        return total

    @property
    def nbytes(self):
        """Memory of the sorted columns."""
        cdef int64_t f, width = 4 if self.wide else 2, total = 0
        for f in range(self.n_features):
            total += self.columns[f].n_missing * width
        return total + self.n_visited * (width + 1) + self.n_features * sizeof(cwb_column)

    def sort_dense(self, const feature_t[:, :] X, int n_threads):
        """Sort the columns of X, (n_samples, n_features)."""
        cdef int64_t n = self.n_samples, d = self.n_features
        cdef int64_t width = max(1, min(64, GATHERED_BYTES // (n * <int64_t> sizeof(feature_t))))
        cdef int64_t n_groups = (d + width - 1) // width
        cdef int64_t row_step, column_step, g
        cdef const feature_t *x
        cdef int failed = 0
        if X.shape[0] != n or X.shape[1] != d:
            raise ValueError("X has another shape than was announced")
        if d == 0:
            return
        x = &X[0, 0]
        row_step = X.strides[0] // <int64_t> sizeof(feature_t)
        column_step = X.strides[1] // <int64_t> sizeof(feature_t)
        for g in prange(n_groups, nogil=True, schedule="dynamic", num_threads=n_threads):
            failed += sort_group(self, x, row_step, column_step, g * width,
                                 min(width, d - g * width))
        if failed:
            raise MemoryError("no memory for the sorted columns")

    def sort_sparse(self, const feature_t[::1] data, const index_t[::1] rows,
                    const index_t[::1] indptr, int n_threads):
        """Sort the columns of a CSC matrix without duplicates, its row indices in range."""
        cdef int64_t d = self.n_features, f
        cdef int failed = 0
        cdef const feature_t *x = &data[0] if data.shape[0] else NULL
        cdef const index_t *row = &rows[0] if rows.shape[0] else NULL
        if indptr.shape[0] != d + 1 or (d and indptr[d] > min(data.shape[0], rows.shape[0])):
            raise ValueError("the CSC arrays do not fit together")
        for f in prange(d, nogil=True, schedule="dynamic", chunksize=16, num_threads=n_threads):
            failed += sort_stored(self, f, x, row, indptr[f], indptr[f + 1] - indptr[f])
        if failed:
            raise MemoryError("no memory for the sorted columns")


cdef int sort_one(cwb_column *column, const feature_t *x, const index_t *rows,
                  int64_t n, int64_t n_zeros, cwb_keyed *a, cwb_keyed *b,
                  uint32_t *missing, int wide) noexcept nogil:
    if feature_t is uint8_t:
        if index_t is int32_t:
            return cwb_sort_u8_32(column, x, rows, n, n_zeros, a, b, missing, wide)
        else:
            return cwb_sort_u8_64(column, x, rows, n, n_zeros, a, b, missing, wide)
    elif feature_t is float:
        if index_t is int32_t:
            return cwb_sort_f32_32(column, x, rows, n, n_zeros, a, b, missing, wide)
        else:
            return cwb_sort_f32_64(column, x, rows, n, n_zeros, a, b, missing, wide)
    else:
        if index_t is int32_t:
            return cwb_sort_f64_32(column, x, rows, n, n_zeros, a, b, missing, wide)
        else:
            return cwb_sort_f64_64(column, x, rows, n, n_zeros, a, b, missing, wide)


cdef int sort_group(SortedColumns self, const feature_t *x, int64_t row_step, int64_t column_step,
                    int64_t first, int64_t count) noexcept nogil:
    # Neighbouring columns are copied together: they share the lines of memory they lie in.
    cdef int64_t n = self.n_samples, i, k
    cdef feature_t *values = <feature_t *> malloc(n * count * sizeof(feature_t))
    cdef cwb_keyed *a = <cwb_keyed *> malloc(n * sizeof(cwb_keyed))
    cdef cwb_keyed *b = <cwb_keyed *> malloc(n * sizeof(cwb_keyed))
    cdef uint32_t *missing = <uint32_t *> malloc(n * sizeof(uint32_t))
    cdef int failed = values == NULL or a == NULL or b == NULL or missing == NULL
    if not failed:
        for i in range(n):
            for k in range(count):
                values[k * n + i] = x[i * row_step + (first + k) * column_step]
        for k in range(count):
            failed |= sort_one(&self.columns[first + k], values + k * n, <int32_t *> NULL,
                               n, 0, a, b, missing, self.wide)
    free(values)
    free(a)
    free(b)
    free(missing)
    return failed != 0


cdef int sort_stored(SortedColumns self, int64_t f, const feature_t *x,
                     const index_t *row, int64_t start, int64_t count) noexcept nogil:
    cdef cwb_keyed *a
    cdef cwb_keyed *b
    cdef uint32_t *missing
    cdef int failed
    if count == 0:
        return 0
    a = <cwb_keyed *> malloc(count * sizeof(cwb_keyed))
    b = <cwb_keyed *> malloc(count * sizeof(cwb_keyed))
    missing = <uint32_t *> malloc(count * sizeof(uint32_t))
    failed = a == NULL or b == NULL or missing == NULL
    if not failed:
        failed = sort_one(&self.columns[f], x + start, row + start, count,
                          self.n_samples - count, a, b, missing, self.wide)
    free(a)
    free(b)
    free(missing)
    return failed != 0
