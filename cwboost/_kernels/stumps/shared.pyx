"""Exact search for the one stump that serves all targets best (shared.h)."""

from cython.parallel cimport prange
from libc.math cimport fabs, isfinite
from libc.stdint cimport int8_t, int64_t, uint8_t

import numpy as np

from cwboost._kernels.stumps.search import FOUND

from cwboost._kernels.stumps.kernels cimport (
    cwb_scale_of, cwb_stump, cwb_stump_kernels, cwb_weights, kernels)
from cwboost._kernels.stumps.search cimport Found, StumpSearch
from cwboost._kernels.stumps.sorted_columns cimport cwb_column

cdef extern from "stumps/shared.h" nogil:
    ctypedef struct cwb_together:
        const double *rows
        const double *totals
        int64_t lanes
    void cwb_fill_together(const cwb_weights *w, int64_t lanes, int64_t n, double *rows)
    cwb_stump cwb_shared_settle(const cwb_stump_kernels *kernels, const cwb_together *t,
                                const cwb_column *c, double *sums)


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
        cdef int64_t lanes = (n_targets + 7) // 8 * 8
        cdef double mass = 0.0, edge = 0.0, scale
        cdef double[::1] totals = np.zeros(lanes), squares = np.empty(n_targets)
        cdef double[::1] scales
        cdef cwb_weights w
        w.r, w.n_targets = &weights[0, 0], n_targets
        w.stride = weights.strides[0] // <int64_t> sizeof(double)
        for t in range(n_targets):
            mass += kernels.mass(w.r + t * w.stride, n)
        scale = cwb_scale_of(mass)
        if scale == 0.0:
            raise ValueError("weights must be finite and sum to a finite number")
        if not isfinite(scale):
            factor = 2.0**600
            found = self.search_shared(np.asarray(weights) * factor, features, n_threads)
            return *found[:4], found[4] / factor, found[5], found[6] / factor, found[7] / factor
        scales = np.full(n_targets, scale)
        w.scales = &scales[0]
        for t in range(n_targets):
            totals[t] = kernels.total(w.r + t * w.stride, scale, n, &squares[t])
        cdef Found[::1] winner = self.best_shared(&w, totals, features, n_threads)
        polarity, missing = np.empty(1, dtype=np.int8), np.empty(1, dtype=np.int8)
        outputs = np.empty((1, (n + 7) // 8), dtype=np.uint8)
        cdef int8_t[::1] polarity_ = polarity, missing_ = missing
        cdef uint8_t[:, ::1] outputs_ = outputs
        self.write_one(&winner[0], 1.0, &polarity_[0], &missing_[0], &outputs_[0, 0])
        for t in range(n_targets):
            edge += fabs(kernels.edge(w.r + t * w.stride, &outputs_[0, 0], n))
        feature, threshold = self.locate(winner)
        return (feature, threshold, polarity, missing, np.array([edge]), outputs,
                np.asarray(totals)[:n_targets] / scale, np.sqrt(squares) / scale)

    cdef Found[::1] best_shared(self, const cwb_weights *w, const double[::1] totals,
                                const int64_t[::1] features, int n_threads):
        """Return the stump with the largest sum of |E_t|: the constant, or of the first column."""
        cdef int64_t n_columns = features.shape[0], lanes = totals.shape[0], f
        cdef double *rows = <double *> self.rows.room(2 * self.n_samples * lanes)
        cdef double[:, ::1] sums = np.empty((n_columns + 1, lanes))
        cdef Found[::1] found = np.empty(n_columns, dtype=FOUND)
        cdef Found[::1] best = np.empty(1, dtype=FOUND)
        cdef cwb_together together
        cwb_fill_together(w, lanes, self.n_samples, rows)
        together.rows, together.totals, together.lanes = rows, &totals[0], lanes
        for f in prange(n_columns, nogil=True, schedule="dynamic", chunksize=4,
                        num_threads=n_threads):
            found[f].column = features[f]
            found[f].stump = cwb_shared_settle(kernels, &together, &self.columns[features[f]],
                                               &sums[f, 0])
        best[0].column = best[0].stump.position = -1
        best[0].stump.above, best[0].stump.missing = 1.0, 0.0
        best[0].stump.edge = np.abs(totals).sum()
        for f in range(n_columns):
            if found[f].stump.edge > best[0].stump.edge:
                best[0] = found[f]
        return best
