/* Projections of rows on many directions, and directions from seeds: the same bits everywhere.
 *
 *     z_j(x) = float32( sum_k x_k W[k, j] - offset_j )
 *
 * Each sum is taken in double, in ascending k, by itself: it does not depend on the rows beside
 * it, on the number of threads, on vectors, or on whether zeros are stored. BLAS promises none of
 * this, and a stump on z must give in prediction what it gave in training.
 */
#ifndef CWBOOST_PROJECTION_H
#define CWBOOST_PROJECTION_H

#include "common/simd.h"

#define CWB_PROJ_LANES 8 /* columns of W worked on at a time: one vector of doubles */
#define CWB_PROJ_ROWS 4  /* rows that share a vector of W while it is in a register */

typedef double cwb_proj_vec __attribute__((vector_size(64), aligned(8), may_alias));

/* Columns [first, first + 8) for four rows of d doubles. out: a column each, `step` apart. */
CWBOOST_CLONES static void cwb_project_rows(const double *x, int64_t d, const double *w,
                                            int64_t width, int64_t first, double *sums)
{
    cwb_proj_vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int64_t k = 0; k < d; k++) {
        const cwb_proj_vec v = *(const cwb_proj_vec *)(w + k * width + first);
        s0 += x[k] * v;
        s1 += x[d + k] * v;
        s2 += x[2 * d + k] * v;
        s3 += x[3 * d + k] * v;
    }
    memcpy(sums, &s0, sizeof s0);
    memcpy(sums + CWB_PROJ_LANES, &s1, sizeof s1);
    memcpy(sums + 2 * CWB_PROJ_LANES, &s2, sizeof s2);
    memcpy(sums + 3 * CWB_PROJ_LANES, &s3, sizeof s3);
}

/* All columns of one row that is given by its non-zeros. */
CWBOOST_CLONES static void cwb_project_stored(const double *value, const int32_t *feature,
                                              int64_t count, const double *w, int64_t width,
                                              double *sums)
{
    for (int64_t first = 0; first < width; first += 4 * CWB_PROJ_LANES) {
        const int64_t left = (width - first) / CWB_PROJ_LANES;
        if (left >= 4) {
            cwb_proj_vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
            for (int64_t p = 0; p < count; p++) {
                const cwb_proj_vec *v = (const cwb_proj_vec *)(w + feature[p] * width + first);
                s0 += value[p] * v[0];
                s1 += value[p] * v[1];
                s2 += value[p] * v[2];
                s3 += value[p] * v[3];
            }
            memcpy(sums + first, &s0, sizeof s0);
            memcpy(sums + first + CWB_PROJ_LANES, &s1, sizeof s1);
            memcpy(sums + first + 2 * CWB_PROJ_LANES, &s2, sizeof s2);
            memcpy(sums + first + 3 * CWB_PROJ_LANES, &s3, sizeof s3);
            continue;
        }
        for (int64_t at = first; at < width; at += CWB_PROJ_LANES) {
            cwb_proj_vec s = {0};
            for (int64_t p = 0; p < count; p++)
                s += value[p] * *(const cwb_proj_vec *)(w + feature[p] * width + at);
            memcpy(sums + at, &s, sizeof s);
        }
    }
}

/* Random directions. Entry k of a direction is a function of (seed, k) in integer arithmetic and
 * exact double operations, so that a seed rebuilds it on any machine with any version. */

/* Word number i of a seed's sequence: splitmix64 (Steele, Lea and Flood, 2014). */
static inline uint64_t cwb_random_word(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline double cwb_random_unit(uint64_t word) { return (double)(word >> 11) * 0x1p-53; }

static inline int cwb_ones(uint64_t x)
{
    x -= (x >> 1) & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (int)((x * UINT64_C(0x0101010101010101)) >> 56);
}

/* Gaussian by the central limit: 64 coin flips and a uniform number, over four, are a standard
 * normal number as far as a projection can tell. */
static inline void cwb_gaussian(uint64_t seed, int64_t d, const double *scale, int64_t step,
                                double *out)
{
    for (int64_t k = 0; k < d; k++) {
        const int flips = cwb_ones(cwb_random_word(seed, 2 * (uint64_t)k)) - 32;
        const double fill = cwb_random_unit(cwb_random_word(seed, 2 * (uint64_t)k + 1)) - 0.5;
        out[k * step] = (flips + fill) * 0.25 * scale[k];
    }
}

/* -1 or +1 with probability density / 2 each, else 0 (Achlioptas, 2003; Li, Hastie and Church,
 * 2006). */
static inline void cwb_sparse_signs(uint64_t seed, double density, int64_t d, const double *scale,
                                    int64_t step, double *out)
{
    for (int64_t k = 0; k < d; k++) {
        const uint64_t word = cwb_random_word(seed, (uint64_t)k);
        out[k * step] =
            cwb_random_unit(word) < density ? (word & 1 ? scale[k] : -scale[k]) : 0.0;
    }
}

#endif
