# The structs and kernels of fcd.h, for pair_weights.pyx.

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from "fcd/fcd.h" nogil:
    ctypedef struct cwb_master:
        double* R
        double* scores
        int64_t stride, n_classes
        const int64_t* starts
        const double* example_weight
        const int32_t* label
    ctypedef struct cwb_layer:
        const uint8_t* const* columns
        const double* d
        const double* up
        const double* down
    ctypedef struct cwb_cells:
        const int32_t* cell
        const double* moves
        int64_t n_cells, first
    ctypedef struct cwb_tile_sums:
        double loss
        double margins
        double errors
    ctypedef struct cwb_run:
        double* r
        double* factor
        int64_t n_bytes, start, end
    ctypedef struct cwb_fcd_kernels:
        void (*layer_table)(
            const cwb_master*, int64_t, int64_t, const uint8_t**, double*) noexcept nogil
        void (*tile)(
            const cwb_master*, const cwb_layer*, int64_t, int64_t, cwb_tile_sums*) noexcept nogil
        void (*run_enter)(const cwb_master*, int64_t, const cwb_run*) noexcept nogil
        void (*run_leave)(const cwb_master*, int64_t, const cwb_run*) noexcept nogil
        void (*run_move)(
            const cwb_run*, const uint8_t*, double, double, const uint8_t*, double*,
            double*) noexcept nogil
        void (*add_columns)(
            double*, int64_t, const uint8_t**, const double*, int64_t) noexcept nogil
        void (*pair_weights)(const cwb_master*, int64_t) noexcept nogil
        void (*edges)(
            const double*, int64_t, const uint8_t*, int64_t, int64_t, double*) noexcept nogil
