"""Exact search for the one stump that serves all targets best (shared.h)."""

from cython.parallel cimport prange
from libc.math cimport fabs, isfinite, rint
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

import numpy as np

from cwboost._kernels.stumps.search import FOUND

from cwboost._kernels.stumps.kernels cimport (
    CWB_COARSE, CWB_VECTOR, cwb_scale_of, cwb_stump, cwb_stump_kernels, cwb_weights, kernels)
from cwboost._kernels.stumps.search cimport Found, StumpSearch
from cwboost._kernels.stumps.sorted_columns cimport cwb_column

cdef extern from "stumps/shared.h" nogil:
    enum:
        CWB_SLICE_LANES
    ctypedef struct cwb_slices:
        const int32_t *rows
        const int32_t *half
        int64_t n_samples, lanes
    ctypedef struct cwb_together:
        const double *r
        int64_t stride, n_targets
        double scale
        const double *totals
        double *sums
    int32_t cwb_shared_scan(const cwb_stump_kernels *kernels, const cwb_slices *all,
                            const cwb_column *c, int32_t *scratch)
    cwb_stump cwb_shared_settle(const cwb_together *t, const cwb_column *c)


cdef class SharedStumpSearch(StumpSearch):
    """`StumpSearch` that also finds the maximum over h of sum_t |sum_i r_t(i) h(x_i)|."""

    def search_shared(self, const double[:, :] weights, const int64_t[::1] features,
                      int n_threads):
        """Return the best stump for all rows of weights; arguments as for `search`.

        Returns
        -------
        feature, threshold, polarity, missing, edges, outputs
            Each with one entry; the polarity is +1.
        sums, norms
            With one entry per target.
        """
        cdef int64_t n = self.n_samples, n_targets = weights.shape[0], t
        cdef double mass = 0.0, edge = 0.0
        cdef double[::1] totals = np.empty(n_targets), sums = np.empty(n_targets)
        cdef double[::1] squares = np.empty(n_targets)
        cdef cwb_together w
        w.r, w.n_targets, w.totals, w.sums = &weights[0, 0], n_targets, &totals[0], &sums[0]
        w.stride = weights.strides[0] // <int64_t> sizeof(double)
        for t in range(n_targets):
            mass += kernels.mass(w.r + t * w.stride, n)
        w.scale = cwb_scale_of(mass)
        if w.scale == 0.0:
            raise ValueError("weights must be finite and sum to a finite number")
        if not isfinite(w.scale):
            factor = 2.0**600
            found = self.search_shared(np.asarray(weights) * factor, features, n_threads)
            return *found[:4], found[4] / factor, found[5], found[6] / factor, found[7] / factor
        for t in range(n_targets):
            totals[t] = kernels.total(w.r + t * w.stride, w.scale, n, &squares[t])
        cdef int32_t[::1] best = self.scan_shared(&w, features, n_threads)
        cdef Found[::1] winner = self.settle_shared(&w, features, best)
        polarity, missing = np.empty(1, dtype=np.int8), np.empty(1, dtype=np.int8)
        outputs = np.empty((1, (n + 7) // 8), dtype=np.uint8)
        cdef int8_t[::1] polarity_ = polarity, missing_ = missing
        cdef uint8_t[:, ::1] outputs_ = outputs
        self.write_one(&winner[0], 1.0, &polarity_[0], &missing_[0], &outputs_[0, 0])
        for t in range(n_targets):
            edge += fabs(kernels.edge(w.r + t * w.stride, &outputs_[0, 0], n))
        feature, threshold = self.locate(winner)
        return (feature, threshold, polarity, missing, np.array([edge]), outputs,
                np.asarray(totals) / w.scale, np.sqrt(squares) / w.scale)

    cdef scan_shared(self, const cwb_together *w, const int64_t[::1] features, int n_threads):
        """Return the sum over targets of |E| / 2 per column, in units of 2^20 / scale."""
        cdef int64_t n = self.n_samples, n_targets = w.n_targets, n_columns = features.shape[0]
        cdef int64_t first, f
        cdef int failed = 0
        cdef cwb_slices slices
        cdef cwb_weights part
        cdef int32_t[::1] half, best_
        cdef int32_t *rows
        cdef double[::1] scales = np.full(n_targets, w.scale)
        best = np.full(n_columns, np.iinfo(np.int32).max, dtype=np.int32)
        # Beyond this, sums of |E| / 2 might overflow: every column is settled.
        if n * n_targets >= 2**31 or n_columns == 0:
            return best
        best_ = best
        slices.lanes = (n_targets + CWB_VECTOR - 1) // CWB_VECTOR * CWB_VECTOR
        slices.n_samples = n
        half = np.zeros(slices.lanes, dtype=np.int32)
        for first in range(n_targets):
            half[first] = <int32_t> -rint(w.totals[first] * (0.5 * CWB_COARSE))
        rows = self.rows.room(n * slices.lanes)
        part.stride = w.stride
        for first in range(0, slices.lanes, CWB_SLICE_LANES):
            part.r, part.scales = w.r + first * w.stride, &scales[first]
            part.n_targets = min(CWB_SLICE_LANES, n_targets - first)
            kernels.fill_rows(&part, <int> min(CWB_SLICE_LANES, slices.lanes - first), 0, n,
                              rows + first * n)
        slices.rows, slices.half = rows, &half[0]
        for f in prange(n_columns, nogil=True, schedule="dynamic", chunksize=4,
                        num_threads=n_threads):
            failed += scan_column(&slices, &self.columns[features[f]], &best_[f])
        if failed:
            raise MemoryError("no memory for the search")
        return best

    cdef settle_shared(self, const cwb_together *w, const int64_t[::1] features,
                       const int32_t[::1] best):
        cdef int64_t f, n_columns = features.shape[0], m
        cdef double sure = 0.0
        cdef Found found
        cdef cwb_stump stump
        cdef const cwb_column *column
        bounds = np.empty(n_columns)
        cdef double[::1] bounds_ = bounds
        found.column = -1
        found.stump.above = 1.0
        found.stump.missing = 0.0
        found.stump.position = -1
        found.stump.edge = np.abs(<double[:w.n_targets]> <double *> w.totals).sum()
        sure = 0.5 * CWB_COARSE * found.stump.edge
        for f in range(n_columns):
            column = &self.columns[features[f]]
            m = column.n_forward + column.n_backward + column.n_missing
            # For each target m (1/2 + 2^-21) for the sums and 1/2 for -T/2.
            bounds_[f] = w.n_targets * (0.500001 * m + 2.0)
            if best[f] != 2147483647:
                sure = max(sure, best[f] - bounds_[f])
        for f in range(n_columns):
            if best[f] + bounds_[f] < sure:
                continue
            stump = cwb_shared_settle(w, &self.columns[features[f]])
            if stump.edge > found.stump.edge:
                found.column = features[f]
                found.stump = stump
        winner = np.empty(1, dtype=FOUND)
        cdef Found[::1] winner_ = winner
        winner_[0] = found
        return winner


cdef int scan_column(const cwb_slices *slices, const cwb_column *column,
                     int32_t *best) noexcept nogil:
    cdef int64_t visited = column.n_forward + column.n_backward
    cdef int32_t *scratch = <int32_t *> malloc(max(1, visited) * sizeof(int32_t))
    if scratch == NULL:
        return 1
    best[0] = cwb_shared_scan(kernels, slices, column, scratch)
    free(scratch)
    return 0
