/* The search for the best split of a feature (split_body.h). */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "trees/types.h"

static inline void cwb_forbid_light_leaves(cwb_scan *scan, int32_t n, double least) {
    const double total = scan->mass[scan->n - 1] + scan->missing_mass;
    for (int32_t i = 0; i < n; i++)
        for (int side = 0; side < 2; side++) {
            const double left = scan->mass[i] + (side ? 0.0 : scan->missing_mass);
            if (left < least || total - left < least) scan->gain[side][i] = -INFINITY;
        }
}

/* The split at candidate (side, i). If the node has no missing values, NaN goes to the heavier
 * side. */
static inline void cwb_describe(const cwb_scan *scan, int side, int32_t i, int32_t n_bins,
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

#define CWB_BODY "trees/split_body.h"
#include "common/for_each_target.h"
