/* The exponential of eight numbers at once, and the pair weights that are formed with it. Plain
 * vector arithmetic in one order: the same bits on every processor. */
#ifndef CWBOOST_FCD_EXP_H
#define CWBOOST_FCD_EXP_H

#include "fcd/lanes.h"

#define CWB_EXP_LARGEST 700.0 /* beyond it infinity, below its negative zero */

/* exp(x) to two units in the last place. x = k log 2 + r with |r| <= log(2) / 2: Taylor's
 * polynomial of degree 13 in r, then k is added to the exponent. Not finite where x is not. The
 * polynomial is summed pair by pair, as a tree: its steps do not wait for one another. */
CWBOOST_INLINE cwb_f64x8 cwb_exp(cwb_f64x8 x) {
    const double taylor[14] = {1.0,        1.0,         0.5,         1.0 / 6,       1.0 / 24,
                               1.0 / 120,  1.0 / 720,   1.0 / 5040,  1.0 / 40320,   1.0 / 362880,
                               1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
    const cwb_f64x8 to_integer = cwb_splat(0x1.8p52), largest = cwb_splat(CWB_EXP_LARGEST);
    const cwb_i64x8 over = cwb_negative(largest - x), under = cwb_negative(x + largest);
    const cwb_f64x8 tame = cwb_where(~(over | under), x);
    const cwb_f64x8 shifted = tame * cwb_splat(0x1.71547652b82fep0) + to_integer;
    const cwb_f64x8 k = shifted - to_integer;
    /* log 2 in two parts, the first so short that its product with k is exact. */
    const cwb_f64x8 r = (tame - k * cwb_splat(0x1.62e42fefa38p-1)) -
                        k * cwb_splat(0x1.ef35793c7673p-45);
    const cwb_f64x8 r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    cwb_f64x8 pairs[7];
    _Pragma("GCC unroll 7") for (int n = 0; n < 7; n++)
        pairs[n] = cwb_splat(taylor[2 * n]) + cwb_splat(taylor[2 * n + 1]) * r;
    const cwb_f64x8 low = (pairs[0] + pairs[1] * r2) + (pairs[2] + pairs[3] * r2) * r4;
    const cwb_f64x8 high = (pairs[4] + pairs[5] * r2) + pairs[6] * r4;
    cwb_f64x8 sum = low + high * r8;
    /* The lowest bits of `shifted` are k: they move to the place of the exponent. */
    sum = (cwb_f64x8)((cwb_i64x8)sum + ((cwb_i64x8)shifted << 52));
    return cwb_select(over, cwb_splat(INFINITY), cwb_where(~under, sum)) + x * cwb_splat(0.0);
}

/* mu_(i,c) = w_i exp(F_c(i) - F_{y_i}(i)) of class c, stored with the sign of R. Costs 4n. */
CWBOOST_CLONES
static void cwb_pair_weights(double *R, const double *scores, int64_t stride, int64_t c,
                             const int64_t *starts, int64_t n_classes,
                             const double *example_weight) {
    const double *F = scores + c * stride;
    double *r = R + c * stride;
    for (int64_t k = 0; k < n_classes; k++) {
        if (k == c) continue;
        const double *own = scores + k * stride;
        for (int64_t b = starts[k] >> 3; 8 * b < starts[k + 1]; b++) {
            const cwb_i64x8 valid = cwb_lanes(cwb_valid(b, starts[k], starts[k + 1]));
            const cwb_f64x8 mu = cwb_load(example_weight + 8 * b) *
                                 cwb_exp(cwb_load(F + 8 * b) - cwb_load(own + 8 * b));
            cwb_store(r + 8 * b, cwb_select(valid, -mu, cwb_load(r + 8 * b)));
        }
    }
}

#endif
