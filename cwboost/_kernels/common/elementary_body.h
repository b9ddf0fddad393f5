/* The exponential of eight numbers at once. */
#include "common/lanes.h"

#define cwb_line CWB_NAME(cwb_line)
#define cwb_mul_add CWB_NAME(cwb_mul_add)
#define cwb_exp CWB_NAME(cwb_exp)

/* a + b x. */
CWB_INLINE cwb_doubles cwb_line(double a, double b, cwb_doubles x) {
    return cwb_add(cwb_splat(a), cwb_mul(cwb_splat(b), x));
}

/* a + b x for vectors a and b. */
CWB_INLINE cwb_doubles cwb_mul_add(cwb_doubles a, cwb_doubles b, cwb_doubles x) {
    return cwb_add(a, cwb_mul(b, x));
}

/* exp(x) to two units in the last place; infinity above 700, zero below -700. x = k log 2 + r with
 * |r| <= log(2) / 2: Taylor's polynomial of degree 13 in r, then k is added to the exponent. The
 * polynomial is summed pair by pair, as a tree, so that its steps overlap. */
CWB_INLINE cwb_doubles cwb_exp(cwb_doubles x) {
    const cwb_doubles to_integer = cwb_splat(0x1.8p52), largest = cwb_splat(700.0);
    const cwb_mask over = cwb_below(largest, x), under = cwb_below(x, cwb_splat(-700.0));
    const cwb_doubles tame = cwb_keep(cwb_and(cwb_not(over), cwb_not(under)), x);
    /* The lowest bits of `shifted` are k. */
    const cwb_doubles shifted = cwb_add(cwb_mul(tame, cwb_splat(0x1.71547652b82fep0)), to_integer);
    const cwb_doubles k = cwb_sub(shifted, to_integer);
    /* log 2 in two parts; the product of k with the first, which has few bits, is exact. */
    const cwb_doubles near = cwb_sub(tame, cwb_mul(k, cwb_splat(CWB_LOG_2)));
    const cwb_doubles r = cwb_sub(near, cwb_mul(k, cwb_splat(CWB_LOG_2_REST)));
    const cwb_doubles r2 = cwb_mul(r, r), r4 = cwb_mul(r2, r2), r8 = cwb_mul(r4, r4);
    const cwb_doubles p0 = cwb_line(1.0, 1.0, r);
    const cwb_doubles p2 = cwb_line(0.5, 1.0 / 6, r);
    const cwb_doubles p4 = cwb_line(1.0 / 24, 1.0 / 120, r);
    const cwb_doubles p6 = cwb_line(1.0 / 720, 1.0 / 5040, r);
    const cwb_doubles p8 = cwb_line(1.0 / 40320, 1.0 / 362880, r);
    const cwb_doubles p10 = cwb_line(1.0 / 3628800, 1.0 / 39916800, r);
    const cwb_doubles p12 = cwb_line(1.0 / 479001600, 1.0 / 6227020800.0, r);
    const cwb_doubles low = cwb_mul_add(cwb_mul_add(p0, p2, r2), cwb_mul_add(p4, p6, r2), r4);
    const cwb_doubles high = cwb_mul_add(cwb_mul_add(p8, p10, r2), p12, r4);
    const cwb_doubles power = cwb_scale(cwb_mul_add(low, high, r8), shifted);
    const cwb_doubles bounded =
        cwb_pick(over, cwb_splat(INFINITY), cwb_keep(cwb_not(under), power));
    return cwb_add(bounded, cwb_mul(tame, cwb_zero())); /* NaN stays */
}

/* exp of n numbers; `out` may be x. */
static void CWB_NAME(exponentials)(const double *x, double *out, int64_t n) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) cwb_store(out + i, cwb_exp(cwb_load(x + i)));
    if (i == n) return;
    double rest[8] = {0.0};
    memcpy(rest, x + i, (size_t)(n - i) * sizeof *x);
    cwb_store(rest, cwb_exp(cwb_load(rest)));
    memcpy(out + i, rest, (size_t)(n - i) * sizeof *x);
}
