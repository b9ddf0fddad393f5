"""Sums over the nodes of growing trees in one partition: exact, and so in any order.

Weights are rounded to integers as in bin_sums.h, and stay beside the rows of their node, so that
they are read in order.
"""

import numpy as np

from cython.parallel cimport prange
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from cwboost._kernels.common.cpu cimport instruction_set

cdef extern from "common/rounding.h" nogil:
    const double CWB_ROUND

cdef extern from "partitions/node_sums.h" nogil:
    ctypedef struct cwb_node_kernels:
        void (*totals)(const double*, int64_t, double*) noexcept nogil
    const cwb_node_kernels* const cwb_node_tables[]

cdef const cwb_node_kernels* kernels = cwb_node_tables[instruction_set()]


cdef inline double rounded(double r, double scale) noexcept nogil:
    return (r * scale + CWB_ROUND) - CWB_ROUND


cdef class NodeRows:
    """The rows of every node of some trees, one tree per target.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_features), dtype uint8
    n_bins : ndarray of shape (n_features,), dtype int32
        The code of missing values of each feature.
    weights : ndarray of shape (n_trees, n_samples), dtype float64
    scales : ndarray of shape (n_trees,), dtype float64
        Powers of two by which the weights are multiplied before they are rounded.
    bounds : ndarray of shape (n_trees,), dtype float64
        A tree has the rows whose rounded weight is not zero, and not below this in magnitude.
    n_threads : int
    """

    cdef const uint8_t[:, ::1] codes
    cdef const int32_t[::1] n_bins
    cdef int32_t[::1] rows, other_rows
    cdef double[::1] w, other_w
    cdef int64_t[::1] starts, ends
    cdef double[:, ::1] sums
    cdef int n_threads

    def __init__(self, codes, n_bins, const double[:, :] weights, const double[::1] scales,
                 const double[::1] bounds, int n_threads):
        cdef int64_t t, n_trees = bounds.shape[0]
        self.codes, self.n_bins, self.n_threads = codes, n_bins, n_threads
        sizes = np.zeros(n_trees + 1, dtype=np.int64)
        cdef int64_t[::1] ends = sizes
        for t in prange(n_trees if weights.shape[1] else 0, nogil=True, num_threads=n_threads,
                        schedule="dynamic"):
            ends[t + 1] = kept_rows(&weights[t, 0], weights.shape[1], scales[t], bounds[t])
        sizes = np.cumsum(sizes)
        self.starts, self.ends = sizes[:n_trees].copy(), sizes[1:].copy()
        # With one entry more, so that the end of the last node has an address.
        self.rows = np.zeros(sizes[n_trees] + 1, np.int32)
        self.w = np.empty(sizes[n_trees] + 1)
        self.other_rows, self.other_w = np.empty_like(self.rows), np.empty_like(self.w)
        self.sums = np.zeros((n_trees, 4))
        if weights.shape[1] == 0:
            return
        for t in prange(n_trees, nogil=True, num_threads=n_threads, schedule="dynamic"):
            take_rows(&weights[t, 0], scales[t], bounds[t], &self.rows[self.starts[t]],
                      &self.w[self.starts[t]], self.ends[t] - self.starts[t])
            kernels.totals(&self.w[self.starts[t]], self.ends[t] - self.starts[t],
                           &self.sums[t, 0])

    def split(self, const int32_t[::1] nodes, const int32_t[::1] features,
              const int32_t[::1] cuts, const uint8_t[::1] missing_right,
              const uint8_t[:, ::1] sides):
        """Split nodes, in ascending order; children get the next two numbers each.

        Codes up to the cut go left. A negative cut -1 - k stands for row k of `sides`, of 32 bytes:
        a code goes right if its bit is set, by ``code % 8`` of byte ``code // 8``.
        """
        cdef int64_t k, n = nodes.shape[0], first = self.starts.shape[0]
        cdef int n_threads = self.n_threads
        self.starts = np.concatenate([self.starts, np.empty(2 * n, np.int64)])
        self.ends = np.concatenate([self.ends, np.empty(2 * n, np.int64)])
        self.sums = np.concatenate([self.sums, np.zeros((2 * n, 4))])
        for k in prange(n, nogil=True, num_threads=n_threads, schedule="dynamic",
                        chunksize=16):
            self.divide(nodes[k], first + 2 * k, features[k], cuts[k], missing_right[k],
                        &sides[-1 - cuts[k], 0] if cuts[k] < 0 else NULL)

    cdef void divide(self, int64_t node, int64_t child, int64_t feature, int cut,
                     bint missing_right, const uint8_t* side) noexcept nogil:
        """Move the rows of a node that go right behind the others, and sum both children."""
        cdef int64_t i, n_left = 0, n_right = 0, start = self.starts[node]
        cdef int64_t n = self.ends[node] - start, stride = self.codes.shape[1]
        cdef int code
        cdef int32_t* rows = &self.rows[start]
        cdef int32_t* other_rows = &self.other_rows[start]
        cdef double* w = &self.w[start]
        cdef double* other_w = &self.other_w[start]
        cdef const uint8_t* codes = &self.codes[0, feature] if n > 0 else NULL
        cdef int missing = self.n_bins[feature]
        cdef bint right
        for i in range(n):
            code = codes[rows[i] * stride]
            right = goes_right(code, cut, missing, missing_right, side)
            # Without a branch, which would be mispredicted.
            other_rows[n_right], other_w[n_right] = rows[i], w[i]
            rows[n_left], w[n_left] = rows[i], w[i]
            n_right += right
            n_left += not right
        memcpy(rows + n_left, other_rows, n_right * sizeof(int32_t))
        memcpy(w + n_left, other_w, n_right * sizeof(double))
        self.starts[child], self.ends[child] = start, start + n_left
        self.starts[child + 1], self.ends[child + 1] = start + n_left, start + n
        kernels.totals(w, n_left, &self.sums[child, 0])
        kernels.totals(w + n_left, n_right, &self.sums[child + 1, 0])

    def totals(self, nodes):
        """Return sum, mass, number and coarse squares of the weights of nodes, (n_nodes, 4)."""
        return np.asarray(self.sums)[nodes]

    def histograms(self, const int64_t[::1] nodes, const int32_t[::1] features):
        """Return sum, mass and number per code, of shape (n_pairs, n_codes, 3).

        ``n_codes`` is the largest number of codes of one of the features, missing values included.
        """
        cdef int64_t k, n_pairs = nodes.shape[0]
        cdef int n_threads = self.n_threads
        cdef int64_t most = np.asarray(self.n_bins)[np.asarray(features)].max(initial=0)
        found = np.zeros((n_pairs, min(256, most + 1), 3))
        cdef double[:, :, ::1] out = found
        if self.codes.shape[0] == 0:
            return found
        for k in prange(n_pairs, nogil=True, num_threads=n_threads, schedule="dynamic"):
            self.add_codes(nodes[k], features[k], &out[k, 0, 0])
        return found

    cdef void add_codes(self, int64_t node, int64_t feature, double* out) noexcept nogil:
        cdef int64_t i, stride = self.codes.shape[1]
        cdef const uint8_t* codes = &self.codes[0, feature]
        cdef double* at
        for i in range(self.starts[node], self.ends[node]):
            at = out + 3 * codes[self.rows[i] * stride]
            at[0] += self.w[i]
            at[1] += fabs(self.w[i])
            at[2] += 1.0


cdef int64_t kept_rows(const double* r, int64_t n, double scale, double bound) noexcept nogil:
    """Return the number of rows that a tree has."""
    cdef int64_t i, n_kept = 0
    bound = max(1.0, bound)
    for i in range(n):
        n_kept += fabs(rounded(r[i], scale)) >= bound
    return n_kept


cdef void take_rows(const double* r, double scale, double bound, int32_t* rows, double* w,
                    int64_t n_kept) noexcept nogil:
    """Write these rows and their rounded weights."""
    cdef int64_t i = 0, k = 0
    bound = max(1.0, bound)
    while k < n_kept:
        # Without a branch, which would be mispredicted: what is not kept is written over.
        rows[k], w[k] = <int32_t> i, rounded(r[i], scale)
        k += fabs(w[k]) >= bound
        i += 1


cdef inline bint goes_right(int code, int cut, int missing, bint missing_right,
                            const uint8_t* side) noexcept nogil:
    if side != NULL:
        return side[code >> 3] >> (code & 7) & 1
    return missing_right if code == missing else code > cut


def masses_by_size(const double[:, :] weights, const double[::1] scales, int n_threads):
    """Return the exact masses of rounded weights by their size, (n_targets, 416).

    Size s holds the magnitudes from ``2**(s // 8) (1 + s % 8 / 8)`` up to those of the next.

    Parameters
    ----------
    weights : ndarray of shape (n_targets, n_samples), dtype float64
    scales : ndarray of shape (n_targets,), dtype float64
        Powers of two by which the weights are multiplied before they are rounded.
    n_threads : int
    """
    cdef int64_t t, i, bits, n_targets = weights.shape[0], n = weights.shape[1]
    cdef double w
    found = np.zeros((n_targets, 416))
    cdef double[:, ::1] out = found
    for t in prange(n_targets, nogil=True, num_threads=n_threads, schedule="dynamic"):
        for i in range(n):
            w = fabs(rounded(weights[t, i], scales[t]))
            memcpy(&bits, &w, sizeof(bits))
            # Zeros add nothing: without a branch, which would be mispredicted.
            out[t, max(<int64_t> 0, min(<int64_t> 415, (bits >> 49) - (1023 << 3)))] += w
    return found
