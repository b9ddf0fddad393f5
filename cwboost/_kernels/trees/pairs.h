/* The best tree of depth 2 with outputs -1 and +1, over all features and bins.
 *
 * A tree compares a root feature with a bin, and each side with one bin of a feature that it
 * chooses for itself. With signed weights r, its edge is the sum over the four leaves of |sum of
 * r|, so the sides are independent. For a root f and a child g, let
 *
 *     T(a, b) = sum of r over the rows of code a of f and b of g,
 *     L(s, b) = sum over a <= s of T(a, b),   R(s, b) = sum over a > s of T(a, b).
 *
 * The best stump of g on the left of the split s of f is the largest over t of |P| + |S - P|, with
 * P the sum of L(s, b) over b <= t and S that over all b; on the right the same of R. The largest
 * of either side over g, added, gives the best tree of root (f, s). Missing values have the last
 * code: splits with them on the left add it to P, or to L.
 *
 * Up to eight targets go side by side, in lanes. Weights are integers in doubles (weight_scales),
 * so that sums are exact, whatever their order.
 *
 * Cost per pair of features and pass: an addition of all lanes per row, and about 12 B^2
 * operations per lane, over B bins.
 */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A feature as codes: n_bins of values in order; then one of missing values, if there are any. */
typedef struct {
    const uint8_t *codes;
    int64_t n_bins, n_codes;
} cwb_coarse;

/* What is known of the roots of one feature: the largest edge of either side per split and lane,
 * (2, n_splits, lanes), and the child that has it. */
typedef struct {
    double *edge;
    int32_t *child;
} cwb_roots;

/* Splits of a feature: above each bin with missing values on the right, then with them left. */
static inline int64_t cwb_n_splits(const cwb_coarse *f) {
    return f->n_codes > f->n_bins ? 2 * f->n_bins : f->n_bins;
}

#define CWB_BODY "trees/pairs_body.h"
#include "common/for_each_target.h"
