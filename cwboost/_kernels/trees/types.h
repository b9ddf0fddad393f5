/* Types of the search for splits. */
#pragma once

#include <stdint.h>

#define CWB_BINS 256

typedef double cwb_pair __attribute__((vector_size(16)));

enum { CWB_EDGE = 0, CWB_GINI = 1 };

/* Sums over the rows on one side of a split, or of a node: exact, of rounded weights (rows.h). */
typedef struct {
    double sum, mass;
} cwb_sums;

/* Criterion and conditions of a split. */
typedef struct {
    int criterion;
    double least;      /* gains up to this are rounding */
    double least_mass; /* of either side */
} cwb_rules;

/* The best split of one feature. Bins `lower` and `upper` are the non-empty ones next to it;
 * upper == n_bins stands for "all values against the missing". */
typedef struct {
    double gain;
    double left_sum, left_mass;
    int32_t feature, lower, upper;
    int32_t missing_right; /* side of the missing values */
} cwb_split;

/* Non-empty value bins of a node in order, as running sums. */
typedef struct {
    double sum[CWB_BINS + 8], mass[CWB_BINS + 8];
    double gain[CWB_BINS + 8];
    int32_t bin[CWB_BINS + 8];
    double missing_sum, missing_mass;
    int32_t n;
} cwb_scan;
