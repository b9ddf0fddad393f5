# The exponential and the logarithm of elementary.h.

from libc.stdint cimport int64_t

cdef extern from "common/elementary.h" nogil:
    ctypedef struct cwb_elementary_kernels:
        void (*exponentials)(const double*, double*, int64_t) noexcept nogil
    const cwb_elementary_kernels* const cwb_elementary_tables[]
    double cwb_log(double) noexcept
