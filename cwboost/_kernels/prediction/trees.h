/* Outputs of binary trees on blocks of 64 rows.
 *
 * A leaf is -1 or +1, so the outputs of a tree on 64 rows are 64 bits. They are found without a
 * branch: a node holds the set of rows that reach it, one vector comparison gives the set that
 * goes right, and a positive leaf adds its set to the tree's. Row `8 j + lane` of a block is bit j
 * of word `lane`. Large trees, of which few nodes are reached, are walked row by row instead.
 */
#ifndef CWBOOST_TREE_PREDICT_H
#define CWBOOST_TREE_PREDICT_H

#include <stdint.h>

#include "common/simd.h"

#define CWB_BLOCK 64
#define CWB_NEGATIVE 0 /* where a leaf of sign -1 is kept among the nodes of a tree */
#define CWB_POSITIVE 1
#define CWB_FIRST 2 /* place of the root, where it is not a leaf */

/* Inner node. left and right are places in the same tree: CWB_NEGATIVE, CWB_POSITIVE, or
 * CWB_FIRST + index of an inner node. */
typedef struct {
    double threshold;
    int32_t feature; /* column of the block */
    int32_t left, right;
    int32_t missing_right;
} cwb_inner;

/* The set of rows, of the 64 values at `x`, that go right. */
CWBOOST_INLINE cwb_i64x8 cwb_goes_right(const double *x, double threshold, int missing_right) {
    cwb_i64x8 right = {0};
    if (missing_right) {
        for (int j = 0; j < 8; j++) {
            cwb_f64x8 value;
            memcpy(&value, x + 8 * j, sizeof value);
            right |= ~(value <= threshold) & ((int64_t)1 << j);
        }
    } else {
        for (int j = 0; j < 8; j++) {
            cwb_f64x8 value;
            memcpy(&value, x + 8 * j, sizeof value);
            right |= (value > threshold) & ((int64_t)1 << j);
        }
    }
    return right;
}

/* Rows on which a tree is +1. `reach` is scratch for n_inner + 2 sets. */
CWBOOST_INLINE cwb_i64x8 cwb_tree_set(const cwb_inner *nodes, int64_t n_inner, const double *x,
                                      cwb_i64x8 *reach) {
    const cwb_i64x8 none = {0};
    for (int64_t i = 0; i < n_inner + CWB_FIRST; i++) reach[i] = none;
    reach[CWB_FIRST] = none + 0xFF;
    for (int64_t i = 0; i < n_inner; i++) {
        const cwb_inner node = nodes[i];
        const cwb_i64x8 here = reach[CWB_FIRST + i];
        const cwb_i64x8 right =
            cwb_goes_right(x + (int64_t)node.feature * CWB_BLOCK, node.threshold,
                           node.missing_right);
        reach[node.left] |= here & ~right;
        reach[node.right] |= here & right;
    }
    return reach[CWB_POSITIVE];
}

/* Output of a tree on one row, as 0 or 1. */
CWBOOST_INLINE int cwb_walk(const cwb_inner *nodes, const double *x) {
    int32_t place = CWB_FIRST;
    do {
        const cwb_inner node = nodes[place - CWB_FIRST];
        const double value = x[(int64_t)node.feature * CWB_BLOCK];
        const int right = (value > node.threshold) | ((value != value) & node.missing_right);
        place = right ? node.right : node.left;
    } while (place >= CWB_FIRST);
    return place;
}

/* Outputs of trees [first_tree, last_tree) on a block: out[tree - first_tree] is a set of rows.
 * start[t] is where the inner nodes of tree t begin, constant[t] its output where it has none. */
CWBOOST_CLONES
static void cwb_block_sets(const cwb_inner *nodes, const int64_t *start, const uint8_t *constant,
                           const uint8_t *walk, int64_t first_tree, int64_t last_tree,
                           const double *x, int64_t n_rows, cwb_i64x8 *reach, cwb_i64x8 *out) {
    const cwb_i64x8 none = {0};
    for (int64_t t = first_tree; t < last_tree; t++) {
        const cwb_inner *tree = nodes + start[t];
        const int64_t n_inner = start[t + 1] - start[t];
        cwb_i64x8 set = none;
        if (n_inner == 0) {
            if (constant[t]) set = none + 0xFF;
        } else if (walk[t] || n_rows < 8) {
            for (int64_t row = 0; row < n_rows; row++)
                set[row & 7] |= (int64_t)cwb_walk(tree, x + row) << (row >> 3);
        } else {
            set = cwb_tree_set(tree, n_inner, x, reach);
        }
        out[t - first_tree] = set;
    }
}

/* scores[0:64] += value on the rows of a set, -value on the others. */
CWBOOST_CLONES
static void cwb_add_set(const cwb_i64x8 *rows, double value, double *scores) {
    const cwb_i64x8 set = *rows;
    const cwb_f64x8 zero = {0};
    const cwb_i64x8 positive = (cwb_i64x8)(zero + value);
    for (int j = 0; j < 8; j++) {
        const cwb_i64x8 flip = ((set >> j) & 1) - 1; /* all ones outside the set */
        const cwb_i64x8 sign = flip & INT64_MIN;
        cwb_f64x8 sum;
        memcpy(&sum, scores + 8 * j, sizeof sum);
        sum += (cwb_f64x8)(positive ^ sign);
        memcpy(scores + 8 * j, &sum, sizeof sum);
    }
}

CWBOOST_INLINE void cwb_write_outputs(const cwb_i64x8 *sets, int64_t n_trees, int64_t n_rows,
                                      int8_t *outputs, int64_t row_stride) {
    for (int64_t t = 0; t < n_trees; t++) {
        const int64_t *words = (const int64_t *)(sets + t);
        for (int64_t row = 0; row < n_rows; row++)
            outputs[row * row_stride + t] = (words[row & 7] >> (row >> 3) & 1) ? 1 : -1;
    }
}

#endif
