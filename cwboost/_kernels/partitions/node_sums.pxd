# Sums over the rows of a node: node_sums.h.

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from "partitions/node_sums.h" nogil:
    const int CWB_AHEAD
    ctypedef struct cwb_divided:
        int32_t* rows
        int32_t* other_rows
        double* w
        double* other_w
    ctypedef struct cwb_node_kernels:
        void (*below)(const uint8_t*, const double*, int64_t, uint8_t, double*) noexcept nogil
        void (*totals)(const double*, int64_t, double*) noexcept nogil
        void (*range)(const uint8_t*, int64_t, int32_t*, int32_t*) noexcept nogil
        void (*gather)(const uint8_t*, int64_t, const int32_t*, int64_t, const int32_t*, int64_t,
                       uint8_t*) noexcept nogil
        int64_t (*divide)(const uint8_t*, int64_t, uint8_t, uint8_t, cwb_divided*) noexcept nogil
    const cwb_node_kernels* const cwb_node_tables[]
