/* The search for the best split of a feature (split_body.h). */
#pragma once

#include <math.h>
#include <stdint.h>

#include "trees/types.h"

/* The split at threshold i, missing values on a side. If the node has none, NaN goes to the heavier
 * side. */
static inline void cwb_describe(const cwb_scan *scan, double gain, int side, int32_t i,
                                int32_t n_bins, cwb_split *split) {
    const int missing = scan->missing_mass > 0.0;
    const double mass = scan->mass[scan->n - 1] + scan->missing_mass;
    split->gain = gain;
    split->left_sum = scan->sum[i] + (side ? 0.0 : scan->missing_sum);
    split->left_mass = scan->mass[i] + (side ? 0.0 : scan->missing_mass);
    split->lower = scan->bin[i];
    split->upper = i + 1 < scan->n ? scan->bin[i + 1] : n_bins;
    split->missing_right = missing ? side : split->left_mass < 0.5 * mass;
}

#define CWB_BODY "trees/split_body.h"
#include "common/for_each_target.h"
