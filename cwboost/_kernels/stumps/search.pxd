# The search for stumps, shared by the kernels of this package only.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

from cwboost._kernels.stumps.sorted_columns cimport SortedColumns, cwb_column
from cwboost._kernels.stumps.bins cimport BinnedColumns, Slice

cdef extern from "stumps/settle.h" nogil:
    ctypedef struct cwb_stump:
        double edge
        double above
        double missing
        int64_t position


# The winner of a search: column -1 is the constant.
cdef struct Found:
    int64_t column
    cwb_stump stump


cdef class StumpSearch:
    cdef SortedColumns sorted
    cdef cwb_column *columns
    cdef int wide
    cdef int64_t n_samples
    cdef dict scratch
    cdef int64_t[::1] chunk_starts
    cdef public int use_bins
    cdef int without_bins
    cdef BinnedColumns bins

    cdef bint measure(self, const double *w, int64_t stride, int64_t n_targets, double *scales,
                      double *totals, int n_threads) except -1
    cdef int scan_and_settle(self, const double *w, int64_t stride, const double[::1] scales,
                             const double[::1] totals, const int64_t[::1] features,
                             Found[::1] found, int n_threads, bint portable) except -1
    cdef int search_slice(self, const double *w, int64_t stride, const double[::1] scales,
                          const double[::1] totals, const int64_t[::1] features,
                          Found[::1] found, int64_t first, int64_t vectors, bint pairs,
                          int n_threads, bint portable) except -1
    cdef int scan(self, const Slice *part, const int64_t[::1] features,
                  const double[::1] totals, int n_threads) except -1
    cdef void settle_target(self, const double *r, double scale, double total,
                            const int64_t[::1] features, const int32_t *best,
                            const int32_t *trace, int64_t lanes, int64_t lane,
                            Found *found) noexcept nogil
    cdef object write(self, const double *w, int64_t stride, const double[::1] totals,
                      const Found[::1] found, object values, int n_threads)
    cdef object locate(self, const Found[::1] found, object values)
    cdef void write_one(self, const Found *found, double total, int8_t *polarity,
                        int8_t *missing, uint8_t *bits) noexcept nogil
