/* Eight examples at a time: a vector of doubles beside a byte of bits. */
#ifndef CWBOOST_FCD_LANES_H
#define CWBOOST_FCD_LANES_H

#include <math.h>
#include "simd.h"

CWBOOST_INLINE cwb_f64x8 cwb_load(const double *x) {
    cwb_f64x8 v;
    memcpy(&v, x, sizeof v);
    return v;
}

CWBOOST_INLINE void cwb_store(double *x, cwb_f64x8 v) { memcpy(x, &v, sizeof v); }

/* Lane l all ones where bit l of the byte is set, else zero. */
CWBOOST_INLINE cwb_i64x8 cwb_lanes(unsigned byte) {
    const cwb_i64x8 to_sign = {63, 62, 61, 60, 59, 58, 57, 56};
    const int64_t b = (int64_t)byte;
    const cwb_i64x8 all = {b, b, b, b, b, b, b, b};
    return (all << to_sign) >> 63;
}

CWBOOST_INLINE cwb_f64x8 cwb_where(cwb_i64x8 mask, cwb_f64x8 x) {
    return (cwb_f64x8)((cwb_i64x8)x & mask);
}

CWBOOST_INLINE cwb_f64x8 cwb_select(cwb_i64x8 mask, cwb_f64x8 x, cwb_f64x8 y) {
    return (cwb_f64x8)(((cwb_i64x8)x & mask) | ((cwb_i64x8)y & ~mask));
}

/* Masks come from shifts, not from comparisons: GCC takes vector comparisons apart lane by lane
 * unless one use consumes them. */
CWBOOST_INLINE cwb_i64x8 cwb_negative(cwb_f64x8 x) { return (cwb_i64x8)x >> 63; }

/* Lane all ones where |x| < y, for finite values. */
CWBOOST_INLINE cwb_i64x8 cwb_smaller(cwb_f64x8 x, cwb_f64x8 y) {
    return (((cwb_i64x8)x & INT64_MAX) - (cwb_i64x8)y) >> 63;
}

CWBOOST_INLINE cwb_f64x8 cwb_splat(double x) {
    const cwb_f64x8 v = {x, x, x, x, x, x, x, x};
    return v;
}

CWBOOST_INLINE double cwb_sum(cwb_f64x8 v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/* Bits of the byte at `byte` whose examples lie in [start, end). */
CWBOOST_INLINE unsigned cwb_valid(int64_t byte, int64_t start, int64_t end) {
    unsigned valid = 0xffu;
    if (8 * byte < start) valid &= 0xffu << (start - 8 * byte);
    if (8 * byte + 8 > end) valid &= 0xffu >> (8 * byte + 8 - end);
    return valid & 0xffu;
}

#endif
