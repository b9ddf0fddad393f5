/* Eight examples at a time: a vector of doubles beside a byte of bits. */
#ifndef CWBOOST_FCD_LANES_H
#define CWBOOST_FCD_LANES_H

#include <math.h>
#include "common/simd.h"

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

CWBOOST_INLINE cwb_f64x8 cwb_add_lanes(cwb_f64x8 sum, unsigned byte, cwb_f64x8 x) {
    const cwb_i64x8 bit = {1, 2, 4, 8, 16, 32, 64, 128};
    const int64_t b = (int64_t)byte;
    const cwb_i64x8 all = {b, b, b, b, b, b, b, b};
    return sum + cwb_where((all & bit) != 0, x);
}

/* Two sets of operations on eight examples and a byte of bits, for bodies that are written once:
 * cwb_x_byte is the type of bits, CWB_x_LOOK(p) reads the byte at p, _NOT(byte) flips it,
 * _AND(a, b) has the bits of both, _ADD(sum, byte, x) adds the lanes of x whose bits are set,
 * _LESS takes them away, _PICK(byte, x, y) has the lanes of x where bits are set and those of y
 * elsewhere, _ALL(x) has x in every lane, _FLUSH(x, tiny) puts zero where 0 >= x > -tiny. First
 * with plain vectors. */
typedef unsigned cwb_lanes_byte;
#define CWB_lanes_LOOK(p) (*(p))
#define CWB_lanes_NOT(byte) (~(byte) & 0xffu)
#define CWB_lanes_AND(a, b) ((a) & (b))
#define CWB_lanes_ADD(sum, byte, x) cwb_add_lanes(sum, byte, x)
#define CWB_lanes_LESS(sum, byte, x) cwb_add_lanes(sum, byte, -(x))
#define CWB_lanes_PICK(byte, x, y) cwb_select(cwb_lanes(byte), x, y)
#define CWB_lanes_ALL(x) cwb_splat(x)
#define CWB_lanes_FLUSH(x, tiny) cwb_where(~cwb_smaller(x, tiny), x)

#ifdef CWBOOST_X86_INTRINSICS
/* Then with mask registers: a byte of bits is one, and one masked addition takes eight examples.
 * Loaded from memory, as compilers will not: by way of a general register it takes longer. */
#define CWBOOST_AVX512 __attribute__((target("avx512f,avx512dq")))
typedef __mmask8 cwb_masked_byte;
CWBOOST_AVX512 CWBOOST_INLINE cwb_masked_byte CWB_masked_LOOK(const uint8_t *p) {
    cwb_masked_byte bits;
    __asm__("kmovb %1, %0" : "=k"(bits) : "m"(*p));
    return bits;
}
#define CWB_masked_NOT(byte) _knot_mask8(byte)
#define CWB_masked_AND(a, b) _kand_mask8(a, b)
#define CWB_masked_ADD(sum, byte, x)                                                             \
    (cwb_f64x8) _mm512_mask_add_pd((__m512d)(sum), (__mmask8)(byte), (__m512d)(sum), (__m512d)(x))
#define CWB_masked_LESS(sum, byte, x)                                                            \
    (cwb_f64x8) _mm512_mask_sub_pd((__m512d)(sum), (__mmask8)(byte), (__m512d)(sum), (__m512d)(x))
#define CWB_masked_PICK(byte, x, y)                                                              \
    (cwb_f64x8) _mm512_mask_blend_pd((__mmask8)(byte), (__m512d)(y), (__m512d)(x))
/* Compilers build cwb_splat lane by lane: too slow for a loop. */
#define CWB_masked_ALL(x) (cwb_f64x8) _mm512_set1_pd(x)
#define CWB_masked_FLUSH(x, tiny)                                                                \
    (cwb_f64x8) _mm512_maskz_mov_pd(                                                             \
        _mm512_cmp_pd_mask((__m512d)(x), (__m512d)(-(tiny)), _CMP_LE_OQ), (__m512d)(x))
#endif

/* Bits of the byte at `byte` whose examples lie in [start, end). */
CWBOOST_INLINE unsigned cwb_valid(int64_t byte, int64_t start, int64_t end) {
    unsigned valid = 0xffu;
    if (8 * byte < start) valid &= 0xffu << (start - 8 * byte);
    if (8 * byte + 8 > end) valid &= 0xffu >> (8 * byte + 8 - end);
    return valid & 0xffu;
}

#endif
