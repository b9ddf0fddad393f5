"""Columns of a matrix in sorted order, laid out for a search from both ends (column_sort.h)."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "stumps/column_sort.h" nogil:
    ctypedef struct cwb_keyed:
        uint64_t key
        uint32_t row
    ctypedef struct cwb_unsorted:
        cwb_keyed *keyed
        cwb_keyed *spare
        uint32_t *missing
        int64_t n_present
        int64_t n_missing
        int64_t n_zeros
        int bytes
    uint64_t cwb_key_u8(uint8_t x)
    uint64_t cwb_key_f32(float x)
    uint64_t cwb_key_f64(double x)
    int cwb_sort_column(cwb_column *c, const cwb_unsorted *column, int wide)

ctypedef fused index_t:
    int32_t
    int64_t

cdef int64_t GATHERED_BYTES = 1 << 21


cdef class SortedColumns:
    """The columns of a matrix, each sorted, ready to be scanned.

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
        """Return the number of entries, of n_samples x n_features, that a search visits."""
        cdef int64_t f, total = 0
        for f in range(self.n_features):
            total += self.columns[f].n_forward + self.columns[f].n_backward
        return total

    @property
    def nbytes(self):
        """Return the memory of the sorted columns in bytes."""
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
        for f in prange(d, nogil=True, schedule="dynamic", chunksize=16, num_threads=n_threads):
            failed += sort_stored(self, f, x, row, indptr[f], indptr[f + 1] - indptr[f])
        if failed:
            raise MemoryError("no memory for the sorted columns")


cdef uint64_t key_of(feature_t x) noexcept nogil:
    if feature_t is uint8_t:
        return cwb_key_u8(x)
    elif feature_t is float:
        return cwb_key_f32(x)
    else:
        return cwb_key_f64(x)


cdef bint allocate(cwb_unsorted *column, int64_t n) noexcept nogil:
    """Allocate scratch memory for a column of n stored values; False if memory ran out."""
    column.keyed = <cwb_keyed *> malloc(n * sizeof(cwb_keyed))
    column.spare = <cwb_keyed *> malloc(n * sizeof(cwb_keyed))
    column.missing = <uint32_t *> malloc(n * sizeof(uint32_t))
    return column.keyed != NULL and column.spare != NULL and column.missing != NULL


cdef void release(cwb_unsorted *column) noexcept nogil:
    free(column.keyed)
    free(column.spare)
    free(column.missing)


cdef void read_values(cwb_unsorted *column, const feature_t *x, const index_t *rows,
                      int64_t n) noexcept nogil:
    """Read the keys of n stored values; rows NULL stands for rows 0 to n - 1."""
    cdef int64_t i, n_present = 0, n_missing = 0
    cdef uint32_t row
    for i in range(n):
        row = <uint32_t> rows[i] if rows != NULL else <uint32_t> i
        if x[i] != x[i]:
            column.missing[n_missing] = row
            n_missing += 1
        else:
            column.keyed[n_present].key = key_of(x[i])
            column.keyed[n_present].row = row
            n_present += 1
    column.n_present, column.n_missing = n_present, n_missing
    column.bytes = sizeof(feature_t)


cdef int sort_group(SortedColumns self, const feature_t *x, int64_t row_step, int64_t column_step,
                    int64_t first, int64_t count) noexcept nogil:
    # Neighbouring columns are copied together, since they share cache lines.
    cdef int64_t n = self.n_samples, i, k
    cdef bint in_place = row_step == 1
    cdef cwb_unsorted column
    cdef feature_t *values = NULL
    cdef bint failed = not allocate(&column, n)
    if not in_place:
        values = <feature_t *> malloc(n * count * sizeof(feature_t))
        failed |= values == NULL
    if not failed:
        for i in range(0 if in_place else n):
            for k in range(count):
                values[k * n + i] = x[i * row_step + (first + k) * column_step]
        column.n_zeros = 0
        for k in range(count):
            read_values(&column, x + (first + k) * column_step if in_place else values + k * n,
                        <int32_t *> NULL, n)
            failed |= cwb_sort_column(&self.columns[first + k], &column, self.wide) != 0
    free(values)
    release(&column)
    return failed


cdef int sort_stored(SortedColumns self, int64_t f, const feature_t *x, const index_t *rows,
                     int64_t start, int64_t count) noexcept nogil:
    cdef cwb_unsorted column
    cdef bint failed
    if count == 0:
        return 0
    failed = not allocate(&column, count)
    if not failed:
        read_values(&column, x + start, rows + start, count)
        column.n_zeros = self.n_samples - count
        failed = cwb_sort_column(&self.columns[f], &column, self.wide) != 0
    release(&column)
    return failed
