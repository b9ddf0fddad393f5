# The structs and kernels of kernels.h, for search.pyx.

from libc.stdint cimport int32_t, int64_t, uint8_t

from cwboost._kernels.stumps.sorted_columns cimport cwb_column

cdef extern from "stumps/kernels.h" nogil:
    enum:
        CWB_VECTOR
    const double CWB_COARSE
    ctypedef struct cwb_weights:
        const double *r
        int64_t stride
        const double *scales
        int64_t n_targets
    ctypedef struct cwb_target:
        const double *r
        double scale, total
    ctypedef struct cwb_rows:
        const int32_t *rows
        const int32_t *half
        int lanes
    ctypedef struct cwb_stump:
        double edge, above, missing
        int64_t position
    ctypedef struct cwb_traced:
        const int32_t *trace
        int64_t lanes, lane
        double least, doubt
        int alone
    ctypedef struct cwb_stump_kernels:
        int unit_lanes, most_lanes
        double (*mass)(const double *r, int64_t n) noexcept nogil
        double (*total)(
            const double *r, double scale, int64_t n) noexcept nogil
        double (*edge)(const double *r, const uint8_t *bits, int64_t n) noexcept nogil
        void (*fill_rows)(
            const cwb_weights *weights, int lanes, int64_t start, int64_t end,
            int32_t *rows) noexcept nogil
        void (*scan)(
            const cwb_rows *rows, const cwb_column *c, int32_t *best,
            int32_t *trace) noexcept nogil
        cwb_stump (*settle)(
            const cwb_target *target, const cwb_column *c,
            const cwb_traced *traced) noexcept nogil
    const cwb_stump_kernels *cwb_stump_tables[]
    double cwb_scale_of(double mass)
    double cwb_scan_bound(const cwb_column *c)
    int64_t cwb_chunks(const cwb_column *c)
