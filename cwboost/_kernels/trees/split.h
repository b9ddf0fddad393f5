/* The search for the best split of one feature from the running sums of its histogram. For the
 * criteria, gains and ties see tree_criteria.h.
 */
#ifndef CWBOOST_TREE_SPLIT_H
#define CWBOOST_TREE_SPLIT_H

#include <stdint.h>
#include <string.h>

#include "trees/criteria.h"

/* Gains of the first n splits when (shift_sum, shift_mass) joins the left side. */
CWBOOST_CLONES
static void cwb_gains_gini(const double *sums, const double *masses, int32_t n, double shift_sum,
                           double shift_mass, double sum, double mass, double *gains) {
    const double parent = cwb_side(CWB_GINI, sum, mass);
    for (int32_t i = 0; i < n; i++) {
        const double ls = sums[i] + shift_sum, lm = masses[i] + shift_mass;
        const double rs = sum - ls, rm = mass - lm;
        const double ll = lm > DBL_MIN ? lm : DBL_MIN, rl = rm > DBL_MIN ? rm : DBL_MIN;
        const double l2 = ls * ls < ll * ll ? ls * ls : ll * ll;
        const double r2 = rs * rs < rl * rl ? rs * rs : rl * rl;
        gains[i] = l2 / ll + r2 / rl - parent;
    }
}

CWBOOST_CLONES
static void cwb_gains_edge(const double *sums, int32_t n, double shift_sum, double sum,
                           double *gains) {
    for (int32_t i = 0; i < n; i++) {
        const double ls = sums[i] + shift_sum;
        gains[i] = fabs(ls) + fabs(sum - ls) - fabs(sum);
    }
}

static void cwb_gains(int criterion, const cwb_scan *scan, int32_t n, double shift_sum,
                      double shift_mass, double sum, double mass, double *gains) {
    if (criterion == CWB_GINI) {
        cwb_gains_gini(scan->sum, scan->mass, n, shift_sum, shift_mass, sum, mass, gains);
    } else if (criterion == CWB_EDGE) {
        cwb_gains_edge(scan->sum, n, shift_sum, sum, gains);
    } else {
        const double parent = cwb_side(criterion, sum, mass);
        for (int32_t i = 0; i < n; i++) {
            const double ls = scan->sum[i] + shift_sum, lm = scan->mass[i] + shift_mass;
            gains[i] = cwb_side(criterion, ls, lm) + cwb_side(criterion, sum - ls, mass - lm) -
                       parent;
        }
    }
}

static void cwb_forbid_small_leaves(cwb_scan *scan, int32_t n, int64_t least) {
    const int64_t total = scan->count[scan->n - 1] + scan->missing_count;
    for (int32_t i = 0; i < n; i++)
        for (int side = 0; side < 2; side++) {
            const int64_t left = scan->count[i] + (side ? 0 : scan->missing_count);
            if (left < least || total - left < least) scan->gain[side][i] = -INFINITY;
        }
}

/* Fill scan->gain; returns the number of thresholds, of which the last is "values against
 * missing" where there are missing values. Side 0 of `gain` is only filled when there are. */
static int32_t cwb_all_gains(cwb_scan *scan, int criterion, int64_t min_samples_leaf) {
    const int missing = scan->missing_mass > 0.0;
    if (scan->n == 0) return 0;
    const int32_t n = scan->n - 1 + missing;
    const double sum = scan->sum[scan->n - 1] + scan->missing_sum;
    const double mass = scan->mass[scan->n - 1] + scan->missing_mass;
    cwb_gains(criterion, scan, n, 0.0, 0.0, sum, mass, scan->gain[1]);
    if (missing) {
        cwb_gains(criterion, scan, n, scan->missing_sum, scan->missing_mass, sum, mass,
                  scan->gain[0]);
        scan->gain[0][n - 1] = -INFINITY; /* everything on the left: no split */
    }
    if (min_samples_leaf > 1) cwb_forbid_small_leaves(scan, n, min_samples_leaf);
    return n;
}

/* The split at candidate (side, i). Where the node has no missing values they are sent to the
 * heavier side. */
static void cwb_describe(const cwb_scan *scan, int side, int32_t i, int32_t n_bins,
                         cwb_split *split) {
    const int missing = scan->missing_mass > 0.0;
    const double mass = scan->mass[scan->n - 1] + scan->missing_mass;
    split->gain = scan->gain[side][i];
    split->left_sum = scan->sum[i] + (side ? 0.0 : scan->missing_sum);
    split->left_mass = scan->mass[i] + (side ? 0.0 : scan->missing_mass);
    split->lower = scan->bin[i];
    split->upper = i + 1 < scan->n ? scan->bin[i + 1] : n_bins;
    split->missing_right = missing ? side : split->left_mass < 0.5 * mass;
}

CWBOOST_CLONES
static double cwb_largest(const double *values, int32_t n) {
    cwb_f64x8 best = (cwb_f64x8){0} - INFINITY, here;
    int32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(&here, values + i, sizeof here);
        const cwb_i64x8 larger = here > best;
        best = (cwb_f64x8)(((cwb_i64x8)here & larger) | ((cwb_i64x8)best & ~larger));
    }
    double largest = -INFINITY;
    for (; i < n; i++) largest = values[i] > largest ? values[i] : largest;
    for (int lane = 0; lane < 8; lane++) largest = best[lane] > largest ? best[lane] : largest;
    return largest;
}

/* Best split from running sums: the first threshold whose gain is within `tolerance` of the
 * largest, missing values on the left before the right. gain = -inf where there is none. */
static void cwb_best_split(cwb_scan *scan, int criterion, int64_t min_samples_leaf,
                           double tolerance, int32_t n_bins, cwb_split *split) {
    const int32_t n = cwb_all_gains(scan, criterion, min_samples_leaf);
    const int first_side = scan->missing_mass > 0.0 ? 0 : 1;
    double best = cwb_largest(scan->gain[1], n);
    if (first_side == 0) best = fmax(best, cwb_largest(scan->gain[0], n));
    split->gain = -INFINITY;
    split->n_tied = 0;
    if (!(best > tolerance)) return;
    for (int32_t i = 0; i < n; i++)
        for (int side = first_side; side < 2; side++) {
            if (scan->gain[side][i] < best - tolerance) continue;
            if (split->n_tied++ == 0) cwb_describe(scan, side, i, n_bins, split);
            if (criterion != CWB_EDGE) i = n; /* only "edge" settles ties */
        }
    split->gain = best;
}

/* Edge of a split whose left side has the sign +1 (left_positive) or -1, in row order. */
static double cwb_split_edge(const uint8_t *codes, uint8_t first, uint32_t width,
                             const int32_t *rows, const double *weights, int64_t n,
                             int left_positive) {
    double edge = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const int is_right = (uint8_t)(codes[rows[i]] - first) < width;
        edge += is_right == left_positive ? -weights[i] : weights[i];
    }
    return edge;
}

#endif
