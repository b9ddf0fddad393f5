"""Projections of rows on many directions, and inverse factors: the same bits on every machine.

LAPACK sums in an order that depends on the processor and the number of threads. Here every entry of
a factor is changed by one product at a time, in ascending order of the pivots.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from cwboost._kernels.common.cpu cimport cwb_set, instruction_set
from cwboost._kernels.common.typedefs cimport feature_t

cdef extern from "projections/projection.h" nogil:
    enum:
        CWB_PROJ_LANES
        CWB_PROJ_ROWS
        CWB_PROJ_TASK
    void cwb_project_rows "CWB_BEST(project_rows)"(
        const double *x, int64_t d, const double *w, const int32_t *feature, int64_t count,
        double *sums)
    void cwb_project_stored "CWB_BEST(project_stored)"(
        const double *value, const int32_t *feature, int64_t count, const double *w,
        int64_t width, double *sums)
    int cwb_unknown_or_fewer "CWB_BEST(unknown_or_fewer)"(const double *row, int64_t d, double few)

cdef extern from "projections/directions.h" nogil:
    void cwb_gaussian(uint64_t seed, int64_t d, const double *scale, int64_t step, double *out)

cwb_set = instruction_set()

# Rows of a task that are held at a time, so that eight columns of W, once read, serve all of them.
cdef int64_t BYTES_HELD = 1 << 18
# Features of eight columns taken at a time: with four rows, these are 24 kB of the first cache.
cdef int64_t FEATURES_AT_ONCE = 256
# A row is summed over its non-zeros only if they are this fraction of a panel's features.
cdef double FEW = 0.3


cdef class Directions:
    """Directions in the columns of a matrix W, with the projections of a centre as offsets."""

    # The directions, with columns of zeros up to a multiple of 8.
    cdef double[:, ::1] W
    cdef double[::1] offset
    cdef int64_t d
    cdef int64_t width
    cdef readonly int64_t n_columns

    def __init__(self, const double[:, :] directions, const double[:] centre):
        cdef int64_t d = directions.shape[0], n = directions.shape[1], k, j
        if d == 0 or n == 0:
            raise ValueError(f"directions must not be empty, got shape ({d}, {n})")
        if centre is not None and centre.shape[0] != d:
            raise ValueError(f"centre must have {d} entries, got {centre.shape[0]}")
        self.d, self.n_columns = d, n
        self.width = (n + CWB_PROJ_LANES - 1) // CWB_PROJ_LANES * CWB_PROJ_LANES
        self.W, self.offset = np.zeros((d, self.width)), np.zeros(self.width)
        for k in range(d):
            for j in range(n):
                self.W[k, j] = directions[k, j]
                if centre is not None:
                    self.offset[j] += centre[k] * directions[k, j]

    cdef inline bint is_used(self, int64_t feature, int64_t panel) noexcept nogil:
        cdef const double *entry = &self.W[feature, CWB_PROJ_LANES * panel]
        cdef int64_t c
        for c in range(CWB_PROJ_LANES):
            if entry[c] != 0:
                return True
        return False

    def dense(self, Panels panels, const feature_t[:, :] X, floating[:, ::1] out, int n_threads):
        """Fill `out`, (n_columns, n_samples), with the projections of the rows of X.

        The panels are those of these directions. Doubles are the sums before they are rounded.
        """
        cdef int64_t n = X.shape[0], task
        cdef int64_t n_tasks = (n + CWB_PROJ_TASK - 1) // CWB_PROJ_TASK
        cdef int64_t row_step = X.strides[0] // <int64_t> sizeof(feature_t)
        cdef int64_t column_step = X.strides[1] // <int64_t> sizeof(feature_t)
        cdef const feature_t *x
        cdef int failed = 0
        if n == 0:
            return
        x = &X[0, 0]
        for task in prange(n_tasks, nogil=True, schedule="dynamic", num_threads=n_threads):
            failed += self.dense_task(panels, x, row_step, column_step, task * CWB_PROJ_TASK,
                                      min(n, (task + 1) * CWB_PROJ_TASK), n, &out[0, 0])
        if failed:
            raise MemoryError("no memory for the projections")

    cdef int dense_task(self, Panels panels, const feature_t *x, int64_t row_step,
                        int64_t column_step, int64_t start, int64_t end, int64_t n,
                        floating *out) noexcept nogil:
        cdef int64_t d = self.d, i, k, count
        cdef int64_t fitting = BYTES_HELD // (8 * CWB_PROJ_ROWS * d) * CWB_PROJ_ROWS
        cdef int64_t held = max(<int64_t> CWB_PROJ_ROWS, min(<int64_t> CWB_PROJ_TASK, fitting))
        cdef int64_t waiting = 0
        cdef double *row
        cdef int64_t *rows = <int64_t *> malloc(held * sizeof(int64_t))
        cdef double *tile = <double *> calloc(held * d, sizeof(double))
        cdef double *value = <double *> malloc(d * sizeof(double))
        cdef int32_t *feature = <int32_t *> malloc(d * sizeof(int32_t))
        cdef double *all_sums = <double *> malloc(self.width * sizeof(double))
        cdef int failed = (rows == NULL or tile == NULL or value == NULL or feature == NULL
                           or all_sums == NULL)
        if not failed:
            for i in range(start, end):
                row = tile + waiting * d
                if column_step == 1:
                    read_row(x + i * row_step, 1, d, row)
                else:
                    read_row(x + i * row_step, column_step, d, row)
                if cwb_unknown_or_fewer(row, d, panels.few):
                    count = 0
                    for k in range(d):
                        value[count], feature[count] = row[k], <int32_t> k
                        count += row[k] != 0
                    cwb_project_stored(value, feature, count, &self.W[0, 0], self.width, all_sums)
                    self.store(all_sums, i, n, 0, self.n_columns, out)
                else:
                    rows[waiting] = i
                    waiting += 1
                if waiting == held or (waiting and i == end - 1):
                    self.project_tile(panels, tile, rows, waiting, n, out)
                    waiting = 0
        free(rows)
        free(tile)
        free(value)
        free(feature)
        free(all_sums)
        return failed

    cdef void project_tile(self, Panels panels, const double *tile, const int64_t *rows,
                           int64_t n_rows, int64_t n, floating *out) noexcept nogil:
        """Project rows that lie one after the other; up to a multiple of four may be read."""
        cdef int64_t at = 0, row, first, end
        cdef double sums[CWB_PROJ_TASK * CWB_PROJ_LANES]
        cdef bint is_any = panels.feature.shape[0] > 0
        cdef const double *weights = &panels.panels[0, 0] if is_any else NULL
        cdef const int32_t *features = &panels.feature[0] if is_any else NULL
        while at < self.n_columns:
            memset(sums, 0, sizeof(sums))
            first = panels.start[at // CWB_PROJ_LANES]
            end = panels.start[at // CWB_PROJ_LANES + 1]
            while first < end:
                row = 0
                while row < n_rows:
                    cwb_project_rows(
                        tile + row * self.d, self.d, weights + CWB_PROJ_LANES * first,
                        features + first, min(FEATURES_AT_ONCE, end - first),
                        sums + row * CWB_PROJ_LANES)
                    row = row + CWB_PROJ_ROWS
                first = first + FEATURES_AT_ONCE
            # Rows beyond the last hold an earlier tile; their sums are not read.
            for row in range(n_rows):
                self.store(sums + row * CWB_PROJ_LANES - at, rows[row], n, at,
                           min(self.n_columns, at + CWB_PROJ_LANES), out)
            at = at + CWB_PROJ_LANES

    cdef void store(self, const double *sums, int64_t i, int64_t n, int64_t start, int64_t end,
                    floating *out) noexcept nogil:
        cdef int64_t j
        for j in range(start, end):
            out[j * n + i] = <floating> (sums[j] - self.offset[j])

    def sparse(self, const feature_t[::1] data, const int32_t[::1] features,
               const int64_t[::1] indptr, floating[:, ::1] out, int n_threads):
        """Do the same for the rows of a canonical CSR matrix whose indices are in range."""
        cdef int64_t n = indptr.shape[0] - 1, i
        cdef int failed = 0
        for i in prange(n, nogil=True, schedule="static", num_threads=n_threads):
            failed += self.sparse_row(&data[0] if data.shape[0] else NULL,
                                      &features[0] if features.shape[0] else NULL,
                                      indptr[i], indptr[i + 1] - indptr[i], i, n, &out[0, 0])
        if failed:
            raise MemoryError("no memory for the projections")

    cdef int sparse_row(self, const feature_t *data, const int32_t *features, int64_t start,
                        int64_t count, int64_t i, int64_t n, floating *out) noexcept nogil:
        cdef int64_t p
        cdef double *value = <double *> malloc((count + self.width) * sizeof(double))
        if value == NULL:
            return 1
        for p in range(count):
            value[p] = <double> data[start + p]
        cwb_project_stored(value, features + start, count, &self.W[0, 0], self.width, value + count)
        self.store(value + count, i, n, 0, self.n_columns, out)
        free(value)
        return 0


cdef class Panels:
    """Directions in panels of eight columns, each with the features that it uses."""

    cdef double[:, ::1] panels
    cdef int32_t[::1] feature
    cdef int64_t[::1] start
    cdef double few  # number of non-zeros below which a row is summed over these only

    def __init__(self, Directions directions):
        cdef int64_t n_panels = directions.width // CWB_PROJ_LANES, k, g
        cdef int64_t[::1] start = np.zeros(n_panels + 1, dtype=np.int64)
        cdef int64_t[::1] end
        for k in range(directions.d):
            for g in range(n_panels):
                start[g + 1] += directions.is_used(k, g)
        for g in range(n_panels):
            start[g + 1] += start[g]
        end = start.copy()
        self.start = start
        self.panels = np.empty((start[n_panels], CWB_PROJ_LANES))
        self.feature = np.empty(start[n_panels], dtype=np.int32)
        for k in range(directions.d):
            for g in range(n_panels):
                if directions.is_used(k, g):
                    self.feature[end[g]] = <int32_t> k
                    memcpy(&self.panels[end[g], 0], &directions.W[k, CWB_PROJ_LANES * g],
                           CWB_PROJ_LANES * sizeof(double))
                    end[g] += 1
        self.few = FEW * self.feature.shape[0] / n_panels


cdef inline void read_row(const feature_t *x, int64_t step, int64_t d, double *row) noexcept nogil:
    cdef int64_t k
    for k in range(d):
        row[k] = <double> x[k * step]


def seeded_directions(const uint64_t[::1] seeds, const double[::1] scale):
    """Return random directions that depend only on their seeds, on any machine and version.

    Parameters
    ----------
    seeds : ndarray of shape (n,), dtype uint64
    scale : ndarray of shape (n_features,), dtype float64
        Factors of the entries, which have mean 0 and variance 1 and are close to normal, e.g. the
        inverse of the spread of each feature.

    Returns
    -------
    ndarray of shape (n_features, n), dtype float64
    """
    cdef int64_t j, d = scale.shape[0], n = seeds.shape[0]
    directions = np.empty((d, n))
    cdef double[:, ::1] W = directions
    if d == 0:
        return directions
    for j in range(n):
        cwb_gaussian(seeds[j], d, &scale[0], n, &W[0, j])
    return directions


def inverse_factor(const double[:, :] A):
    """Return B, lower triangular, with ``B A B' = I``: the inverse of the Cholesky factor of A.

    A, (d, d), is symmetric; only its upper triangle is read. Cost: d**3 / 3 multiplications and
    additions. None if a pivot is not positive.
    """
    cdef int64_t d = A.shape[0], p, i, j
    cdef double scale
    cdef bint positive = True
    if A.shape[1] != d:
        raise ValueError(f"A must be square, got shape ({d}, {A.shape[1]})")
    result = np.zeros((d, d))
    cdef double[:, ::1] B = result
    cdef double[:, ::1] left = np.array(A)
    with nogil:
        for p in range(d):
            B[p, p] = 1.0
        for p in range(d):
            # A pivot that is NaN is not positive either.
            if not left[p, p] > 0.0:
                positive = False
                break
            scale = 1.0 / sqrt(left[p, p])
            for j in range(p, d):
                left[p, j] = left[p, j] * scale
            for j in range(p + 1):
                B[p, j] = B[p, j] * scale
            for i in range(p + 1, d):
                subtract(&left[i, i], &left[p, i], left[p, i], d - i)
                subtract(&B[i, 0], &B[p, 0], left[p, i], p + 1)
    return result if positive else None


cdef inline void subtract(double *target, const double *row, double factor,
                          int64_t m) noexcept nogil:
    cdef int64_t j
    for j in range(m):
        target[j] = target[j] - factor * row[j]
