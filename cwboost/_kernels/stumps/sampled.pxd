# The search among few examples, shared by the kernels of this package only.

from libc.stdint cimport int32_t, int64_t

from cwboost._kernels.stumps.kept_rows cimport KeptRows
from cwboost._kernels.stumps.kernels cimport cwb_weights
from cwboost._kernels.stumps.search cimport StumpSearch


cdef class SearchOfKept(StumpSearch):
    cdef KeptRows kept

    cdef int keep(self, rows, const int64_t[::1] features, int n_threads) except -1


cdef class SampledStumpSearch(StumpSearch):
    cdef SearchOfKept of_kept
