/* Kernels of tree growth besides the search for splits: see outputs_body.h. */
#pragma once

#include "trees/types.h"

/* Inner node over codes: [first, first + width) goes right. left and right are places: of leaves,
 * which nodes may share, and behind these of the inner nodes, children behind their parents. */
typedef struct {
    int32_t feature, left, right;
    uint8_t first, width;
} cwb_coded;

#define CWB_BODY "trees/outputs_body.h"
#include "common/for_each_target.h"
