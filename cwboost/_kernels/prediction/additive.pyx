"""Scores of an additive model (see additive.h for the mathematics), dense and CSR, over threads."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t

from cwboost._kernels.common.arrays cimport FLOAT64, INT32, INT64, UINT8, entries
from cwboost._kernels.common.cpu cimport cwb_set, instruction_set
from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "prediction/additive.h" nogil:
    enum: CWB_ADD_ROWS
    enum: CWB_ADD_LANES
    ctypedef struct cwb_additive:
        int64_t n_slabs
        int64_t n_scores
        const int64_t *slab_entries
        const int32_t *slab_vectors
        const double *base
        const int32_t *feature
        const int64_t *threshold_start
        const double *thresholds
        const int64_t *table_start
        const double *table
        const uint8_t *lut
        const int32_t *entry_of
        int64_t n_mapped
    enum:
        CWB_U8
        CWB_F32
        CWB_F64
    ctypedef struct cwb_rows:
        const void *data
        int64_t row_step, column_step
        int n_rows, type
    void cwb_dense "CWB_BEST(additive_dense)"(const cwb_additive *, const cwb_rows *, double *out)
    void cwb_sparse "CWB_BEST(additive_sparse)"(
        const cwb_additive *, const double *data, const int32_t *columns, int64_t count,
        double *out)

cwb_set = instruction_set()

LANES = CWB_ADD_LANES


cdef class AdditiveModel:
    """Compiled tables; `cwboost.kernels.additive` builds them and describes the arrays.

    Its arrays, and those of its methods, are trusted to have consistent lengths.
    """

    cdef cwb_additive model
    cdef object arrays

    def __init__(self, int64_t n_scores, slab_entries, slab_vectors, base, feature,
                 threshold_start, thresholds, table_start, table, lut, entry_of):
        self.arrays = (slab_entries, slab_vectors, base, feature, threshold_start, thresholds,
                       table_start, table, lut, entry_of)
        self.model.n_scores, self.model.n_slabs = n_scores, len(slab_vectors)
        self.model.n_mapped = entry_of.shape[1]
        self.model.slab_entries = <const int64_t *> entries(slab_entries, INT64)
        self.model.slab_vectors = <const int32_t *> entries(slab_vectors, INT32)
        self.model.base = <const double *> entries(base, FLOAT64)
        self.model.feature = <const int32_t *> entries(feature, INT32)
        self.model.threshold_start = <const int64_t *> entries(threshold_start, INT64)
        self.model.thresholds = <const double *> entries(thresholds, FLOAT64)
        self.model.table_start = <const int64_t *> entries(table_start, INT64)
        self.model.table = <const double *> entries(table, FLOAT64)
        self.model.lut = <const uint8_t *> entries(lut, UINT8)
        self.model.entry_of = <const int32_t *> entries(entry_of, INT32)

    def dense(self, const feature_t[:, :] X, double[:, ::1] out, int n_threads):
        """Fill `out`, (n_samples, n_scores), with the scores of the rows of X."""
        cdef int64_t n_samples = X.shape[0]
        cdef int64_t n_blocks = (n_samples + CWB_ADD_ROWS - 1) // CWB_ADD_ROWS
        cdef int64_t row_step = X.strides[0] // <int64_t> sizeof(feature_t)
        cdef int64_t column_step = X.strides[1] // <int64_t> sizeof(feature_t)
        cdef int64_t block
        cdef const feature_t *x
        if n_samples == 0:
            return
        x = &X[0, 0] if X.shape[1] else NULL
        if n_threads == 1 or n_blocks == 1:
            with nogil:
                for block in range(n_blocks):
                    self.dense_block(x, row_step, column_step, block, n_samples, &out[0, 0])
        else:
            for block in prange(n_blocks, nogil=True, schedule="static", num_threads=n_threads):
                self.dense_block(x, row_step, column_step, block, n_samples, &out[0, 0])

    cdef void dense_block(self, const feature_t *x, int64_t row_step, int64_t column_step,
                          int64_t block, int64_t n_samples, double *out) noexcept nogil:
        cdef int64_t first = block * CWB_ADD_ROWS
        cdef cwb_rows rows
        rows.data = x + first * row_step
        rows.row_step, rows.column_step = row_step, column_step
        rows.n_rows = <int> min(CWB_ADD_ROWS, n_samples - first)
        rows.type = CWB_U8 if feature_t is uint8_t else CWB_F32 if feature_t is float else CWB_F64
        cwb_dense(&self.model, &rows, out + first * self.model.n_scores)

    def sparse(self, const double[::1] data, const int32_t[::1] columns,
               const int64_t[::1] indptr, double[:, ::1] out, int n_threads):
        """Do the same for the rows of a CSR matrix without duplicates."""
        cdef int64_t n_samples = indptr.shape[0] - 1, i
        cdef const double *value = &data[0] if data.shape[0] else NULL
        cdef const int32_t *column = &columns[0] if columns.shape[0] else NULL
        if n_threads == 1 or n_samples < CWB_ADD_ROWS:
            with nogil:
                for i in range(n_samples):
                    cwb_sparse(&self.model, value + indptr[i], column + indptr[i],
                               indptr[i + 1] - indptr[i], &out[i, 0])
        else:
            for i in prange(n_samples, nogil=True, schedule="static", num_threads=n_threads):
                cwb_sparse(&self.model, value + indptr[i], column + indptr[i],
                           indptr[i + 1] - indptr[i], &out[i, 0])
