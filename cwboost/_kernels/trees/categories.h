/* Splits on categories. Of all subsets of the categories of a node, the best by any convex
 * criterion (split_body.h) is among those that take the categories in the order of sum / mass, the
 * mean sign (Breiman and others, "Classification and Regression Trees", 1984, section 4.2.2). So
 * the non-empty bins of a scan are put in this order, and the search for a threshold goes on as
 * for numbers. The mean is shrunk by one average mass of a category, so that a category of one
 * light example is not at an end; its sign stays, so by "edge" the best subset is still found.
 * Categories that the node does not have go where missing values go.
 *
 * Cost: a sort of the node's categories. */
#pragma once

#include <stdlib.h>

#include "trees/types.h"

typedef struct {
    double mean, sum, mass;
    int32_t bin;
} cwb_category;

/* By mean; in a tie by bin, so that no two are equal and the order is the same everywhere. */
static int cwb_compare_categories(const void *first, const void *second) {
    const cwb_category *a = first, *b = second;
    if (a->mean != b->mean) return a->mean < b->mean ? -1 : 1;
    return (a->bin > b->bin) - (a->bin < b->bin);
}

/* Put the bins of a scan, and their running sums, in the order of their means. */
static inline void cwb_order_categories(cwb_scan *scan) {
    cwb_category all[CWB_BINS];
    double sum = 0.0, mass = 0.0;
    const double average = scan->n > 0 ? scan->mass[scan->n - 1] / scan->n : 0.0;
    for (int32_t i = 0; i < scan->n; i++) {
        all[i].sum = scan->sum[i] - sum;
        all[i].mass = scan->mass[i] - mass;
        all[i].mean = average > 0.0 ? all[i].sum / (all[i].mass + average) : 0.0;
        all[i].bin = scan->bin[i];
        sum = scan->sum[i];
        mass = scan->mass[i];
    }
    qsort(all, (size_t)scan->n, sizeof *all, cwb_compare_categories);
    sum = mass = 0.0;
    for (int32_t i = 0; i < scan->n; i++) {
        scan->sum[i] = sum += all[i].sum;
        scan->mass[i] = mass += all[i].mass;
        scan->bin[i] = all[i].bin;
    }
}

/* Write the bins that go right at a split that was found in an ordered scan. */
static inline void cwb_set_of_split(const cwb_scan *scan, cwb_split *split) {
    int right = 0;
    for (int word = 0; word < 4; word++)
        split->right[word] = split->missing_right ? ~UINT64_C(0) : 0;
    for (int32_t i = 0; i < scan->n; i++) {
        const uint64_t bit = UINT64_C(1) << (scan->bin[i] & 63);
        if (right) {
            split->right[scan->bin[i] >> 6] |= bit;
        } else {
            split->right[scan->bin[i] >> 6] &= ~bit;
        }
        right |= scan->bin[i] == split->lower;
    }
}
