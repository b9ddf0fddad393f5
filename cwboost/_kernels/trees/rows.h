/* Rows of a tree while it grows: those that take part, their partition; and the edge of its
 * outputs. Weights are rounded to integers (common/rounding.h), so that all sums are exact: they
 * are the same over one machine and over partitions. `kept` names the only rows that have a weight,
 * ascending; NULL if all may have one. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/rounding.h"

/* The sums over the classes of code times weight, for the rows start to end - 1: in the order of
 * the classes, a block of rows at a time. Row t of the weights begins t * stride bytes after the
 * first. */
static inline void cwb_combine(const char *weights, int64_t stride, const double *code,
                               int64_t n_classes, int64_t start, int64_t end, double *sums) {
    enum { BLOCK = 512 };
    for (int64_t first = start; first < end; first += BLOCK) {
        const int64_t n = end - first < BLOCK ? end - first : BLOCK;
        double *own = sums + first;
        for (int64_t i = 0; i < n; i++) own[i] = 0.0;
        for (int64_t c = 0; c < n_classes; c++) {
            const double *w = (const double *)(weights + c * stride) + first;
            for (int64_t i = 0; i < n; i++) own[i] += code[c] * w[i];
        }
    }
}

/* Rows whose rounded weight is not zero, and these weights. Every row is written and some are kept:
 * no branch to mispredict. Returns the number kept. */
static inline int64_t cwb_take_rows(const double *weights, const int64_t *kept, int64_t n,
                                    double scale, int32_t *rows, double *taken) {
    int64_t n_taken = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = kept ? kept[k] : k;
        const double w = cwb_fixed(weights[i], scale);
        rows[n_taken] = (int32_t)i;
        taken[n_taken] = w;
        n_taken += w != 0.0;
    }
    return n_taken;
}

/* Codes of a feature at some rows. */
static inline void cwb_copy_codes(const uint8_t *codes, const int32_t *rows, int64_t n,
                                  uint8_t *copy) {
    for (int64_t i = 0; i < n; i++) copy[i] = codes[rows[i]];
}

/* Stable partition of a segment: rows whose code is in [first, first + width) go right. Left ones
 * stay in place, right ones pass through the scratch arrays. Returns the number on the left. */
static inline int64_t cwb_partition(const uint8_t *codes, uint8_t first, uint32_t width,
                                    int32_t *rows, double *weights, int64_t n,
                                    int32_t *scratch_rows, double *scratch_weights) {
    int64_t left = 0, right = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t row = rows[i];
        const double weight = weights[i];
        const int64_t is_right = (uint8_t)(codes[row] - first) < width;
        rows[left] = row;
        weights[left] = weight;
        scratch_rows[right] = row;
        scratch_weights[right] = weight;
        left += 1 - is_right;
        right += is_right;
    }
    memcpy(rows + left, scratch_rows, (size_t)right * sizeof(int32_t));
    memcpy(weights + left, scratch_weights, (size_t)right * sizeof(double));
    return left;
}

/* One part of a partition that threads share: to the same places of the scratch arrays, left rows
 * from the front on, right ones from the back. Returns the number on the left. */
static inline int64_t cwb_partition_part(const uint8_t *codes, uint8_t first, uint32_t width,
                                         const int32_t *rows, const double *weights, int64_t n,
                                         int32_t *scratch_rows, double *scratch_weights) {
    int64_t left = 0, right = n - 1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t is_right = (uint8_t)(codes[rows[i]] - first) < width;
        const int64_t place = is_right ? right : left;
        scratch_rows[place] = rows[i];
        scratch_weights[place] = weights[i];
        left += 1 - is_right;
        right -= is_right;
    }
    return left;
}

/* Copy such a part, in the old order, to where its left and right rows belong. */
static inline void cwb_place_part(const int32_t *scratch_rows, const double *scratch_weights,
                                  int64_t n, int64_t n_left, int32_t *rows, double *weights,
                                  int64_t left, int64_t right) {
    memcpy(rows + left, scratch_rows, (size_t)n_left * sizeof(int32_t));
    memcpy(weights + left, scratch_weights, (size_t)n_left * sizeof(double));
    for (int64_t i = n - 1; i >= n_left; i--, right++) {
        rows[right] = scratch_rows[i];
        weights[right] = scratch_weights[i];
    }
}

/* A partition of rows alone. */
static inline int64_t cwb_partition_rows(const uint8_t *codes, uint8_t first, uint32_t width,
                                         int32_t *rows, int64_t n, int32_t *scratch_rows) {
    int64_t left = 0, right = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t row = rows[i];
        const int64_t is_right = (uint8_t)(codes[row] - first) < width;
        rows[left] = row;
        scratch_rows[right] = row;
        left += 1 - is_right;
        right += is_right;
    }
    memcpy(rows + left, scratch_rows, (size_t)right * sizeof(int32_t));
    return left;
}

/* Edge of packed outputs for rounded weights, and the sum of these weights. */
static inline double cwb_edge_of(const uint8_t *packed, const double *weights, const int64_t *kept,
                                 int64_t n, double scale, double *total) {
    const double sign[2] = {-1.0, 1.0};
    double edge = 0.0, sum = 0.0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = kept ? kept[k] : k;
        const double w = cwb_fixed(weights[i], scale);
        edge += sign[packed[i >> 3] >> (i & 7) & 1] * w;
        sum += w;
    }
    *total = sum;
    return edge;
}

/* Outputs given as bytes 0 or 1, as bits. */
static inline void cwb_pack_outputs(const uint8_t *positive, int64_t n, uint8_t *packed) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint8_t bits = 0;
        for (int k = 0; k < 8; k++) bits |= (uint8_t)(positive[i + k] << k);
        packed[i >> 3] = bits;
    }
    if (i < n) packed[i >> 3] = 0;
    for (; i < n; i++) packed[i >> 3] |= (uint8_t)(positive[i] << (i & 7));
}
