# The kernels of tree growth for the chosen instruction set; the *_body.h describe each.

from libc.stdint cimport int32_t, int64_t, uint8_t

from cwboost._kernels.trees.types cimport cwb_rules, cwb_scan, cwb_split

cdef extern from "trees/kernels.h" nogil:
    ctypedef struct cwb_coded:
        int32_t feature, left, right
        uint8_t first, width
    ctypedef struct cwb_tree_kernels:
        void (*node_sums)(const double *weights, int64_t n, double *out) noexcept nogil
        double (*mass)(const double *weights, int64_t n) noexcept nogil
        void (*outputs_by_codes)(
            const cwb_coded *nodes, int64_t n_inner, const uint8_t *codes, int64_t stride,
            int64_t n_rows, void *reach, uint8_t *positive) noexcept nogil
        void (*best_split)(
            cwb_scan *scan, const cwb_rules *rules, int32_t n_bins,
            cwb_split *split) noexcept nogil

cdef const cwb_tree_kernels *kernels
