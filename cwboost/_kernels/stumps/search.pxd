# The search for stumps, shared by the kernels of this package only.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

from cwboost._kernels.stumps.bins cimport BinnedColumns, Scratch, Slice
from cwboost._kernels.stumps.entries cimport Entries
from cwboost._kernels.stumps.kernels cimport cwb_stump, cwb_weights
from cwboost._kernels.stumps.sorted_columns cimport SortedColumns, cwb_column


# The winner of a search: column -1 is the constant.
cdef struct Found:
    int64_t column
    cwb_stump stump


cdef class StumpSearch:
    cdef SortedColumns sorted
    cdef Entries entries
    cdef cwb_column *columns
    cdef int wide
    cdef int64_t n_samples
    cdef Scratch rows, half, best, trace
    cdef int64_t[::1] chunk_starts
    cdef public int use_bins
    cdef int without_bins
    cdef Found[::1] winners
    cdef double[:, ::1] numbers
    cdef double[:, :, ::1] sums
    cdef BinnedColumns bins

    cdef int make_room(self, int64_t n_targets) except -1
    cdef double[:, :, ::1] room_for_sums(self, int64_t n_tasks, int64_t n_targets)
    cdef bint measure(self, const cwb_weights *weights, double *scales, double *totals,
                      double *squares, int n_threads) except -1
    cdef int scan_and_settle(self, const cwb_weights *weights, const double[::1] totals,
                             const int64_t[::1] features, Found[::1] found,
                             int n_threads) except -1
    cdef int search_slice(self, const cwb_weights *weights, const double[::1] totals,
                          const int64_t[::1] features, Found *found, int64_t lanes,
                          int n_threads) except -1
    cdef int fill(self, const cwb_weights *weights, const double[::1] totals, int64_t n_columns,
                  int64_t lanes, Slice *part, int n_threads) except -1
    cdef int scan(self, const Slice *part, const int64_t[::1] features,
                  const double[::1] totals, int n_threads) except -1
    cdef void settle_target(self, const cwb_weights *weights, double total,
                            const int64_t[::1] features, const Slice *part, int64_t lane,
                            Found *found) noexcept nogil
    cdef object write(self, const cwb_weights *weights, const double[::1] totals,
                      const double[::1] squares, const Found[::1] found, int n_threads)
    cdef tuple locate(self, const Found[::1] found)
    cdef double threshold_of(self, const Found *found) noexcept nogil
    cdef void write_one(self, const Found *found, double total, int8_t *polarity,
                        int8_t *missing, uint8_t *bits) noexcept nogil
