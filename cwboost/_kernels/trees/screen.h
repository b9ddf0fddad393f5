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
 * Codes are read row by row: where few rows are kept, a column has each of them on another line
 * of the cache.
 */
#ifndef CWBOOST_TREE_SCREEN_H
#define CWBOOST_TREE_SCREEN_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/simd.h"
#include "trees/types.h"

#define CWB_AHEAD 16
#define CWB_SCREEN_UNITS 2147480000.0 /* of a node's mass; below 2^31 with room for rounding */

/* The node's rows with |weight| >= bound and their integers, (q << 32) + (r > 0 ? q : 0). Returns
 * how many there are; the sum of the integers into `total`. */
static int64_t cwb_screen_rows(const int32_t *rows, const double *weights, int64_t n,
                               double bound, double scale, int32_t *kept, uint64_t *packed,
                               uint64_t *total) {
    int64_t n_kept = 0;
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) { /* no branch to mispredict */
        kept[n_kept] = (int32_t)i;
        n_kept += fabs(weights[i]) >= bound;
    }
    for (int64_t i = 0; i < n_kept; i++) {
        const double weight = weights[kept[i]];
        const uint64_t q = (uint64_t)(int64_t)(fabs(weight) * scale);
        packed[i] = (q << 32) + (weight > 0.0 ? q : 0);
        sum += packed[i];
        kept[i] = rows[kept[i]];
    }
    *total = sum;
    return n_kept;
}

/* Histograms of eight features, hist[8 * code + feature], whose codes of a row lie side by side,
 * `stride` bytes before those of the next row. Reads CWB_AHEAD rows behind the last. */
static void cwb_screen_histograms(const uint8_t *codes, int64_t stride, const int32_t *rows,
                                  const uint64_t *packed, int64_t n, uint64_t *hist) {
    for (int64_t i = 0; i < n; i++) {
        const uint64_t pair = packed[i];
        const uint8_t *code = codes + rows[i] * stride;
        __builtin_prefetch(codes + rows[i + CWB_AHEAD] * stride);
        hist[8 * (int64_t)code[0]] += pair;
        hist[8 * (int64_t)code[1] + 1] += pair;
        hist[8 * (int64_t)code[2] + 2] += pair;
        hist[8 * (int64_t)code[3] + 3] += pair;
        hist[8 * (int64_t)code[4] + 4] += pair;
        hist[8 * (int64_t)code[5] + 5] += pair;
        hist[8 * (int64_t)code[6] + 6] += pair;
        hist[8 * (int64_t)code[7] + 7] += pair;
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

/* Take the gains n_here / d_here where they are larger. */
CWBOOST_INLINE void cwb_raise(cwb_f64x8 n_here, cwb_f64x8 d_here, cwb_f64x8 *num,
                              cwb_f64x8 *den) {
    const cwb_i64x8 larger = n_here * *den > *num * d_here;
    *num = cwb_where(larger, n_here, *num);
    *den = cwb_where(larger, d_here, *den);
}

/* Raise the largest gains, best_num / best_den, by those of all prefixes of n bins beyond
 * `start`. With the sums l, a of the left side and S, A of both the gain of gini is
 * l^2 / a + (S - l)^2 / (A - a) - S^2 / A = (l A - a S)^2 / (A a (A - a)), and with the positive
 * part p of a, l = 2 p - a. Even and odd bins have a largest each, which do not wait for each
 * other. Clears the bins where `clear` is set. */
CWBOOST_INLINE void cwb_screen_gini(uint64_t *hist, int32_t n, cwb_i64x8 start, double sum,
                                    double mass, int clear, cwb_f64x8 *best_num,
                                    cwb_f64x8 *best_den) {
    const cwb_i64x8 zero = {0};
    const double twice = 2.0 * mass, both = mass + sum;
    cwb_i64x8 total = start, here;
    cwb_f64x8 num[2] = {*best_num, *best_num}, den[2] = {*best_den, *best_den};
    for (int32_t bin = 0; bin < n; bin += 2)
        for (int odd = 0; odd < 2; odd++) {
            memcpy(&here, hist + 8 * (bin + odd), sizeof here);
            if (clear) memcpy(hist + 8 * (bin + odd), &zero, sizeof zero);
            total += here;
            const cwb_f64x8 left_mass = cwb_doubles(total >> 32);
            const cwb_f64x8 positive = cwb_doubles(total & INT64_C(0xFFFFFFFF));
            const cwb_f64x8 x = positive * twice - left_mass * both;
            cwb_raise(x * x, left_mass * (mass - left_mass), num + odd, den + odd);
        }
    cwb_raise(num[1], den[1], num, den);
    *best_num = num[0];
    *best_den = den[0];
}

/* The same of the criterion edge, |l| + |S - l| - |S|. */
CWBOOST_INLINE void cwb_screen_edge(uint64_t *hist, int32_t n, cwb_i64x8 start, double sum,
                                    int clear, cwb_f64x8 *best) {
    const cwb_i64x8 no_sign = (cwb_i64x8){0} + INT64_MAX, zero = {0};
    cwb_i64x8 total = start, here;
    cwb_f64x8 most = *best;
    for (int32_t bin = 0; bin < n; bin++) {
        memcpy(&here, hist + 8 * bin, sizeof here);
        if (clear) memcpy(hist + 8 * bin, &zero, sizeof zero);
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

CWBOOST_INLINE void cwb_screen_pass(int criterion, uint64_t *hist, int32_t n, cwb_i64x8 start,
                                    double sum, double mass, int clear, cwb_f64x8 *best,
                                    cwb_f64x8 *den) {
    if (criterion == CWB_GINI) {
        cwb_screen_gini(hist, n, start, sum, mass, clear, best, den);
    } else {
        cwb_screen_edge(hist, n, start, sum, clear, best);
    }
}

/* Largest gain of each of eight features, in units, into `gains`; clears the histograms. n_bins
 * are their bins of values; the code behind these is "missing". `total` is the sum of all. */
CWBOOST_CLONES
static void cwb_screen_gains(int criterion, uint64_t *hist, const int32_t *n_bins, uint64_t total,
                             double *gains) {
    const double mass = (double)(total >> 32);
    const double sum = 2.0 * (double)(total & UINT64_C(0xFFFFFFFF)) - mass;
    cwb_i64x8 missing = {0};
    cwb_f64x8 best = {0}, den = (cwb_f64x8){0} + 1.0;
    uint64_t any = 0;
    int32_t n = 0;
    for (int k = 0; k < CWB_SCREENED; k++) {
        n = n_bins[k] > n ? n_bins[k] : n;
        if (n_bins[k] == CWB_BINS) continue; /* no code is left for missing values */
        missing[k] = (int64_t)hist[8 * n_bins[k] + k];
        any |= hist[8 * n_bins[k] + k];
    }
    const int32_t n_codes = n < CWB_BINS ? n + 1 : CWB_BINS; /* one more, empty, where odd */
    /* Missing values are the last code: on the right of every prefix, and "values against
     * missing" is one of them. */
    const cwb_i64x8 none = {0};
    if (any) {
        cwb_screen_pass(criterion, hist, n_codes, none, sum, mass, 0, &best, &den);
        for (int k = 0; k < CWB_SCREENED; k++)
            if (n_bins[k] < CWB_BINS) hist[8 * n_bins[k] + k] = 0;
    }
    cwb_screen_pass(criterion, hist, n_codes, missing, sum, mass, 1, &best, &den);
    if (criterion == CWB_GINI && mass > 0.0) best = best / (den * mass);
    memcpy(gains, &best, sizeof best);
}

#endif
