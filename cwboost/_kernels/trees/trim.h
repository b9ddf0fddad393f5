/* The smallest weights of a node, up to a fraction of its mass: one pass over every `step`-th. */
#ifndef CWBOOST_TREE_TRIM_H
#define CWBOOST_TREE_TRIM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Largest bound b such that the |weights| below b sum to at most `fraction` of all: found to an
 * eighth of a power of two, from the masses by size relative to the largest weight. Of every
 * `step`-th weight; with a step above 1 a good guess for all. */
static inline double cwb_trim_bound(const double *weights, int64_t n, int64_t step, double largest,
                                    double fraction) {
    enum { SIZES = 512, STEPS = 8 };
    /* Separate sums of even and odd places, so that additions of neighbours are independent. */
    double parts[2][SIZES] = {{0}}, mass[SIZES], total = 0.0, below = 0.0;
    const double scale = 1.0 / largest;
    int odd = 0;
    for (int64_t i = 0; i < n; i += step, odd = !odd) {
        const double ratio = fabs(weights[i]) * scale;
        int64_t bits;
        memcpy(&bits, &ratio, sizeof bits);
        const int64_t size = (bits >> 49) - ((int64_t)1023 << 3) + SIZES - 1;
        parts[odd][size < 0 ? 0 : size >= SIZES ? SIZES - 1 : size] += ratio;
    }
    for (int64_t size = 0; size < SIZES; size++) {
        mass[size] = parts[0][size] + parts[1][size];
        total += mass[size];
    }
    int64_t size = 0;
    while (size < SIZES - 1 && below + mass[size] <= fraction * total) below += mass[size++];
    if (size == 0) return 0.0;
    const int64_t bits = (size - SIZES + 1 + ((int64_t)1023 << 3)) << 49;
    double bound;
    memcpy(&bound, &bits, sizeof bound);
    return bound * largest;
}

#endif
