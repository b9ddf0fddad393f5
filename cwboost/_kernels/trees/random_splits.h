/* One random threshold a feature and node, after Geurts, Ernst and Wehenkel, "Extremely randomized
 * trees" (Machine Learning, 2006): drawn uniformly between the smallest and the largest value that
 * the node has seen, and taken to the nearest border of bins below. The best of the drawn features
 * is then split there, see tree_criteria.h. No histogram is made: two passes over the node's rows
 * find the range of codes and the sums on the left.
 */
#ifndef CWBOOST_TREE_RANDOM_H
#define CWBOOST_TREE_RANDOM_H

#include <string.h>

#include "trees/criteria.h"

typedef uint8_t cwb_u8x8 __attribute__((vector_size(8)));

/* What one side of a split holds. */
typedef struct {
    double sum, mass;
    int64_t count;
} cwb_part;

/* A node's codes of one feature, side by side: reached through its rows only once. */
static void cwb_gather_codes(const uint8_t *codes, const int32_t *rows, int64_t n, uint8_t *out) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) { /* one store of eight: byte stores would bound the loop */
        uint64_t word = 0;
        for (int k = 0; k < 8; k++) word |= (uint64_t)codes[rows[i + k]] << (8 * k);
        memcpy(out + i, &word, 8);
    }
    for (; i < n; i++) out[i] = codes[rows[i]];
}

CWBOOST_CLONES
static void cwb_code_range(const uint8_t *codes, int64_t n, int32_t *low, int32_t *high) {
    uint8_t smallest = 255, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        smallest = codes[i] < smallest ? codes[i] : smallest;
        largest = codes[i] > largest ? codes[i] : largest;
    }
    *low = smallest;
    *high = largest;
}

/* The same where some values are missing, whose code is n_bins; low > high where all are. */
static void cwb_code_range_of_values(const uint8_t *codes, int64_t n, int32_t n_bins,
                                     int32_t *low, int32_t *high) {
    *low = n_bins;
    *high = -1;
    for (int64_t i = 0; i < n; i++) {
        if (codes[i] == n_bins) continue;
        if (codes[i] < *low) *low = codes[i];
        if (codes[i] > *high) *high = codes[i];
    }
}

/* Sums over the rows whose code lies below `bound`, eight lanes added in a fixed order. */
CWBOOST_CLONES
static void cwb_sums_below(const uint8_t *codes, const double *weights, int64_t n, int32_t bound,
                           cwb_part *part) {
    const int64_t b = bound;
    const cwb_i64x8 bounds = {b, b, b, b, b, b, b, b};
    cwb_f64x8 sums = {0}, masses = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        cwb_u8x8 code;
        cwb_f64x8 w;
        memcpy(&code, codes + i, 8);
        memcpy(&w, weights + i, 64);
        const cwb_i64x8 below = (__builtin_convertvector(code, cwb_i64x8) - bounds) >> 63;
        const cwb_i64x8 bits = (cwb_i64x8)w & below;
        sums += (cwb_f64x8)bits;
        masses += (cwb_f64x8)(bits & INT64_MAX);
    }
    double sum = 0.0, mass = 0.0;
    for (; i < n; i++) {
        const double w = codes[i] < bound ? weights[i] : 0.0;
        sum += w;
        mass += fabs(w);
    }
    for (int lane = 0; lane < 8; lane++) {
        sum += sums[lane];
        mass += masses[lane];
    }
    part->sum = sum;
    part->mass = mass;
}

CWBOOST_CLONES
static int64_t cwb_count_below(const uint8_t *codes, int64_t n, int32_t bound) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += codes[i] < bound;
    return count;
}

/* Last bin on the left of a threshold at the share u in [0, 1) of the way from the values of bin
 * `low` to those of bin `high`. */
static int32_t cwb_draw_bin(const double *lowest, const double *highest, int32_t low,
                            int32_t high, double u) {
    const double threshold = (1.0 - u) * highest[low] + u * lowest[high];
    /* Among the bins low to high - 1; without a branch, which would be mispredicted. */
    for (int32_t n = high - low; n > 1;) {
        const int32_t half = n / 2;
        low = highest[low + half] <= threshold ? low + half : low;
        n -= half;
    }
    return low;
}

/* Take the split with `left` on its left if it gains more than the one in `split`. */
static void cwb_consider(int criterion, int64_t min_samples_leaf, double tolerance,
                         const cwb_part *left, const cwb_part *node, int32_t lower,
                         int32_t upper, int32_t missing_right, cwb_split *split) {
    if (left->count < min_samples_leaf || node->count - left->count < min_samples_leaf) return;
    const double gain = cwb_side(criterion, left->sum, left->mass) +
                        cwb_side(criterion, node->sum - left->sum, node->mass - left->mass) -
                        cwb_side(criterion, node->sum, node->mass);
    if (!(gain > tolerance && gain > split->gain)) return;
    split->gain = gain;
    split->left_sum = left->sum;
    split->left_mass = left->mass;
    split->lower = lower;
    split->upper = upper;
    split->missing_right = missing_right;
}

/* Best of the splits that one drawn threshold gives: missing values, where there are any, on
 * either side, or against all others. Without them they are sent to the heavier side. */
static void cwb_consider_all(int criterion, int64_t min_samples_leaf, double tolerance,
                             const cwb_part *below, const cwb_part *values, const cwb_part *node,
                             int32_t low, int32_t high, int32_t lower, int32_t n_bins,
                             cwb_split *split) {
    const cwb_part missing = {node->sum - values->sum, node->mass - values->mass,
                              node->count - values->count};
    split->gain = -INFINITY;
    split->n_tied = 1;
    if (low < high) {
        const int32_t heavier = missing.count > 0 ? 1 : below->mass < 0.5 * node->mass;
        cwb_consider(criterion, min_samples_leaf, tolerance, below, node, lower, lower + 1,
                     heavier, split);
    }
    if (missing.count == 0) return;
    if (low < high) {
        const cwb_part left = {below->sum + missing.sum, below->mass + missing.mass,
                               below->count + missing.count};
        cwb_consider(criterion, min_samples_leaf, tolerance, &left, node, lower, lower + 1, 0,
                     split);
    }
    if (low <= high)
        cwb_consider(criterion, min_samples_leaf, tolerance, values, node, high, n_bins, 1,
                     split);
}

/* A random split of one feature from the codes of a node's rows. Returns whether the feature
 * varies there. `gathered` is scratch for n codes. */
static int cwb_random_by_codes(const uint8_t *codes, const int32_t *rows, const double *weights,
                               const cwb_part *node, const double *lowest, const double *highest,
                               int32_t n_bins, int criterion, int64_t min_samples_leaf,
                               double tolerance, double u, uint8_t *gathered, cwb_split *split) {
    const int64_t n = node->count;
    cwb_part below = {0}, values = *node;
    int32_t low, high, lower = 0;
    cwb_gather_codes(codes, rows, n, gathered);
    cwb_code_range(gathered, n, &low, &high);
    const int missing = high == n_bins;
    if (missing) {
        cwb_code_range_of_values(gathered, n, n_bins, &low, &high);
        cwb_sums_below(gathered, weights, n, n_bins, &values);
        values.count = cwb_count_below(gathered, n, n_bins);
    }
    if (low < high) {
        lower = cwb_draw_bin(lowest, highest, low, high, u);
        cwb_sums_below(gathered, weights, n, lower + 1, &below);
        below.count = cwb_count_below(gathered, n, lower + 1);
    }
    cwb_consider_all(criterion, min_samples_leaf, tolerance, &below, &values, node, low, high,
                     lower, n_bins, split);
    return low < high || (missing && low <= high);
}

/* The same from the running sums and counts of a histogram, which is what sparse features have. */
static int cwb_random_by_scan(const cwb_scan *scan, const cwb_part *node, const double *lowest,
                              const double *highest, int32_t n_bins, int criterion,
                              int64_t min_samples_leaf, double tolerance, double u,
                              cwb_split *split) {
    const int32_t n = scan->n, low = n ? scan->bin[0] : n_bins, high = n ? scan->bin[n - 1] : -1;
    cwb_part below = {0}, values = *node;
    int32_t lower = 0, last = 0;
    if (scan->missing_count > 0) {
        values.sum -= scan->missing_sum;
        values.mass -= scan->missing_mass;
        values.count -= scan->missing_count;
    }
    if (low < high) {
        lower = cwb_draw_bin(lowest, highest, low, high, u);
        while (last + 1 < n && scan->bin[last + 1] <= lower) last++;
        below.sum = scan->sum[last];
        below.mass = scan->mass[last];
        below.count = scan->count[last];
    }
    cwb_consider_all(criterion, min_samples_leaf, tolerance, &below, &values, node, low, high,
                     lower, n_bins, split);
    return low < high || (scan->missing_count > 0 && low <= high);
}

#endif
