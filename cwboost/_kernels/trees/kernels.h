/* Kernels of tree growth. Bodies are compiled once per instruction set, see common/targets.h; all
 * give the same bits. */
#pragma once

#include "common/rounding.h"
#include "trees/types.h"

/* Inner node over codes: [first, first + width) goes right. left and right are CWB_NEGATIVE,
 * CWB_POSITIVE, or CWB_FIRST + index of an inner node further on. */
typedef struct {
    int32_t feature, left, right;
    uint8_t first, width;
} cwb_coded;

typedef struct {
    void (*node_sums)(const double *weights, int64_t n, double *out);
    double (*mass)(const double *weights, int64_t n);
    void (*outputs_by_codes)(const cwb_coded *nodes, int64_t n_inner, const uint8_t *codes,
                             int64_t stride, int64_t n_rows, void *reach, uint8_t *positive);
    void (*best_split)(cwb_scan *scan, const cwb_rules *rules, int32_t n_bins, cwb_split *split);
} cwb_tree_kernels;
