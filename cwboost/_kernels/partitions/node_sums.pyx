"""Sums over the nodes of growing trees in one partition: exact, and so in any order.

Weights are rounded to integers as in bin_sums.h, and stay beside the rows of their node, so that
they are read in order. Codes are stored by row. The codes of the features that a level asks for are
gathered once, for their ranges, and read in order afterwards, for the sums; see node_sums.h.
"""

import numpy as np

from cython.parallel cimport prange
from libc.math cimport fabs
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uintptr_t
from libc.string cimport memcpy

from cwboost._kernels.common.cpu cimport instruction_set

cdef extern from "common/rounding.h" nogil:
    const double CWB_ROUND

cdef const cwb_node_kernels* kernels = cwb_node_tables[instruction_set()]

cdef enum:
    NONE = 256  # smallest code of no examples, and minus the largest one


cdef inline double rounded(double r, double scale) noexcept nogil:
    return (r * scale + CWB_ROUND) - CWB_ROUND


cdef class Asked:
    """Pairs of a node and a feature, node after node, with their codes.

    Those of node j, a number among all nodes, begin at pair ``first[j]`` and code ``at[j]``.
    """

    cdef const int32_t[::1] nodes, features
    cdef int64_t[::1] first, at
    cdef uint8_t[::1] codes

    def __init__(self, nodes, counts, features, sizes):
        self.nodes, self.features = nodes, features
        self.first = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self.at = np.concatenate([[0], np.cumsum(sizes * counts, dtype=np.int64)])
        self.codes = np.empty(self.at[len(nodes)] + 1, dtype=np.uint8)


cdef class NodeRows:
    """The rows of every node of some trees, one tree per target.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_features), dtype uint8
    n_bins : ndarray of shape (n_features,), dtype int32
        The code of missing values of each feature.
    has_nan : ndarray of shape (n_features,), dtype bool
        Features that may be missing, in any partition.
    weights : ndarray of shape (n_trees, n_samples), dtype float64
    scales : ndarray of shape (n_trees,), dtype float64
        Powers of two by which the weights are multiplied before they are rounded.
    bounds : ndarray of shape (n_trees,), dtype float64
        A tree has the rows whose rounded weight is not zero, and not below this in magnitude.
    n_threads : int
    """

    cdef const uint8_t[:, ::1] codes
    cdef const int32_t[::1] n_bins
    cdef object has_nan
    cdef int32_t[::1] rows, other_rows
    cdef double[::1] w, other_w
    cdef int64_t[::1] starts, ends
    cdef double[:, ::1] sums
    cdef list asked
    cdef int n_threads

    def __init__(self, codes, n_bins, has_nan, const double[:, :] weights,
                 const double[::1] scales, const double[::1] bounds, int n_threads):
        cdef int64_t t, n_trees = bounds.shape[0]
        self.codes, self.n_bins, self.has_nan, self.n_threads = codes, n_bins, has_nan, n_threads
        self.asked = []
        sizes = np.zeros(n_trees + 1, dtype=np.int64)
        cdef int64_t[::1] ends = sizes
        for t in prange(n_trees if weights.shape[1] else 0, nogil=True, num_threads=n_threads,
                        schedule="dynamic"):
            ends[t + 1] = kept_rows(&weights[t, 0], weights.shape[1], scales[t], bounds[t])
        sizes = np.cumsum(sizes)
        self.starts, self.ends = sizes[:n_trees].copy(), sizes[1:].copy()
        # With entries more, so that the end of the last node has an address, and rows after it.
        self.rows = np.zeros(sizes[n_trees] + CWB_AHEAD + 1, np.int32)
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
        cdef uintptr_t[::1] known = self.known_codes(nodes, features)
        self.starts = np.concatenate([self.starts, np.empty(2 * n, np.int64)])
        self.ends = np.concatenate([self.ends, np.empty(2 * n, np.int64)])
        self.sums = np.concatenate([self.sums, np.zeros((2 * n, 4))])
        for k in prange(n, nogil=True, num_threads=n_threads, schedule="dynamic",
                        chunksize=16):
            self.divide(nodes[k], first + 2 * k, <const uint8_t*> known[k], features[k], cuts[k],
                        missing_right[k], &sides[-1 - cuts[k], 0] if cuts[k] < 0 else NULL)
        self.asked = []

    cdef known_codes(self, const int32_t[::1] nodes, const int32_t[::1] features):
        """Return the addresses of the codes of pairs that were gathered, 0 for others."""
        cdef Asked asked
        cdef int64_t j, k, p
        cdef uintptr_t[::1] known = np.zeros(len(nodes), dtype=np.uintp)
        for asked in self.asked:
            j = 0
            for k in range(nodes.shape[0]):
                while j < asked.nodes.shape[0] and asked.nodes[j] < nodes[k]:
                    j += 1
                if j == asked.nodes.shape[0]:
                    break
                if asked.nodes[j] != nodes[k]:
                    continue
                for p in range(asked.first[j], asked.first[j + 1]):
                    if asked.features[p] == features[k]:
                        known[k] = <uintptr_t> &asked.codes[
                            asked.at[j] + (p - asked.first[j])
                            * (self.ends[nodes[k]] - self.starts[nodes[k]])]
        return known

    cdef void divide(self, int64_t node, int64_t child, const uint8_t* known, int64_t feature,
                     int cut, bint missing_right, const uint8_t* side) noexcept nogil:
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
            code = known[i] if known != NULL else codes[rows[i] * stride]
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

    def rows_of(self, nodes):
        """Return the rows of nodes and what belongs to them; see `grow_subtrees`.

        Returns
        -------
        rows : ndarray, dtype int32
            Node after node, with CWB_AHEAD valid ones more.
        w : ndarray, dtype float64
            Their rounded weights.
        starts : ndarray of shape (n_nodes + 1,), dtype int64
        """
        spans = [slice(self.starts[node], self.ends[node]) for node in nodes]
        own = [np.asarray(self.rows)[span] for span in spans]
        starts = np.cumsum([0, *map(len, own)], dtype=np.int64)
        rows = np.concatenate([*own, np.zeros(CWB_AHEAD + 1, dtype=np.int32)])
        w = np.concatenate([*(np.asarray(self.w)[span] for span in spans), np.zeros(1)])
        return rows, w, starts

    def totals(self, nodes):
        """Return sum, mass, number and coarse squares of the weights of nodes, (n_nodes, 4)."""
        return np.asarray(self.sums)[nodes]

    def ranges(self, const int32_t[::1] nodes, counts, const int32_t[::1] features):
        """Return the ranges of codes of pairs of a node and a feature, int16 of shape (n_pairs, 3).

        The smallest code, minus the largest one, both 256 if there is none, and -1 if the feature
        is missing in an example, else 0. The least of two partitions is that of both.

        Parameters
        ----------
        nodes, counts : ndarrays of shape (n_nodes,), dtype int32
            Nodes, and the number of pairs of each.
        features : ndarray of shape (n_pairs,), dtype int32
            Of the pairs, node after node.
        """
        cdef int64_t j
        cdef int n_threads = self.n_threads
        sizes = np.asarray(self.ends)[nodes] - np.asarray(self.starts)[nodes]
        cdef Asked asked = Asked(nodes, counts, features, sizes)
        self.asked.append(asked)
        found = np.empty((features.shape[0], 3), dtype=np.int16)
        cdef int16_t[:, ::1] out = found
        for j in prange(nodes.shape[0], nogil=True, num_threads=n_threads, schedule="dynamic",
                        chunksize=16):
            self.gather(asked, j, out)
        return found

    cdef void gather(self, Asked asked, int64_t j, int16_t[:, ::1] out) noexcept nogil:
        """Gather the codes of a node's pairs, and find their ranges."""
        cdef int64_t start = self.starts[asked.nodes[j]], n = self.ends[asked.nodes[j]] - start
        cdef int64_t first = asked.first[j], k, n_pairs = asked.first[j + 1] - first
        cdef uint8_t* codes = &asked.codes[asked.at[j]]
        if n > 0 and n_pairs > 0:
            kernels.gather(&self.codes[0, 0], self.codes.shape[1], &self.rows[start], n,
                           &asked.features[first], n_pairs, codes)
        for k in range(n_pairs):
            find_range(codes + k * n, n, self.n_bins[asked.features[first + k]], &out[first + k, 0])

    def below(self, const int16_t[::1] cuts):
        """Return sums up to cuts of the pairs that `ranges` was asked for since the last split.

        Parameters
        ----------
        cuts : ndarray of shape (n_pairs,), dtype int16
            Negative for a pair that is left out.

        Returns
        -------
        below : ndarray of shape (n_kept, 3), dtype float64
            Sum, mass and number up to the cut of the other pairs.
        missing : ndarray of shape (n_lossy, 3), dtype float64
            The same of missing values, of those of these pairs whose feature may be missing.
        """
        kept = np.asarray(cuts) >= 0
        features = np.concatenate([np.asarray((<Asked> a).features) for a in self.asked] or [cuts])
        lossy = kept & self.has_nan[features]
        below, missing = np.empty((kept.sum(), 3)), np.empty((lossy.sum(), 3))
        # One row more, so that the place after the last has an address.
        places = np.zeros((2, len(kept) + 1), dtype=np.int64)
        places[0, 1:], places[1, 1:] = np.cumsum(kept), np.cumsum(lossy)
        cdef int64_t from_ = 0
        cdef Asked asked
        for asked in self.asked:
            self.add_below(asked, cuts[from_:], places[:, from_:], below, missing)
            from_ += asked.features.shape[0]
        return below, missing

    cdef add_below(self, Asked asked, const int16_t[::1] cuts, const int64_t[:, :] places,
                   double[:, ::1] below, double[:, ::1] missing):
        cdef int64_t j
        cdef int n_threads = self.n_threads
        for j in prange(asked.nodes.shape[0], nogil=True, num_threads=n_threads,
                        schedule="dynamic", chunksize=16):
            self.sum_pairs(asked, j, cuts, places, below, missing)

    cdef void sum_pairs(self, Asked asked, int64_t j, const int16_t[::1] cuts,
                        const int64_t[:, :] places, double[:, ::1] below,
                        double[:, ::1] missing) noexcept nogil:
        cdef int64_t node = asked.nodes[j], start = self.starts[node], n = self.ends[node] - start
        cdef int64_t p, t
        cdef const uint8_t* codes = &asked.codes[asked.at[j]]
        cdef double* out
        for p in range(asked.first[j], asked.first[j + 1]):
            if cuts[p] >= 0:
                kernels.below(codes, &self.w[start], n, <uint8_t> cuts[p], &below[places[0, p], 0])
            if places[1, p + 1] > places[1, p]:
                # All values have codes below that of missing ones.
                out = &missing[places[1, p], 0]
                kernels.below(codes, &self.w[start], n,
                              <uint8_t> (self.n_bins[asked.features[p]] - 1), out)
                for t in range(3):
                    out[t] = self.sums[node, t] - out[t]
            codes += n

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


cdef void find_range(const uint8_t* codes, int64_t n, int32_t missing, int16_t* out) noexcept nogil:
    cdef int64_t i
    cdef int32_t low = NONE, high = -NONE
    if n > 0:
        kernels.range(codes, n, &low, &high)
    out[2] = 0
    if high == missing:
        out[2] = -1
        low, high = NONE, -NONE
        for i in range(n):
            if codes[i] != missing:
                low, high = min(low, <int32_t> codes[i]), max(high, <int32_t> codes[i])
    out[0], out[1] = <int16_t> low, <int16_t> -high


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
