/* The smallest weights of a tree, up to a fraction of its mass, in one pass. */
#ifndef CWBOOST_TREE_TRIM_H
#define CWBOOST_TREE_TRIM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { CWB_SIZES = 512 };

/* Masses of weights by size relative to the largest weight, in eighths of a power of two. Separate
 * sums of even and odd places, so that additions of neighbours are independent. */
typedef struct {
    double parts[2][CWB_SIZES];
} cwb_masses;

static inline void cwb_add_mass(cwb_masses *masses, int odd, double ratio) {
    int64_t bits;
    memcpy(&bits, &ratio, sizeof bits);
    const int64_t size = (bits >> 49) - ((int64_t)1023 << 3) + CWB_SIZES - 1;
    masses->parts[odd][size < 0 ? 0 : size >= CWB_SIZES ? CWB_SIZES - 1 : size] += ratio;
}

/* Largest bound b such that the weights below b sum to at most `fraction` of all. */
static inline double cwb_bound_of(const cwb_masses *masses, double largest, double fraction) {
    double mass[CWB_SIZES], total = 0.0, below = 0.0;
    for (int64_t size = 0; size < CWB_SIZES; size++) {
        mass[size] = masses->parts[0][size] + masses->parts[1][size];
        total += mass[size];
    }
    int64_t size = 0;
    while (size < CWB_SIZES - 1 && below + mass[size] <= fraction * total) below += mass[size++];
    if (size == 0) return 0.0;
    const int64_t bits = (size - CWB_SIZES + 1 + ((int64_t)1023 << 3)) << 49;
    double bound;
    memcpy(&bound, &bits, sizeof bound);
    return bound * largest;
}

/* That bound for |weights|. */
static inline double cwb_trim_bound(const double *weights, int64_t n, double largest,
                                    double fraction) {
    cwb_masses masses = {{{0}}};
    const double scale = 1.0 / largest;
    for (int64_t i = 0; i < n; i++) cwb_add_mass(&masses, (int)(i & 1), fabs(weights[i]) * scale);
    return cwb_bound_of(&masses, largest, fraction);
}

/* The same, with the same bits, if only these rows have a weight. */
static inline double cwb_trim_bound_of_rows(const double *weights, const int64_t *kept, int64_t n,
                                            double largest, double fraction) {
    cwb_masses masses = {{{0}}};
    const double scale = 1.0 / largest;
    for (int64_t k = 0; k < n; k++)
        cwb_add_mass(&masses, (int)(kept[k] & 1), fabs(weights[kept[k]]) * scale);
    return cwb_bound_of(&masses, largest, fraction);
}

#endif
