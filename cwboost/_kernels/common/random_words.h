/* Random words that are a function of a seed and their number, in integer arithmetic. */
#pragma once

#include <stdint.h>

/* Word number i of a seed's sequence: splitmix64 (Steele, Lea and Flood, 2014). */
static inline uint64_t cwb_random_word(uint64_t seed, uint64_t i) {
    uint64_t z = seed + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline double cwb_random_unit(uint64_t word) { return (double)(word >> 11) * 0x1p-53; }
