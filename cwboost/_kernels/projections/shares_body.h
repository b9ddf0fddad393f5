/* The sums of shares.h. */
#include "common/lanes.h"

static void CWB_NAME(share_sums)(const double *z, const double *along, const double *weight,
                                 int64_t n, double *slope, double *square) {
    cwb_doubles slopes = cwb_zero(), squares = cwb_zero();
    for (int64_t i = 0; i < n; i += 8) {
        const cwb_doubles value = cwb_load(z + i), product = cwb_mul(value, cwb_load(weight + i));
        slopes = cwb_add(slopes, cwb_mul(value, cwb_load(along + i)));
        squares = cwb_add(squares, cwb_mul(product, product));
    }
    *slope = cwb_sum(slopes);
    *square = cwb_sum(squares);
}

static const cwb_share_kernels CWB_NAME(cwb_share_kernels) = {.sums = CWB_NAME(share_sums)};
