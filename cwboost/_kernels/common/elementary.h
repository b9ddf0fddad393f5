/* exp and log: the same arithmetic in one order for every instruction set. The functions of the C
 * library and of NumPy differ in the last bit between processors with and without fused
 * multiply-add. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

/* log 2 in two parts; the product of an exponent with the first, which has few bits, is exact. */
#define CWB_LOG_2 0x1.62e42fefa38p-1
#define CWB_LOG_2_REST 0x1.ef35793c7673p-45

#define CWB_BODY "common/elementary_body.h"
#include "common/for_each_target.h"

/* log(x) to two units in the last place; minus infinity of 0, NaN below. x = 2^k m with m between
 * the roots of 1/2 and 2, and log m = 2 artanh(s) with s = (m - 1) / (m + 1), by its series. */
static inline double cwb_log(double x) {
    const int tiny = x < 0x1p-1022;
    if (!(x > 0.0 && x < INFINITY)) return x > 0.0 ? x : x == 0.0 ? -INFINITY : NAN;
    int64_t bits;
    const double scaled = tiny ? x * 0x1p54 : x;
    memcpy(&bits, &scaled, sizeof bits);
    const int64_t root_of_half = 0x3fe6a09e667f3bcd, exponent = (bits - root_of_half) >> 52;
    bits -= exponent * (INT64_C(1) << 52);
    double m, k = (double)(tiny ? exponent - 54 : exponent);
    memcpy(&m, &bits, sizeof m);
    const double s = (m - 1.0) / (m + 1.0), s2 = s * s, s4 = s2 * s2, s8 = s4 * s4;
    const double p0 = 1.0 / 3 + 1.0 / 5 * s2, p2 = 1.0 / 7 + 1.0 / 9 * s2;
    const double p4 = 1.0 / 11 + 1.0 / 13 * s2, p6 = 1.0 / 15 + 1.0 / 17 * s2;
    const double p8 = 1.0 / 19 + 1.0 / 21 * s2;
    const double series = s2 * ((p0 + s4 * p2) + s8 * ((p4 + s4 * p6) + s8 * p8));
    return k * CWB_LOG_2 + (2.0 * s + (2.0 * s * series + k * CWB_LOG_2_REST));
}
