/* Sums over the rows of a node of a growing tree, whose weights are rounded to integers as in
 * bin_sums.h, and hence exact in any order. */
#ifndef CWBOOST_NODE_SUMS_H
#define CWBOOST_NODE_SUMS_H

#include <stdint.h>

#include "common/rounding.h"

/* Squares are summed of weights rounded more coarsely by this factor. */
#define CWB_COARSE 0x1p-26

typedef struct {
    /* Write sum, mass, number and coarse squares of weights. */
    void (*totals)(const double *w, int64_t n, double *out);
} cwb_node_kernels;

#define CWB_BODY "partitions/node_sums_body.h"
#include "common/for_each_target.h"
static const cwb_node_kernels *const cwb_node_tables[] = CWB_TABLES(cwb_node_kernels);

#endif
