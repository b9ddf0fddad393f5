/* Where to look for a threshold among the bins of a feature: the range of values in cells of equal
 * width, with the bins that end in each. Most thresholds then lie between two bins at once, where a
 * bisection of all bins would wait for the memory at every step. */
#ifndef CWBOOST_TREE_CELLS_H
#define CWBOOST_TREE_CELLS_H

#include <math.h>
#include <stdint.h>

#define CWB_CELLS 255

/* Number first[c] of bins, at most 255, whose highest values lie in cells before c. */
typedef struct {
    double base, scale;
    uint8_t first[CWB_CELLS + 1];
} cwb_cells;

/* It does not fall as x grows, so that no bin of an earlier cell ends above x, and none of a later
 * one at or below x. */
static inline int cwb_cell(const cwb_cells *cells, double x) {
    const double y = (x - cells->base) * cells->scale;
    return y > 0.0 ? (y < CWB_CELLS - 1 ? (int)y : CWB_CELLS - 1) : 0;
}

/* The last bin that ends at or below x is one from *lower to before *after: keep those that may be,
 * the ones that end in the cell of x and the one before. */
static inline void cwb_keep_cell(const cwb_cells *cells, double x, int32_t *lower, int32_t *after) {
    const int cell = cwb_cell(cells, x);
    const int32_t before = cells->first[cell], up_to = cells->first[cell + 1];
    if (before - 1 > *lower) *lower = before - 1;
    if (up_to < *after) *after = up_to;
}

/* One cell for all if the range is not finite. */
static inline void cwb_fill_cells(const double *highest, int32_t n_bins, cwb_cells *cells) {
    int32_t bin = 0;
    cells->base = cells->scale = 0.0;
    if (n_bins > 1) {
        const double scale = CWB_CELLS / (highest[n_bins - 1] - highest[0]);
        if (isfinite(highest[0]) && isfinite(scale)) {
            cells->base = highest[0];
            cells->scale = scale;
        }
    }
    for (int c = 0; c <= CWB_CELLS; c++) {
        while (bin < n_bins && cwb_cell(cells, highest[bin]) < c) bin++;
        cells->first[c] = (uint8_t)(bin < 255 ? bin : 255);
    }
}

#endif
