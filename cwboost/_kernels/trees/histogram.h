/* Histograms of a tree node: for each bin the pair (sum of r, sum of |r|) over the node's examples
 * in the bin, with r an example's signed weight; and their running sums over the bins that occur.
 *
 * A histogram costs one addition of a pair per example and feature if the bins are in the first
 * cache; running sums cost one per bin. A pair is 16 bytes, a register of every instruction set.
 */
#ifndef CWBOOST_TREE_HISTOGRAM_H
#define CWBOOST_TREE_HISTOGRAM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "trees/types.h"

static inline cwb_pair cwb_as_pair(double weight) {
    cwb_pair pair = {weight, fabs(weight)};
    return pair;
}

static inline void cwb_count(const uint8_t *codes, const int32_t *rows, int64_t n,
                             int64_t *counts) {
    for (int64_t i = 0; i < n; i++) counts[codes[rows[i]]]++;
}

/* Eight features at once: their chains of additions are independent, whereas a single chain waits
 * if neighbours fall into the same bin; and rows and weights are read once. */
static inline void cwb_accumulate8(const uint8_t *const *codes, const int32_t *rows,
                                   const double *weights, int64_t n, cwb_pair *hist) {
    const uint8_t *a = codes[0], *b = codes[1], *c = codes[2], *d = codes[3];
    const uint8_t *e = codes[4], *f = codes[5], *g = codes[6], *h = codes[7];
    for (int64_t i = 0; i < n; i++) {
        const int32_t row = rows[i];
        const cwb_pair pair = cwb_as_pair(weights[i]);
        hist[a[row]] += pair;
        hist[CWB_BINS + b[row]] += pair;
        hist[2 * CWB_BINS + c[row]] += pair;
        hist[3 * CWB_BINS + d[row]] += pair;
        hist[4 * CWB_BINS + e[row]] += pair;
        hist[5 * CWB_BINS + f[row]] += pair;
        hist[6 * CWB_BINS + g[row]] += pair;
        hist[7 * CWB_BINS + h[row]] += pair;
    }
}

/* Four features, each in two histograms, of even and of odd places: eight chains again. */
static inline void cwb_accumulate4(const uint8_t *const *codes, const int32_t *rows,
                                   const double *weights, int64_t n, cwb_pair *hist) {
    const uint8_t *a = codes[0], *b = codes[1], *c = codes[2], *d = codes[3];
    cwb_pair *odd = hist + 4 * CWB_BINS;
    for (int64_t i = 0; i + 2 <= n; i += 2) {
        const int32_t row = rows[i], next_row = rows[i + 1];
        const cwb_pair pair = cwb_as_pair(weights[i]), next_pair = cwb_as_pair(weights[i + 1]);
        hist[a[row]] += pair;
        odd[a[next_row]] += next_pair;
        hist[CWB_BINS + b[row]] += pair;
        odd[CWB_BINS + b[next_row]] += next_pair;
        hist[2 * CWB_BINS + c[row]] += pair;
        odd[2 * CWB_BINS + c[next_row]] += next_pair;
        hist[3 * CWB_BINS + d[row]] += pair;
        odd[3 * CWB_BINS + d[next_row]] += next_pair;
    }
    if (n & 1) {
        const cwb_pair pair = cwb_as_pair(weights[n - 1]);
        for (int k = 0; k < 4; k++) hist[k * CWB_BINS + codes[k][rows[n - 1]]] += pair;
    }
}

/* Add the odd histogram of a feature to the even one and clear it. */
static inline void cwb_join4(cwb_pair *hist, int32_t n_bins) {
    const cwb_pair zero = {0.0, 0.0};
    const int32_t n_codes = n_bins < CWB_BINS ? n_bins + 1 : CWB_BINS;
    cwb_pair *odd = hist + 4 * CWB_BINS;
    for (int32_t code = 0; code < n_codes; code++) {
        hist[code] += odd[code];
        odd[code] = zero;
    }
}

/* One feature: in four histograms, of every fourth place, which are then added up. */
static inline void cwb_accumulate1(const uint8_t *codes, const int32_t *rows, const double *weights,
                                   int64_t n, int32_t n_bins, cwb_pair *hist) {
    const cwb_pair zero = {0.0, 0.0};
    const int32_t n_codes = n_bins < CWB_BINS ? n_bins + 1 : CWB_BINS;
    cwb_pair *second = hist + CWB_BINS, *third = second + CWB_BINS, *fourth = third + CWB_BINS;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        hist[codes[rows[i]]] += cwb_as_pair(weights[i]);
        second[codes[rows[i + 1]]] += cwb_as_pair(weights[i + 1]);
        third[codes[rows[i + 2]]] += cwb_as_pair(weights[i + 2]);
        fourth[codes[rows[i + 3]]] += cwb_as_pair(weights[i + 3]);
    }
    for (; i < n; i++) hist[codes[rows[i]]] += cwb_as_pair(weights[i]);
    for (int32_t code = 0; code < n_codes; code++) {
        hist[code] += second[code] + third[code] + fourth[code];
        second[code] = third[code] = fourth[code] = zero;
    }
}

/* Histograms of up to two nodes from the entries of a feature whose code is not the default:
 * hist[slot * CWB_BINS + code], where the slot of a row outside the nodes is 2. */
static inline void cwb_accumulate_list(const int32_t *rows, const uint8_t *codes, int64_t n_entries,
                                       const uint8_t *slot_of, const double *weight_of,
                                       cwb_pair *hist, int64_t *counts) {
    for (int64_t i = 0; i < n_entries; i++)
        hist[(int32_t)slot_of[rows[i]] * CWB_BINS + codes[i]] += cwb_as_pair(weight_of[rows[i]]);
    for (int64_t i = 0; counts && i < n_entries; i++)
        counts[(int32_t)slot_of[rows[i]] * CWB_BINS + codes[i]]++;
}

/* The default bin of a node: what its sums have beyond the listed entries. */
static inline void cwb_add_default(uint8_t default_code, int32_t n_bins, cwb_sums node, int64_t n,
                                   cwb_pair *hist, int64_t *counts) {
    const int32_t n_codes = n_bins < CWB_BINS ? n_bins + 1 : CWB_BINS;
    cwb_pair rest = {node.sum, node.mass};
    for (int32_t code = 0; code < n_codes; code++) rest -= hist[code];
    hist[default_code] += rest; /* a sparse matrix may list entries of this bin too */
    if (!counts) return;
    for (int32_t code = 0; code < n_codes; code++) n -= counts[code];
    counts[default_code] += n;
}

/* Turn a histogram into running sums over its non-empty bins, and clear it. */
static inline void cwb_collect(cwb_pair *hist, int64_t *counts, int32_t n_bins, cwb_scan *scan) {
    const cwb_pair zero = {0.0, 0.0};
    cwb_pair total = zero;
    int64_t count = 0;
    int32_t n = 0;
    for (int32_t bin = 0; bin < n_bins; bin++) {
        const cwb_pair here = hist[bin];
        hist[bin] = zero;
        total += here;
        scan->sum[n] = total[0];
        scan->mass[n] = total[1];
        scan->bin[n] = bin;
        if (counts) {
            count += counts[bin];
            counts[bin] = 0;
            scan->count[n] = count;
        }
        n += here[1] > 0.0;
    }
    scan->n = n;
    scan->missing_sum = scan->missing_mass = 0.0;
    scan->missing_count = 0;
    if (n_bins == CWB_BINS) return; /* no code is left for missing values */
    scan->missing_sum = hist[n_bins][0];
    scan->missing_mass = hist[n_bins][1];
    hist[n_bins] = zero;
    if (counts) {
        scan->missing_count = counts[n_bins];
        counts[n_bins] = 0;
    }
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
    scan->missing_count = 0;
}

#endif
