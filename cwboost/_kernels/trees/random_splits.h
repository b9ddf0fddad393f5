/* One random threshold per feature and node, after Geurts, Ernst and Wehenkel, "Extremely
 * randomized trees" (Machine Learning, 2006): drawn uniformly between the smallest and the largest
 * value of the node's examples, and rounded down to a border of bins. The node is split on the best
 * of the drawn features, see criteria.h. Without a histogram, two passes over the node's rows find
 * the range of codes and the sums on the left (random_body.h), for up to eight features at a time.
 */
#ifndef CWBOOST_TREE_RANDOM_H
#define CWBOOST_TREE_RANDOM_H

#include <string.h>

#include "trees/criteria.h"
#include "trees/kernels.h"

/* A node's codes of one feature, side by side, so that the column is gathered only once. */
static inline void cwb_gather_codes(const uint8_t *codes, const int32_t *rows, int64_t n,
                                    uint8_t *out) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) { /* one store of eight: byte stores would bound the loop */
        uint64_t word = 0;
        for (int k = 0; k < 8; k++) word |= (uint64_t)codes[rows[i + k]] << (8 * k);
        memcpy(out + i, &word, 8);
    }
    for (; i < n; i++) out[i] = codes[rows[i]];
}

/* The range of codes if some values are missing, whose code is n_bins; low > high if all are.
 */
static inline void cwb_code_range_of_values(const uint8_t *codes, int64_t n, int32_t n_bins,
                                            int32_t *low, int32_t *high) {
    *low = n_bins;
    *high = -1;
    for (int64_t i = 0; i < n; i++) {
        if (codes[i] == n_bins) continue;
        if (codes[i] < *low) *low = codes[i];
        if (codes[i] > *high) *high = codes[i];
    }
}

/* Draw thresholds of n <= CWB_DRAWN features at the fraction u in [0, 1) of the way from the values
 * of bin low to those of bin high, and write the last bins on their left to `lower`; 0 if not
 * low < high. Among the bins that end in the threshold's cell, the bisections go side by side: each
 * waits for memory at every step, since the bins of all features do not fit the first cache. */
static inline void cwb_draw_bins(const cwb_feature *features, int n, const int32_t *low,
                                 const int32_t *high, const double *u, int32_t *lower) {
    double threshold[CWB_DRAWN];
    int32_t left[CWB_DRAWN], most = 0;
    for (int k = 0; k < n; k++) {
        const int varies = low[k] < high[k];
        lower[k] = left[k] = 0;
        threshold[k] = 0.0;
        if (!varies) continue;
        threshold[k] =
            (1.0 - u[k]) * features[k].highest[low[k]] + u[k] * features[k].lowest[high[k]];
        int32_t after = high[k];
        lower[k] = low[k];
        if (features[k].cells) cwb_keep_cell(features[k].cells, threshold[k], &lower[k], &after);
        left[k] = after > lower[k] ? after - lower[k] : 1;
        most = left[k] > most ? left[k] : most;
    }
    /* Among the bins lower to lower + left - 1. Those that have one left stay as they are: without
     * a branch, which would be mispredicted. */
    for (; most > 1; most -= most / 2) {
        for (int k = 0; k < n; k++) {
            const int32_t half = left[k] / 2;
            const int right = features[k].highest[lower[k] + half] <= threshold[k];
            lower[k] += right ? half : 0;
            left[k] -= half;
        }
    }
}

/* Take the split with `left` on its left, between bins lower and upper, if it gains more than the
 * one in `split`. */
static inline void cwb_consider(const cwb_rules *rules, const cwb_part *left, const cwb_part *node,
                                int32_t lower, int32_t upper, int32_t missing_right,
                                cwb_split *split) {
    if (left->count < rules->min_samples_leaf ||
        node->count - left->count < rules->min_samples_leaf)
        return;
    const double gain = cwb_side(rules->criterion, left->sum, left->mass) +
                        cwb_side(rules->criterion, node->sum - left->sum, node->mass - left->mass) -
                        cwb_side(rules->criterion, node->sum, node->mass);
    if (!(gain > rules->tolerance && gain > split->gain)) return;
    split->gain = gain;
    split->left_sum = left->sum;
    split->left_mass = left->mass;
    split->lower = lower;
    split->upper = upper;
    split->missing_right = missing_right;
}

/* A drawn threshold: the codes of the values are low to high, `lower` is the last at or below it;
 * low > high if all values are missing. */
typedef struct {
    cwb_part node, values, below;
    int32_t low, high, lower;
} cwb_drawn;

/* Best of the splits that one drawn threshold gives: missing values, if there are any, on either
 * side, or against all others. If there are none, NaN goes to the heavier side. */
static inline void cwb_consider_all(const cwb_rules *rules, const cwb_drawn *d, int32_t n_bins,
                                    cwb_split *split) {
    const cwb_part missing = {d->node.sum - d->values.sum, d->node.mass - d->values.mass,
                              d->node.count - d->values.count};
    split->gain = -INFINITY;
    split->n_tied = 1;
    if (d->low < d->high) {
        const int32_t heavier = missing.count > 0 ? 1 : d->below.mass < 0.5 * d->node.mass;
        cwb_consider(rules, &d->below, &d->node, d->lower, d->lower + 1, heavier, split);
    }
    if (missing.count == 0) return;
    if (d->low < d->high) {
        const cwb_part left = {d->below.sum + missing.sum, d->below.mass + missing.mass,
                               d->below.count + missing.count};
        cwb_consider(rules, &left, &d->node, d->lower, d->lower + 1, 0, split);
    }
    if (d->low <= d->high) cwb_consider(rules, &d->values, &d->node, d->high, n_bins, 1, split);
}

/* A random split of one feature from the running sums and counts of a histogram, which is what
 * sparse features have. Returns 1 if the feature varies in the node. */
static inline int cwb_random_by_scan(const cwb_scan *scan, const cwb_part *node,
                                     const cwb_feature *feature, const cwb_rules *rules, double u,
                                     cwb_split *split) {
    const int32_t n = scan->n, n_bins = feature->n_bins;
    cwb_drawn d = {*node, *node, {0.0, 0.0, 0}, n_bins, -1, 0};
    int32_t last = 0;
    if (n > 0) {
        d.low = scan->bin[0];
        d.high = scan->bin[n - 1];
    }
    if (scan->missing_count > 0) {
        d.values.sum -= scan->missing_sum;
        d.values.mass -= scan->missing_mass;
        d.values.count -= scan->missing_count;
    }
    if (d.low < d.high) {
        cwb_draw_bins(feature, 1, &d.low, &d.high, &u, &d.lower);
        while (last + 1 < n && scan->bin[last + 1] <= d.lower) last++;
        d.below.sum = scan->sum[last];
        d.below.mass = scan->mass[last];
        d.below.count = scan->count[last];
    }
    cwb_consider_all(rules, &d, n_bins, split);
    return d.low < d.high || (scan->missing_count > 0 && d.low <= d.high);
}

#endif
