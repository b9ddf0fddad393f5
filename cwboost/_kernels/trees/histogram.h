/* Histograms of a tree node: for each bin the pair (sum of r, sum of |r|) over the node's examples
 * in the bin, with r an example's signed weight; and their running sums over the bins that occur.
 *
 * A histogram costs one addition of a pair per example and feature if the bins are in the first
 * cache; running sums cost one per bin. A pair is 16 bytes, a register of every instruction set.
 */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "trees/types.h"

static inline cwb_pair cwb_as_pair(double weight) {
    cwb_pair pair = {weight, fabs(weight)};
    return pair;
}

/* Histograms of `size` features in `ways` parts each: those of places i, i + ways, ... Chains of
 * additions of different parts and features are independent, whereas a single chain waits if
 * neighbours fall into the same bin; and rows and weights are read once for all features. Sizes
 * and ways are constants where this is inlined. */
__attribute__((always_inline)) static inline void cwb_accumulate_parts(int size, int ways,
                                                                       const uint8_t *const *codes,
                                                                       const int32_t *rows,
                                                                       const double *weights,
                                                                       int64_t n, cwb_pair *hist) {
    for (int64_t i = 0; i < n; i++) {
        cwb_pair *part = hist + (i & (ways - 1)) * size * CWB_BINS;
        const int32_t row = rows[i];
        const cwb_pair pair = cwb_as_pair(weights[i]);
        for (int k = 0; k < size; k++) part[k * CWB_BINS + codes[k][row]] += pair;
    }
}

/* Add histograms, one per feature, to others, and clear them. */
static inline void cwb_join(int64_t size, const int32_t *n_bins, cwb_pair *part, cwb_pair *hist) {
    const cwb_pair zero = {0.0, 0.0};
    for (int64_t k = 0; k < size; k++, hist += CWB_BINS, part += CWB_BINS) {
        const int32_t n_codes = n_bins[k] < CWB_BINS ? n_bins[k] + 1 : CWB_BINS;
        for (int32_t code = 0; code < n_codes; code++) {
            hist[code] += part[code];
            part[code] = zero;
        }
    }
}

#define CWB_OF_SIZE(size, ways)                                          \
    do {                                                                 \
        cwb_accumulate_parts(size, ways, codes, rows, weights, n, hist); \
        for (int way = 1; way < ways; way++)                             \
            cwb_join(size, n_bins, hist + way * size * CWB_BINS, hist);  \
    } while (0)

/* Histograms of 8, 4, 2 or 1 features. */
static inline void cwb_accumulate(int64_t size, const uint8_t *const *codes, const int32_t *n_bins,
                                  const int32_t *rows, const double *weights, int64_t n,
                                  cwb_pair *hist) {
    if (size == 8)
        CWB_OF_SIZE(8, 1);
    else if (size == 4)
        CWB_OF_SIZE(4, 2);
    else if (size == 2)
        CWB_OF_SIZE(2, 2);
    else
        CWB_OF_SIZE(1, 4);
}

/* Histograms of up to two nodes from the entries of a feature whose code is not the default:
 * hist[slot * CWB_BINS + code], where the slot of a row outside the nodes is 2. */
static inline void cwb_accumulate_list(const int32_t *rows, const uint8_t *codes, int64_t n_entries,
                                       const uint8_t *slot_of, const double *weight_of,
                                       cwb_pair *hist) {
    for (int64_t i = 0; i < n_entries; i++)
        hist[(int32_t)slot_of[rows[i]] * CWB_BINS + codes[i]] += cwb_as_pair(weight_of[rows[i]]);
}

/* The default bin of a node: what its sums have beyond the listed entries. */
static inline void cwb_add_default(uint8_t default_code, int32_t n_bins, cwb_sums node,
                                   cwb_pair *hist) {
    const int32_t n_codes = n_bins < CWB_BINS ? n_bins + 1 : CWB_BINS;
    cwb_pair rest = {node.sum, node.mass};
    for (int32_t code = 0; code < n_codes; code++) rest -= hist[code];
    hist[default_code] += rest; /* a sparse matrix may list entries of this bin too */
}

/* Turn a histogram into running sums over its non-empty bins. */
static inline void cwb_collect(const void *hist, int32_t n_bins, cwb_scan *scan) {
    const char *pairs = hist; /* of any alignment */
    cwb_pair here, total = {0.0, 0.0};
    int32_t n = 0;
    for (int32_t bin = 0; bin < n_bins; bin++) {
        memcpy(&here, pairs + bin * sizeof here, sizeof here);
        total += here;
        scan->sum[n] = total[0];
        scan->mass[n] = total[1];
        scan->bin[n] = bin;
        n += here[1] > 0.0;
    }
    scan->n = n;
    here[0] = here[1] = 0.0;
    if (n_bins < CWB_BINS) memcpy(&here, pairs + n_bins * sizeof here, sizeof here);
    scan->missing_sum = here[0]; /* if all codes are in use, none is left for missing values */
    scan->missing_mass = here[1];
}

/* Histogram and running sums of a node with fewer examples than bins: only bins that occur are
 * visited, found in order from a bitmap. */
static inline void cwb_collect_small(const uint8_t *codes, const int32_t *rows,
                                     const double *weights, int64_t n_rows, int32_t n_bins,
                                     cwb_pair *hist, cwb_scan *scan) {
    const cwb_pair zero = {0.0, 0.0};
    uint64_t seen[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < n_rows; i++) {
        const uint8_t code = codes[rows[i]];
        hist[code] += cwb_as_pair(weights[i]);
        seen[code >> 6] |= (uint64_t)1 << (code & 63);
    }
    cwb_pair total = zero;
    int32_t n = 0;
    scan->missing_sum = scan->missing_mass = 0.0;
    for (int word = 0; word < 4; word++)
        for (uint64_t left = seen[word]; left; left &= left - 1) {
            const int32_t bin = 64 * word + __builtin_ctzll(left);
            const cwb_pair here = hist[bin];
            hist[bin] = zero;
            if (bin == n_bins) {
                scan->missing_sum = here[0];
                scan->missing_mass = here[1];
                continue;
            }
            total += here;
            scan->sum[n] = total[0];
            scan->mass[n] = total[1];
            scan->bin[n] = bin;
            n++;
        }
    scan->n = n;
}
