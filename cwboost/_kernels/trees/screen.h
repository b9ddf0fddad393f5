/* Which features can still hold the best split of a node: an upper bound of every feature's gain
 * from a few of the node's examples, in integers.
 *
 * An example's weight r becomes the integer q = floor(|r| / u), and 0 if |r| is small; boosting
 * gathers the mass on few examples, so that most of the others can be left out. The criteria
 * "edge" and "gini" are functions Q(S, M) of a side's sums that are convex and homogeneous of the
 * first degree, so Q(a + b) <= Q(a) + Q(b), and 0 <= Q <= M: the mass D lost by rounding adds
 * at most D to any split. Hence for every threshold
 *
 *     criterion over all examples <= u * (criterion over the integers) + D.
 *
 * A positive and a total sum share one 64-bit integer, of 31 bits each: one addition per
 * example and feature, exact in any order. Histograms of eight features lie side by side, bin by
 * bin, so that a vector holds one bin of eight features and the scan over bins needs no shuffle.
 * Codes are read row by row: if few rows are kept, each is on another cache line in a column.
 */
#ifndef CWBOOST_TREE_SCREEN_H
#define CWBOOST_TREE_SCREEN_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "trees/types.h"

#define CWB_AHEAD 16
#define CWB_SCREEN_UNITS 2147480000.0 /* of a node's mass; below 2^31 with room for rounding */

/* The node's rows with |weight| >= bound and their integers, (q << 32) + (r > 0 ? q : 0). Returns
 * their number; `total` becomes the sum of the integers. */
static inline int64_t cwb_screen_rows(const int32_t *rows, const double *weights, int64_t n,
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
 * `stride` bytes before those of the next row. Reads CWB_AHEAD rows beyond the last. */
static inline void cwb_screen_histograms(const uint8_t *codes, int64_t stride, const int32_t *rows,
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

#endif
