"""The search for stumps when few examples have a weight: in columns of these only (kept_rows.h)."""

from libc.stdint cimport int32_t, int64_t

from cwboost._kernels.stumps.kernels cimport cwb_chunks, cwb_weights
from cwboost._kernels.stumps.kept_rows cimport KeptRows
from cwboost._kernels.stumps.search cimport Found, StumpSearch

# Share of the examples up to which columns of these only are made and searched in less time.
cdef double MOST_KEPT = 0.15
cdef int64_t WORK_OF_THREADS = 1 << 15


cdef class SearchOfKept(StumpSearch):
    """Search over what `KeptRows` leaves of sorted columns."""

    def __init__(self, KeptRows kept not None):
        super().__init__(kept.left, None)
        self.use_bins = 0
        self.kept = kept

    cdef int keep(self, rows, const int64_t[::1] features, int n_threads) except -1:
        cdef int64_t f
        self.kept.keep(rows, features, n_threads)
        for f in range(self.sorted.n_features):
            self.chunk_starts[f + 1] = self.chunk_starts[f] + cwb_chunks(&self.columns[f])
        return 0

    cdef int fill_rows(self, const cwb_weights *weights, int lanes, int32_t *rows,
                       int n_threads) except -1:
        return self.kept.fill(weights, lanes, rows, n_threads)


cdef class SampledStumpSearch(StumpSearch):
    """`StumpSearch` that may be told which examples have a weight."""

    def search_rows(self, const double[:, :] weights, const int64_t[::1] features,
                    int n_threads, rows):
        """Search as `search`, with the same result, if only these examples have a weight.

        Parameters
        ----------
        weights, features, n_threads
            As for `search`.
        rows : ndarray, dtype int64
            Indices of examples, ascending and in range; the weights of all others are zero.
        """
        cdef int64_t n_targets = weights.shape[0], t
        cdef double[::1] scales, totals, squares
        cdef Found[::1] winners
        cdef cwb_weights w
        self.make_room(n_targets)
        scales, totals, squares = self.numbers[0], self.numbers[1], self.numbers[2]
        w.r, w.scales, w.n_targets = &weights[0, 0], &scales[0], n_targets
        w.stride = weights.strides[0] // <int64_t> sizeof(double)
        if (not 0 < len(rows) <= MOST_KEPT * self.n_samples or len(rows) == self.n_samples
                or self.measure(&w, &scales[0], &totals[0], &squares[0], n_threads)):
            return self.search(weights, features, n_threads)
        winners = self.winners
        if self.of_kept is None:
            self.of_kept = SearchOfKept(KeptRows(self.sorted, n_threads))
        if len(rows) * features.shape[0] <= WORK_OF_THREADS:
            self.of_kept.keep(rows, features, 1)
        else:
            self.of_kept.keep(rows, features, n_threads)
        self.of_kept.scan_and_settle(&w, totals, features, winners, n_threads)
        for t in range(n_targets):
            if winners[t].column >= 0:
                winners[t].stump.position = self.of_kept.kept.whole_position(
                    winners[t].column, winners[t].stump.position)
        return self.write(&w, totals, squares, winners, n_threads)
