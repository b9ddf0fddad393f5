/* Adding and subtracting these rounds numbers to integers, to even ones in ties: doubles below 2^51
 * and floats below 2^22. Weights times a power of two become integers whose sums are exact, in any
 * order. */
#pragma once

#include <math.h>

#define CWB_ROUND 0x1.8p52
#define CWB_ROUND_FLOAT 0x1.8p23f

/* The power of two that brings a mass into (2^50, 2^51] (1 - 2^-8): 0 for a mass that is not
 * finite, infinity for one too small to have such a power. */
static inline double cwb_scale_of(double mass) {
    int exponent;
    if (!isfinite(mass)) return 0.0;
    if (mass == 0.0) return 1.0;
    const double fraction = frexp(mass, &exponent);
    return ldexp(1.0, 51 - exponent - (fraction > 1.0 - 0x1p-8));
}

static inline double cwb_fixed(double r, double scale) {
    return (r * scale + CWB_ROUND) - CWB_ROUND;
}
