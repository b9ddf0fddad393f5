/* Random directions. Entry k of a direction is a function of (seed, k) in integer arithmetic and
 * exact double operations, so that a seed gives the same direction on any machine and version. */
#pragma once

#include <stdint.h>

#include "common/random_words.h"

static inline int cwb_ones(uint64_t x) {
    x -= (x >> 1) & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (int)((x * UINT64_C(0x0101010101010101)) >> 56);
}

/* Gaussian by the central limit theorem: the sum of 64 coin flips and a uniform number, divided by
 * four, is close enough to standard normal for projections. */
static inline void cwb_gaussian(uint64_t seed, int64_t d, const double *scale, int64_t step,
                                double *out) {
    for (int64_t k = 0; k < d; k++) {
        const int flips = cwb_ones(cwb_random_word(seed, 2 * (uint64_t)k)) - 32;
        const double fill = cwb_random_unit(cwb_random_word(seed, 2 * (uint64_t)k + 1)) - 0.5;
        out[k * step] = (flips + fill) * 0.25 * scale[k];
    }
}
