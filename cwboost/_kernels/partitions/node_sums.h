/* Sums over the rows of a node of a growing tree, whose weights are rounded to integers as in
 * bin_sums.h, and hence exact in any order.
 *
 * Codes are stored by row, so that all features of a node that are asked for come from the same
 * cache lines; they are gathered once per level, feature after feature. */
#ifndef CWBOOST_NODE_SUMS_H
#define CWBOOST_NODE_SUMS_H

#include <stdint.h>
#include <string.h>

#include "common/rounding.h"

/* Squares are summed of weights rounded more coarsely by this factor. */
#define CWB_COARSE 0x1p-26
#define CWB_AHEAD 16 /* rows whose codes are asked for before they are needed */

typedef struct {
    int32_t *rows, *other_rows;
    double *w, *other_w;
} cwb_divided;

typedef struct {
    /* Write sum, mass and number of the weights of the rows whose code is at most `last`. */
    void (*below)(const uint8_t *codes, const double *w, int64_t n, uint8_t last, double *out);
    /* Write sum, mass, number and coarse squares of weights. */
    void (*totals)(const double *w, int64_t n, double *out);
    /* Write the smallest and the largest of n > 0 codes. */
    void (*range)(const uint8_t *codes, int64_t n, int32_t *low, int32_t *high);
    /* Gather the codes of rows, see cwb_gather_rows. */
    void (*gather)(const uint8_t *by_row, int64_t stride, const int32_t *rows, int64_t n,
                   const int32_t *features, int64_t n_features, uint8_t *out);
    /* Move the rows whose code is one of `width` from `first` on behind the others, with their
     * weights, by way of `other_rows` and `other_w`; both keep their order. Return how many stay.
     */
    int64_t (*divide)(const uint8_t *codes, int64_t n, uint8_t first, uint8_t width,
                      cwb_divided *own);
} cwb_node_kernels;

/* Gather the codes of `n_features` features: those of feature j go to out[j n ...]. CWB_AHEAD
 * further entries of `rows` are valid. */
static inline void cwb_gather_rows(const uint8_t *by_row, int64_t stride, const int32_t *rows,
                                   int64_t n, const int32_t *features, int64_t n_features,
                                   uint8_t *out) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const uint8_t *row[8];
        for (int k = 0; k < 8; k++) {
            row[k] = by_row + rows[i + k] * stride;
#if defined(__GNUC__)
            __builtin_prefetch(by_row + rows[i + k + CWB_AHEAD] * stride);
#endif
        }
        for (int64_t j = 0; j < n_features; j++) {
            uint64_t word = 0; /* one store of eight: byte stores would bound the loop */
            for (int k = 0; k < 8; k++) word |= (uint64_t)row[k][features[j]] << (8 * k);
            memcpy(out + j * n + i, &word, 8);
        }
    }
    for (; i < n; i++) {
        const uint8_t *row = by_row + rows[i] * stride;
#if defined(__GNUC__)
        __builtin_prefetch(by_row + rows[i + CWB_AHEAD] * stride);
#endif
        for (int64_t j = 0; j < n_features; j++) out[j * n + i] = row[features[j]];
    }
}

#define CWB_BODY "partitions/node_sums_body.h"
#include "common/for_each_target.h"
static const cwb_node_kernels *const cwb_node_tables[] = CWB_TABLES(cwb_node_kernels);

#endif
