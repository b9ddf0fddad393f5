/* Rows of a tree while it grows: those that take part, sums, partition, outputs. */
#ifndef CWBOOST_TREE_OUTPUTS_H
#define CWBOOST_TREE_OUTPUTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/simd.h"

#define CWB_LANES 32
#define CWB_TURNS 8 /* one bit a turn of a set's byte */
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

/* The largest |weight|, and the sum of all weights, in eight lanes. */
CWBOOST_CLONES
static void cwb_largest_and_sum(const double *weights, int64_t n, double *largest, double *sum) {
    const cwb_i64x8 no_sign = (cwb_i64x8){0} + INT64_MAX;
    cwb_f64x8 sums = {0}, most = {0}, here;
    for (int64_t i = 0; i < n; i += 8) {
        const int64_t left = n - i < 8 ? n - i : 8;
        here = (cwb_f64x8){0};
        memcpy(&here, weights + i, left == 8 ? sizeof here : (size_t)left * sizeof(double));
        const cwb_f64x8 size = (cwb_f64x8)((cwb_i64x8)here & no_sign);
        const cwb_i64x8 larger = size > most;
        most = (cwb_f64x8)(((cwb_i64x8)size & larger) | ((cwb_i64x8)most & ~larger));
        sums += here;
    }
    *largest = *sum = 0.0;
    for (int lane = 0; lane < 8; lane++) {
        *largest = most[lane] > *largest ? most[lane] : *largest;
        *sum += sums[lane];
    }
}

/* Rows of at least the |weight| `least`, and their weights times `scale`. Every row is written and
 * some are kept: no branch to mispredict. Returns how many. */
static int64_t cwb_take_rows(const double *weights, int64_t n, double least, double scale,
                             int32_t *rows, double *taken) {
    int64_t n_taken = 0;
    for (int64_t i = 0; i < n; i++) {
        rows[n_taken] = (int32_t)i;
        taken[n_taken] = scale * weights[i];
        n_taken += fabs(weights[i]) >= least;
    }
    return n_taken;
}

/* The other rows. */
static int64_t cwb_leave_rows(const double *weights, int64_t n, double least, int32_t *rows) {
    int64_t n_left = 0;
    for (int64_t i = 0; i < n; i++) {
        rows[n_left] = (int32_t)i;
        n_left += !(fabs(weights[i]) >= least);
    }
    return n_left;
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

/* Of 32 * turns rows those that go right at a node: row 32 j + lane is bit j of byte `lane`. */
CWBOOST_INLINE cwb_u8x32 cwb_set_on_right(const uint8_t *codes, int turns, uint8_t first,
                                          uint8_t width) {
    cwb_u8x32 right = {0}, code;
    for (int j = 0; j < turns; j++) {
        memcpy(&code, codes + CWB_LANES * j, sizeof code);
        right |= (cwb_u8x32)((code - first) < width) & (uint8_t)(1 << j);
    }
    return right;
}

/* Outputs of a tree on 32 * turns rows: every node holds the set of rows that reach it. */
CWBOOST_INLINE void cwb_block_outputs(const cwb_coded *nodes, int64_t n_inner,
                                      const uint8_t *codes, int64_t n_rows, int turns,
                                      cwb_u8x32 *sets, uint8_t *positive) {
    for (int64_t i = 0; i < n_inner + CWB_FIRST; i++) sets[i] = (cwb_u8x32){0};
    sets[CWB_FIRST] = (cwb_u8x32){0} + 255;
    for (int64_t i = 0; i < n_inner; i++) {
        const cwb_coded node = nodes[i];
        const cwb_u8x32 here = sets[CWB_FIRST + i];
        const cwb_u8x32 right =
            cwb_set_on_right(codes + node.feature * n_rows, turns, node.first, node.width);
        sets[node.left] |= here & ~right;
        sets[node.right] |= here & right;
    }
    for (int j = 0; j < turns; j++) {
        const cwb_u8x32 bits = (sets[CWB_POSITIVE] & (uint8_t)(1 << j)) != 0;
        const cwb_u8x32 bytes = bits & 1;
        memcpy(positive + CWB_LANES * j, &bytes, sizeof bytes);
    }
}

/* Outputs of a tree, as bytes 0 or 1, for 256 rows at a time. Reads up to 31 codes behind a
 * column, writes up to 31 bytes behind the last row. */
CWBOOST_CLONES
static void cwb_outputs_by_codes(const cwb_coded *nodes, int64_t n_inner, const uint8_t *codes,
                                 int64_t n_rows, void *reach, uint8_t *positive) {
    const int64_t block = CWB_LANES * CWB_TURNS;
    int64_t row = 0;
    for (; row + block <= n_rows; row += block)
        cwb_block_outputs(nodes, n_inner, codes + row, n_rows, CWB_TURNS, reach, positive + row);
    if (row < n_rows)
        cwb_block_outputs(nodes, n_inner, codes + row, n_rows,
                          (int)((n_rows - row + CWB_LANES - 1) / CWB_LANES), reach,
                          positive + row);
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
