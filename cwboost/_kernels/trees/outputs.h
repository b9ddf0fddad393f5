/* Rows of a tree while it grows: those that take part, their partition, packed outputs. Each
 * function passes once over the rows of a node. */
#ifndef CWBOOST_TREE_OUTPUTS_H
#define CWBOOST_TREE_OUTPUTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Rows with |weight| >= `least`, and their weights times `scale`. Every row is written and some are
 * kept: no branch to mispredict. Returns the number kept. */
static inline int64_t cwb_take_rows(const double *weights, int64_t n, double least, double scale,
                                    int32_t *rows, double *taken) {
    int64_t n_taken = 0;
    for (int64_t i = 0; i < n; i++) {
        rows[n_taken] = (int32_t)i;
        taken[n_taken] = scale * weights[i];
        n_taken += fabs(weights[i]) >= least;
    }
    return n_taken;
}

/* The same, if only the rows `kept` have a weight. */
static inline int64_t cwb_take_kept(const double *weights, const int64_t *kept, int64_t n,
                                    double least, double scale, int32_t *rows, double *taken) {
    int64_t n_taken = 0;
    for (int64_t k = 0; k < n; k++) {
        const double weight = weights[kept[k]];
        rows[n_taken] = (int32_t)kept[k];
        taken[n_taken] = scale * weight;
        n_taken += fabs(weight) >= least;
    }
    return n_taken;
}

/* The other rows. */
static inline int64_t cwb_leave_rows(const double *weights, int64_t n, double least,
                                     int32_t *rows) {
    int64_t n_left = 0;
    for (int64_t i = 0; i < n; i++) {
        rows[n_left] = (int32_t)i;
        n_left += !(fabs(weights[i]) >= least);
    }
    return n_left;
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

/* The same for rows without a weight (examples of zero weight, which follow the tree). */
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

/* Edge of outputs given as bytes 0 or 1, in example order, if only the rows `kept` have a weight,
 * or all with NULL: the same bits, since a weight of zero changes no sum. */
static inline double cwb_edge_of(const uint8_t *positive, const double *weights,
                                 const int64_t *kept, int64_t n) {
    const double sign[2] = {-1.0, 1.0};
    double edge = 0.0;
    if (kept) {
        for (int64_t k = 0; k < n; k++) edge += sign[positive[kept[k]]] * weights[kept[k]];
    } else {
        for (int64_t i = 0; i < n; i++) edge += sign[positive[i]] * weights[i];
    }
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

#endif
