"""Sums over the nodes of growing trees in one partition: exact, and so in any order.

Weights are rounded to integers as in bin_sums.h, and stay beside the rows of their node, so that
they are read in order. A task is a pair of a node and a feature; it costs one pass over the node's
rows.
"""

import numpy as np

from cython.parallel cimport prange
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

# Adding and subtracting 1.5 x 2^52 rounds to integers.
cdef double TO_INTEGER = 6755399441055744.0
# Squares are summed of weights rounded more coarsely by this factor.
cdef double COARSE = 2.0 ** -26

cdef enum:
    BLOCK = 256  # codes that are gathered at a time


cdef inline double rounded(double r, double scale) noexcept nogil:
    return (r * scale + TO_INTEGER) - TO_INTEGER


cdef struct Pair:
    const uint8_t* codes
    const int32_t* rows
    const double* w
    int64_t n
    int missing


cdef class NodeRows:
    """The rows of every node of some trees, one tree per target.

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_samples), dtype uint8
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
        self.rows, self.w = np.empty(sizes[n_trees] + 1, np.int32), np.empty(sizes[n_trees] + 1)
        self.other_rows, self.other_w = np.empty_like(self.rows), np.empty_like(self.w)
        self.sums = np.zeros((n_trees, 4))
        if weights.shape[1] == 0:
            return
        for t in prange(n_trees, nogil=True, num_threads=n_threads, schedule="dynamic"):
            take_rows(&weights[t, 0], weights.shape[1], scales[t], bounds[t],
                      &self.rows[self.starts[t]], &self.w[self.starts[t]])
            add_totals(&self.w[self.starts[t]], self.ends[t] - self.starts[t], &self.sums[t, 0])

    def split(self, const int64_t[::1] nodes, const int32_t[::1] features,
              const int32_t[::1] cuts, const uint8_t[::1] missing_right,
              const uint8_t[:, ::1] sides):
        """Split nodes; children get the next two numbers each.

        Codes up to the cut go left. A negative cut -1 - k stands for row k of `sides`, of 32 bytes:
        a code goes right if its bit is set, by ``code % 8`` of byte ``code // 8``.
        """
        cdef int64_t k, n = nodes.shape[0], first = self.starts.shape[0]
        self.starts = np.concatenate([self.starts, np.empty(2 * n, np.int64)])
        self.ends = np.concatenate([self.ends, np.empty(2 * n, np.int64)])
        self.sums = np.concatenate([self.sums, np.zeros((2 * n, 4))])
        for k in prange(n, nogil=True, num_threads=self.n_threads, schedule="dynamic"):
            self.divide(nodes[k], first + 2 * k, features[k], cuts[k], missing_right[k],
                        &sides[-1 - cuts[k], 0] if cuts[k] < 0 else NULL)

    cdef void divide(self, int64_t node, int64_t child, int64_t feature, int cut,
                     bint missing_right, const uint8_t* side) noexcept nogil:
        """Move the rows of a node that go right behind the others, and sum both children."""
        cdef int64_t i, n_left = 0, n_right = 0, start = self.starts[node]
        cdef int64_t n = self.ends[node] - start
        cdef int32_t* rows = &self.rows[start]
        cdef int32_t* other_rows = &self.other_rows[start]
        cdef double* w = &self.w[start]
        cdef double* other_w = &self.other_w[start]
        cdef const uint8_t* codes = &self.codes[feature, 0] if n > 0 else NULL
        cdef int missing = self.n_bins[feature]
        cdef bint right
        for i in range(n):
            right = goes_right(codes[rows[i]], cut, missing, missing_right, side)
            # Without a branch, which would be mispredicted.
            other_rows[n_right], other_w[n_right] = rows[i], w[i]
            rows[n_left], w[n_left] = rows[i], w[i]
            n_right += right
            n_left += not right
        memcpy(rows + n_left, other_rows, n_right * sizeof(int32_t))
        memcpy(w + n_left, other_w, n_right * sizeof(double))
        self.starts[child], self.ends[child] = start, start + n_left
        self.starts[child + 1], self.ends[child + 1] = start + n_left, start + n
        add_totals(w, n_left, &self.sums[child, 0])
        add_totals(w + n_left, n_right, &self.sums[child + 1, 0])

    def totals(self, nodes):
        """Return sum, mass, number and coarse squares of the weights of nodes, (n_nodes, 4)."""
        return np.asarray(self.sums)[nodes]

    cdef Pair pair(self, int64_t node, int64_t feature) noexcept nogil:
        cdef Pair p
        p.codes = &self.codes[feature, 0]
        p.rows, p.w = &self.rows[self.starts[node]], &self.w[self.starts[node]]
        p.n, p.missing = self.ends[node] - self.starts[node], self.n_bins[feature]
        return p

    def ranges(self, const int64_t[::1] nodes, const int32_t[::1] features):
        """Return the ranges of codes of pairs of a node and a feature, of shape (n_pairs, 3).

        The smallest code, minus the largest one, both 256 if there is none, and -1 if the feature
        is missing in an example, else 0. The least of two partitions is that of both.
        """
        cdef int64_t k, n_pairs = nodes.shape[0]
        found = np.tile(np.array([256, 256, 0], dtype=np.int64), (n_pairs, 1))
        cdef int64_t[:, ::1] out = found
        if self.codes.shape[1] == 0:
            return found
        for k in prange(n_pairs, nogil=True, num_threads=self.n_threads, schedule="dynamic",
                        chunksize=16):
            find_range(self.pair(nodes[k], features[k]), &out[k, 0])
        return found

    def below(self, const int64_t[::1] nodes, const int32_t[::1] features,
              const int32_t[::1] cuts):
        """Return sum, mass and number up to a cut and of missing values, (n_pairs, 2, 3)."""
        cdef int64_t k, n_pairs = nodes.shape[0]
        found = np.zeros((n_pairs, 2, 3))
        cdef double[:, :, ::1] out = found
        if self.codes.shape[1] == 0:
            return found
        for k in prange(n_pairs, nogil=True, num_threads=self.n_threads, schedule="dynamic",
                        chunksize=16):
            add_below(self.pair(nodes[k], features[k]), cuts[k], &out[k, 0, 0])
        return found

    def histograms(self, const int64_t[::1] nodes, const int32_t[::1] features):
        """Return sum, mass and number per code, of shape (n_pairs, n_codes, 3).

        ``n_codes`` is the largest number of codes of one of the features, missing values included.
        """
        cdef int64_t k, n_pairs = nodes.shape[0]
        cdef int64_t most = np.asarray(self.n_bins)[np.asarray(features)].max(initial=0)
        found = np.zeros((n_pairs, min(256, most + 1), 3))
        cdef double[:, :, ::1] out = found
        if self.codes.shape[1] == 0:
            return found
        for k in prange(n_pairs, nogil=True, num_threads=self.n_threads, schedule="dynamic"):
            add_codes(self.pair(nodes[k], features[k]), &out[k, 0, 0])
        return found


cdef int64_t kept_rows(const double* r, int64_t n, double scale, double bound) noexcept nogil:
    """Return the number of rows that a tree has."""
    cdef int64_t i, n_kept = 0
    bound = max(1.0, bound)
    for i in range(n):
        n_kept += fabs(rounded(r[i], scale)) >= bound
    return n_kept


cdef void take_rows(const double* r, int64_t n, double scale, double bound, int32_t* rows,
                    double* w) noexcept nogil:
    """Write these rows and their rounded weights."""
    cdef int64_t i
    cdef double own
    bound = max(1.0, bound)
    for i in range(n):
        own = rounded(r[i], scale)
        if fabs(own) >= bound:
            rows[0], w[0] = <int32_t> i, own
            rows += 1
            w += 1


cdef void add_totals(const double* w, int64_t n, double* out) noexcept nogil:
    cdef int64_t i
    cdef double sum = 0.0, mass = 0.0, squares = 0.0, coarse
    for i in range(n):
        sum = sum + w[i]
        mass = mass + fabs(w[i])
        coarse = rounded(w[i], COARSE)
        squares = squares + coarse * coarse
    out[0], out[1], out[2], out[3] = sum, mass, <double> n, squares


cdef inline bint goes_right(int code, int cut, int missing, bint missing_right,
                            const uint8_t* side) noexcept nogil:
    if side != NULL:
        return side[code >> 3] >> (code & 7) & 1
    return missing_right if code == missing else code > cut


cdef inline int64_t gather(Pair* p, int64_t at, uint8_t* codes) noexcept nogil:
    """Gather the codes of the next rows, at most BLOCK; return their number."""
    cdef int64_t i, n = min(<int64_t> BLOCK, p.n - at)
    for i in range(n):
        codes[i] = p.codes[p.rows[at + i]]
    return n


cdef void find_range(Pair p, int64_t* out) noexcept nogil:
    cdef uint8_t codes[BLOCK]
    cdef uint8_t smallest = 255, largest = 0
    cdef int64_t i, n, at = 0
    cdef int low = 256, high = -1
    while at < p.n:
        n = gather(&p, at, codes)
        smallest, largest = 255, 0
        for i in range(n):
            smallest = codes[i] if codes[i] < smallest else smallest
            largest = codes[i] if codes[i] > largest else largest
        if largest == p.missing:
            out[2] = -1
            for i in range(n):
                if codes[i] != p.missing:
                    low = min(low, <int> codes[i])
                    high = max(high, <int> codes[i])
        else:
            low, high = min(low, <int> smallest), max(high, <int> largest)
        at += n
    out[0] = low
    out[1] = -high if high >= 0 else 256


cdef void add_below(Pair p, int cut, double* out) noexcept nogil:
    cdef uint8_t codes[BLOCK]
    cdef uint8_t last = <uint8_t> cut, largest
    cdef int64_t i, n, at = 0, count = 0
    cdef double[2] kept = [0.0, 1.0]
    cdef double w, v, sum = 0.0, mass = 0.0, sum_ = 0.0, mass_ = 0.0
    while at < p.n:
        n = gather(&p, at, codes)
        largest = 0
        for i in range(n):
            largest = codes[i] if codes[i] > largest else largest
            count += codes[i] <= last
        # Two sums each, which do not wait for each other.
        for i in range(0, n - 1, 2):
            w = p.w[at + i] * kept[codes[i] <= last]
            v = p.w[at + i + 1] * kept[codes[i + 1] <= last]
            sum, sum_ = sum + w, sum_ + v
            mass, mass_ = mass + fabs(w), mass_ + fabs(v)
        if n % 2:
            w = p.w[at + n - 1] * kept[codes[n - 1] <= last]
            sum, mass = sum + w, mass + fabs(w)
        if largest == p.missing:
            for i in range(n):
                if codes[i] == p.missing:
                    out[3] += p.w[at + i]
                    out[4] += fabs(p.w[at + i])
                    out[5] += 1.0
        at += n
    out[0], out[1], out[2] = sum + sum_, mass + mass_, <double> count


cdef void add_codes(Pair p, double* out) noexcept nogil:
    cdef int64_t i
    cdef double* at
    for i in range(p.n):
        at = out + 3 * p.codes[p.rows[i]]
        at[0] += p.w[i]
        at[1] += fabs(p.w[i])
        at[2] += 1.0


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
            if w > 0.0:
                memcpy(&bits, &w, sizeof(bits))
                out[t, min(415, (bits >> 49) - (1023 << 3))] += w
    return found
