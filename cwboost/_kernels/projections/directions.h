/* Random directions. Entry k of a direction is a function of (seed, k) in integer arithmetic and
 * exact double operations, so that a seed gives the same direction on any machine and version. */
#pragma once

#include <stdint.h>

#include "common/random_words.h"

/* Gaussian by the central limit theorem: the sum of 64 coin flips and a uniform number, divided by
 * four, is close enough to standard normal for projections. */
static inline void cwb_gaussian(uint64_t seed, int64_t d, const double *scale, int64_t step,
                                double *out) {
    for (int64_t k = 0; k < d; k++) {
        const int flips = __builtin_popcountll(cwb_random_word(seed, 2 * (uint64_t)k)) - 32;
        const double fill = cwb_random_unit(cwb_random_word(seed, 2 * (uint64_t)k + 1)) - 0.5;
        out[k * step] = (flips + fill) * 0.25 * scale[k];
    }
}
