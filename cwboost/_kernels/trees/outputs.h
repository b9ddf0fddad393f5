/* Kernels of tree growth besides the search for splits: see outputs_body.h. */
#pragma once

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
} cwb_tree_kernels;

#define CWB_BODY "trees/outputs_body.h"
#include "common/for_each_target.h"
static const cwb_tree_kernels *const cwb_tree_tables[] = CWB_TABLES(cwb_tree_kernels);
