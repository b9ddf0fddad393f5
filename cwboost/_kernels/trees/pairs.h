/* The best tree of depth 2 with outputs -1 and +1, over all features and bins.
 *
 * A tree compares a root feature with a bin, and each side with one bin of a feature that it
 * chooses for itself. With signed weights r, its edge is the sum over the four leaves of |sum of
 * r|, so the sides are independent. For a pair of features f and g, let
 *
 *     E(s, t) = sum of r over the rows on the left of the split s of f and of t of g.
 *
 * Of the last splits, s = S and t = T, all rows are on the left. With root f, the best stump of g
 * on the left of s is the largest over t of
 *
 *     |E(s, t)| + |E(s, T) - E(s, t)| = 2 max(|E(s, T)| / 2, |E(s, t) - E(s, T) / 2|),
 *
 * of which t = T is the first term; on the right it is the same of E(S, .) - E(s, .). With root g,
 * f and g change places. The largest of either side over all children, added, gives the best tree
 * of a root and split. Missing values have the last code: splits with them on the left come after
 * those without.
 *
 * Up to eight targets go side by side, in lanes. Weights are integers in doubles (weight_scales),
 * so that sums are exact, whatever their order.
 *
 * Cost per pair of features and pass: an addition of all lanes per row, and about 16 B^2
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
