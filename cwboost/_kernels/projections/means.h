/* Sums of products of features and weights over rows, for all targets: each is the sum of one
 * product per row, in the order of the rows, so that all instruction sets give the same bits. */
#ifndef CWBOOST_MEANS_H
#define CWBOOST_MEANS_H

#include <stdint.h>

#define CWB_MEANS_ROWS 64 /* rows at a time, whose weights stay in the first cache */

typedef struct {
    void (*add)(const double *x, int64_t n_features, const double *weights, int64_t width,
                int64_t n_rows, double *sums);
} cwb_means_kernels;

#define CWB_BODY "projections/means_body.h"
#include "common/for_each_target.h"

static const cwb_means_kernels *const cwb_means_tables[] = CWB_TABLES(cwb_means_kernels);

#endif
