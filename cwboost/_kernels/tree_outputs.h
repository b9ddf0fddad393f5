/* Rows of a tree while it grows: sums, partition, outputs. */
#ifndef CWBOOST_TREE_OUTPUTS_H
#define CWBOOST_TREE_OUTPUTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "simd.h"

#define CWB_BLOCK 32
#define CWB_NEGATIVE 0 /* places of leaves and of the root among the nodes of a tree */
#define CWB_POSITIVE 1
#define CWB_FIRST 2

/* 32 bytes: byte operations on 64 need more than the avx512f that kernels are compiled for. */
typedef uint8_t cwb_u8x32 __attribute__((vector_size(32)));

/* Inner node over codes: [first, first + width) goes right. left and right are CWB_NEGATIVE,
 * CWB_POSITIVE, or CWB_FIRST + index of an inner node further on. */
typedef struct {
    int32_t feature, left, right;
    uint8_t first, width;
} cwb_coded;

/* Sum and mass of a node, in eight lanes. */
CWBOOST_CLONES
static void cwb_node_sums(const double *weights, int64_t n, double *sum, double *mass) {
    const cwb_i64x8 no_sign = (cwb_i64x8){0} + INT64_MAX;
    cwb_f64x8 sums = {0}, masses = {0}, here;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(&here, weights + i, sizeof here);
        sums += here;
        masses += (cwb_f64x8)((cwb_i64x8)here & no_sign);
    }
    here = (cwb_f64x8){0};
    memcpy(&here, weights + i, (size_t)(n - i) * sizeof(double));
    sums += here;
    masses += (cwb_f64x8)((cwb_i64x8)here & no_sign);
    *sum = *mass = 0.0;
    for (int lane = 0; lane < 8; lane++) {
        *sum += sums[lane];
        *mass += masses[lane];
    }
}

/* Stable partition of a segment: rows whose code is in [first, first + width) go right. Left ones
 * stay in place, right ones pass through the scratch arrays. Returns the number on the left. */
static int64_t cwb_partition(const uint8_t *codes, uint8_t first, uint32_t width, int32_t *rows,
                             double *weights, int64_t n, int32_t *scratch_rows,
                             double *scratch_weights) {
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

/* The same for rows without a weight (examples of zero weight, which follow the tree). */
static int64_t cwb_partition_rows(const uint8_t *codes, uint8_t first, uint32_t width,
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

/* Outputs of a tree, as bytes 0 or 1, for 32 rows at a time: every node holds the set of rows that
 * reach it. Reads up to 31 codes behind a column, writes up to 31 bytes behind the last row. */
CWBOOST_CLONES
static void cwb_outputs_by_codes(const cwb_coded *nodes, int64_t n_inner, const uint8_t *codes,
                                 int64_t n_rows, void *reach, uint8_t *positive) {
    cwb_u8x32 *sets = reach;
    for (int64_t row = 0; row < n_rows; row += CWB_BLOCK) {
        for (int64_t i = 0; i < n_inner + CWB_FIRST; i++) sets[i] = (cwb_u8x32){0};
        sets[CWB_FIRST] = (cwb_u8x32){0} + 1;
        for (int64_t i = 0; i < n_inner; i++) {
            const cwb_coded node = nodes[i];
            cwb_u8x32 code;
            memcpy(&code, codes + node.feature * n_rows + row, sizeof code);
            const cwb_u8x32 right = (cwb_u8x32)((code - node.first) < node.width);
            const cwb_u8x32 here = sets[CWB_FIRST + i];
            sets[node.left] |= here & ~right;
            sets[node.right] |= here & right;
        }
        memcpy(positive + row, sets + CWB_POSITIVE, CWB_BLOCK);
    }
}

/* Edge of outputs given as bytes 0 or 1, in example order, and their bits. */
static double cwb_finish_outputs(const uint8_t *positive, const double *weights, int64_t n,
                                 uint8_t *packed) {
    const double sign[2] = {-1.0, 1.0};
    double edge = 0.0;
    for (int64_t i = 0; i < n; i++) edge += sign[positive[i]] * weights[i];
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint8_t bits = 0;
        for (int k = 0; k < 8; k++) bits |= (uint8_t)(positive[i + k] << k);
        packed[i >> 3] = bits;
    }
    if (i < n) packed[i >> 3] = 0;
    for (; i < n; i++) packed[i >> 3] |= (uint8_t)(positive[i] << (i & 7));
    return edge;
}

#endif
