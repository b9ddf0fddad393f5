/* A stump search for weights whose rows do not fit the caches.
 *
 * Walking a column in sorted order then loads a cache line per entry. Therefore a first pass, block
 * by block of examples (blocks.h), in the order of memory, computes the sums
 *
 *     S = sum of k(i),   M = sum of |k(i)|        over the examples of a bin, for every target
 *
 * (for k see kernels.h). With P = (M + S) / 2 and N = (M - S) / 2, the sums of the positive and of
 * the negative k, a walk that enters a bin at e = -T/2 + (all S before) stays within
 *
 *     e - N <= -T/2 + prefix <= e + P,    hence   |E| / 2 <= max(e + P, N - e),
 *
 * and only bins whose bound reaches an |E| / 2 already known are walked, in sorted order. All these
 * sums of integers are exact: the other bins hold no stump that could win, and the winner has the
 * same bits as without bins.
 */
#ifndef CWBOOST_STUMP_BINS_H
#define CWBOOST_STUMP_BINS_H

#include "stumps/kernels.h"

/* Turn the sums S and M of a column's bins into the entry value e and the bound of each bin. */
static inline void cwb_bin_bounds(const cwb_rows *rows, const cwb_column *c, int32_t *bins) {
    const int64_t n_bins = cwb_bins(c), forward = cwb_part_bins(c, c->n_forward);
    for (int64_t l = 0; l < rows->lanes; l++) {
        int32_t *bin = bins + l;
        int64_t enter = rows->half[l];
        for (int64_t k = 0; k < n_bins; k++, bin += 2 * rows->lanes) {
            if (k == forward) enter = rows->half[l];
            const int64_t sum = bin[0], mass = (uint32_t)bin[rows->lanes];
            const int64_t above = enter + (mass + sum) / 2, below = (mass - sum) / 2 - enter;
            bin[0] = (int32_t)enter;
            bin[rows->lanes] = (int32_t)(above > below ? above : below);
            enter += sum;
        }
    }
}

/* Return 1 if bin k may hold a winner of some target, whose |E| / 2 is at least `sure`. The error
 * of its bound is at most `error`, as for the sums of a scan. */
static inline int cwb_bin_counts(const int32_t *bins, int64_t k, int64_t lanes, const double *sure,
                                 double error) {
    const int32_t *bound = bins + (2 * k + 1) * lanes;
    int counts = 0;
    for (int64_t l = 0; l < lanes; l++) counts |= bound[l] + error >= sure[l];
    return counts;
}

/* Walk bin k of a column after cwb_bin_bounds; returns its number of positions. */
static inline int64_t cwb_walk_bin(const cwb_stump_kernels *kernels, const cwb_rows *rows,
                                   const cwb_column *c, int64_t k, const int32_t *bins,
                                   int32_t *best, int32_t *trace) {
    const cwb_bin bin = cwb_bin_at(c, k);
    kernels->walk(rows, c, bin.from, bin.to, bins + 2 * k * rows->lanes, best,
                  trace + 2 * bin.chunk * rows->lanes);
    return bin.to - bin.from;
}

/* Mark the chunks of a bin as without a stump that could win. */
static inline void cwb_leave_bin(const cwb_column *c, int64_t k, int64_t lanes, int32_t *trace) {
    const cwb_bin bin = cwb_bin_at(c, k);
    const int64_t n_chunks = (bin.to - bin.from + cwb_chunk(c) - 1) / cwb_chunk(c);
    memset(trace + 2 * bin.chunk * lanes, 0, (size_t)(2 * n_chunks * lanes) * sizeof *trace);
}

#endif
