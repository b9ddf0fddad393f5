/* Which features can still hold the best split of a node: an upper bound of every feature's gain
 * from a few of the node's examples, in integers.
 *
 * An example's weight r becomes the integer q = floor(|r| / u), and 0 where |r| is small; boosting
 * gathers the mass on few examples, so that most of the others can be left out. The criteria
 * "edge" and "gini" are functions Q(S, M) of a side's sums that are convex and homogeneous of the
 * first degree, so Q(a + b) <= Q(a) + Q(b), and 0 <= Q <= M: what was rounded away, of mass D in
 * all, adds at most D to any split. Hence for every threshold
 *
 *     criterion over all examples <= u * (criterion over the integers) + D.
 *
 * A positive and a total sum share one 64-bit integer, of 31 bits each: one addition an example
 * and feature, exact, in whatever order. Histograms of eight features lie side by side, bin by
 * bin, so that a vector holds one bin of eight features and the scan over bins needs no shuffle.
 */
#ifndef CWBOOST_TREE_SCREEN_H
#define CWBOOST_TREE_SCREEN_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "simd.h"
#include "tree_types.h"

#define CWB_SCREENED 8 /* features at a time */
#define CWB_SCREEN_UNITS 2147480000.0 /* of a node's mass; below 2^31 with room for rounding */

/* The node's rows with |weight| >= bound and their integers, (q << 32) + (r > 0 ? q : 0). Returns
 * how many there are; the sum of the integers into `total`. */
static int64_t cwb_screen_rows(const int32_t *rows, const double *weights, int64_t n,
                               double bound, double scale, int32_t *kept, uint64_t *packed,
                               uint64_t *total) {
    int64_t n_kept = 0;
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const double size = fabs(weights[i]);
        const uint64_t q = (uint64_t)(int64_t)(size * scale);
        const uint64_t pair = (q << 32) + (weights[i] > 0.0 ? q : 0);
        const int keep = size >= bound;
        kept[n_kept] = rows[i];
        packed[n_kept] = pair;
        sum += keep ? pair : 0;
        n_kept += keep;
    }
    *total = sum;
    return n_kept;
}

/* Histograms of eight features, hist[8 * code + feature]. */
static void cwb_screen_histograms(const uint8_t *const *codes, const int32_t *rows,
                                  const uint64_t *packed, int64_t n, uint64_t *hist) {
    const uint8_t *a = codes[0], *b = codes[1], *c = codes[2], *d = codes[3];
    const uint8_t *e = codes[4], *f = codes[5], *g = codes[6], *h = codes[7];
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = rows[i];
        const uint64_t pair = packed[i];
        hist[8 * (int64_t)a[row]] += pair;
        hist[8 * (int64_t)b[row] + 1] += pair;
        hist[8 * (int64_t)c[row] + 2] += pair;
        hist[8 * (int64_t)d[row] + 3] += pair;
        hist[8 * (int64_t)e[row] + 4] += pair;
        hist[8 * (int64_t)f[row] + 5] += pair;
        hist[8 * (int64_t)g[row] + 6] += pair;
        hist[8 * (int64_t)h[row] + 7] += pair;
    }
}

/* Integers below 2^52 as doubles, without the conversion that AVX2 and AVX-512F lack. */
CWBOOST_INLINE cwb_f64x8 cwb_doubles(cwb_i64x8 v) {
    const cwb_i64x8 bits = v | INT64_C(0x4330000000000000); /* 2^52 + v */
    return (cwb_f64x8)bits - 4503599627370496.0;
}

CWBOOST_INLINE cwb_f64x8 cwb_where(cwb_i64x8 which, cwb_f64x8 a, cwb_f64x8 b) {
    return (cwb_f64x8)(((cwb_i64x8)a & which) | ((cwb_i64x8)b & ~which));
}

/* Raise the largest gains, best_num / best_den, by those of all prefixes of n bins beyond
 * `start`. With the sums l, a of the left side and S, A of both the gain of gini is
 * l^2 / a + (S - l)^2 / (A - a) - S^2 / A = (l A - a S)^2 / (A a (A - a)). */
CWBOOST_INLINE void cwb_screen_gini(const uint64_t *hist, int32_t n, cwb_i64x8 start,
                                    double sum, double mass, cwb_f64x8 *best_num,
                                    cwb_f64x8 *best_den) {
    cwb_i64x8 total = start, here;
    cwb_f64x8 num = *best_num, den = *best_den;
    for (int32_t bin = 0; bin < n; bin++) {
        memcpy(&here, hist + 8 * bin, sizeof here);
        total += here;
        const cwb_f64x8 left_mass = cwb_doubles(total >> 32);
        const cwb_f64x8 positive = cwb_doubles(total & INT64_C(0xFFFFFFFF));
        const cwb_f64x8 left = positive + positive - left_mass;
        const cwb_f64x8 x = left * mass - left_mass * sum;
        const cwb_f64x8 n_here = x * x, d_here = left_mass * (mass - left_mass);
        const cwb_i64x8 larger = n_here * den > num * d_here;
        num = cwb_where(larger, n_here, num);
        den = cwb_where(larger, d_here, den);
    }
    *best_num = num;
    *best_den = den;
}

/* The same of the criterion edge, |l| + |S - l| - |S|. */
CWBOOST_INLINE void cwb_screen_edge(const uint64_t *hist, int32_t n, cwb_i64x8 start, double sum,
                                    cwb_f64x8 *best) {
    const cwb_i64x8 no_sign = (cwb_i64x8){0} + INT64_MAX;
    cwb_i64x8 total = start, here;
    cwb_f64x8 most = *best;
    for (int32_t bin = 0; bin < n; bin++) {
        memcpy(&here, hist + 8 * bin, sizeof here);
        total += here;
        const cwb_f64x8 positive = cwb_doubles(total & INT64_C(0xFFFFFFFF));
        const cwb_f64x8 left = positive + positive - cwb_doubles(total >> 32);
        const cwb_f64x8 right = sum - left;
        const cwb_f64x8 gain = (cwb_f64x8)((cwb_i64x8)left & no_sign) +
                               (cwb_f64x8)((cwb_i64x8)right & no_sign) - fabs(sum);
        most = cwb_where(gain > most, gain, most);
    }
    *best = most;
}

/* Largest gain of each of eight features, in units, into `gains`; clears the histograms. n_bins
 * are their bins of values; the code behind these is "missing". `total` is the sum of all. */
CWBOOST_CLONES
static void cwb_screen_gains(int criterion, uint64_t *hist, const int32_t *n_bins, uint64_t total,
                             double *gains) {
    const double mass = (double)(total >> 32);
    const double sum = 2.0 * (double)(total & UINT64_C(0xFFFFFFFF)) - mass;
    const cwb_i64x8 zero = {0};
    cwb_i64x8 missing = zero;
    cwb_f64x8 best = {0}, den = (cwb_f64x8){0} + 1.0;
    int64_t any = 0;
    int32_t n = 0;
    for (int k = 0; k < CWB_SCREENED; k++) n = n_bins[k] > n ? n_bins[k] : n;
    const int32_t n_codes = n < CWB_BINS ? n + 1 : CWB_BINS;
    /* Missing values are the last code: on the right of every prefix, and "values against
     * missing" is one of them. */
    for (int pass = 0; pass < 2; pass++) {
        if (criterion == CWB_GINI) {
            cwb_screen_gini(hist, n_codes, missing, sum, mass, &best, &den);
        } else {
            cwb_screen_edge(hist, n_codes, missing, sum, &best);
        }
        if (pass) break;
        for (int k = 0; k < CWB_SCREENED; k++) {
            if (n_bins[k] == CWB_BINS) continue; /* no code is left for missing values */
            uint64_t *there = hist + 8 * n_bins[k] + k;
            missing[k] = (int64_t)*there;
            any |= (int64_t)*there;
            *there = 0;
        }
        if (!any) break;
    }
    memset(hist, 0, 8 * (size_t)n_codes * sizeof *hist);
    if (criterion == CWB_GINI && mass > 0.0) best = best / (den * mass);
    memcpy(gains, &best, sizeof best);
}

#endif
