/* The walk of examples to their leaves, a step of all examples of a block at a time. */
#ifndef CWBOOST_LEAVES_H
#define CWBOOST_LEAVES_H

#include <stdint.h>

/* A node as a step to `child`, or to the one after it if the code is one of `width` from `first`
 * on. A leaf leads to itself. */
typedef struct {
    int32_t child;
    uint8_t first, width;
    uint16_t feature;
} cwb_leaf_step;

typedef struct {
    /* Write the leaves of n examples, whose codes are `stride` bytes apart, below a root. */
    void (*walk)(const cwb_leaf_step *steps, const uint8_t *codes, int64_t stride, int64_t n,
                 int32_t root, int32_t *nodes);
} cwb_leaf_kernels;

#define CWB_BODY "partitions/leaves_body.h"
#include "common/for_each_target.h"

static const cwb_leaf_kernels *const cwb_leaf_tables[] = CWB_TABLES(cwb_leaf_kernels);

#endif
