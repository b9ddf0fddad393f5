/* Sums of a feature's values over the examples of a sample, for gains of directions
 * (cwboost/kernels/chance.py):
 *
 *     slope = sum_i along_i Z_fi,    square = sum_i (weight_i Z_fi)^2.
 *
 * Every sum runs in eight lanes, which are added up in one order: the same bits everywhere.
 *
 * Cost: three multiplications and two additions per example and feature.
 */
#ifndef CWBOOST_SHARES_H
#define CWBOOST_SHARES_H

#include <stdint.h>

typedef struct {
    /* n is a multiple of 8. */
    void (*sums)(const double *z, const double *along, const double *weight, int64_t n,
                 double *slope, double *square);
} cwb_share_kernels;

#define CWB_BODY "projections/shares_body.h"
#include "common/for_each_target.h"

static const cwb_share_kernels *const cwb_share_tables[] = CWB_TABLES(cwb_share_kernels);

#endif
