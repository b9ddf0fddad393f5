/* Scores of an additive model: one step function per feature, values in R^K.
 *
 *     F(x) = base + sum over entries e of V_e[slot_e(x[feature_e])],
 *     slot_e(v) = number of thresholds of e below v, and one slot more for NaN.
 *
 * Scores come in slabs of at most 16; each slab has entries of its own, so that the size of the
 * tables follows the number of stumps and not its product with K. A block of rows is processed a
 * few entries at a time: first their slots, then the sums, with the partial sums of a row in
 * registers. Every score adds its terms in the order of the entries, for any block, thread and
 * vector.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define CWB_ADD_ROWS 64    /* rows per block: slots and sums of a block stay in the first cache */
#define CWB_ADD_ENTRIES 32 /* entries worked on at a time */
#define CWB_ADD_LANES 16   /* most scores of a slab */
#define CWB_ADD_BATCH 8    /* rows searched side by side */
#define CWB_ADD_LINEAR 12  /* up to this number, thresholds are counted, else searched */

#define CWB_U8 0 /* types of elements */
#define CWB_F32 1
#define CWB_F64 2

typedef struct {
    int64_t n_slabs;
    int64_t n_scores;
    const int64_t *slab_entries;    /* n_slabs + 1: entries of a slab */
    const int32_t *slab_vectors;    /* n_slabs: vectors of 4 scores a slab has, 1 to 4 */
    const double *base;             /* n_slabs x 16 */
    const int32_t *feature;         /* one per entry */
    const int64_t *threshold_start; /* entries + 1 */
    const double *thresholds;       /* ascending within an entry */
    const int64_t *table_start;     /* one per entry: first double of (slots + 1) x width */
    const double *table;
    const uint8_t *lut;      /* entries x 256: the slot of a byte; only for bytes */
    const int32_t *entry_of; /* n_slabs x n_mapped: entry of a feature or -1; sparse only */
    int64_t n_mapped;
} cwb_additive;

/* A block of at most CWB_ADD_ROWS rows; steps are in elements. */
typedef struct {
    const void *data;
    int64_t row_step, column_step;
    int n_rows, type;
} cwb_rows;

/* Write the slab's scores of a row to their place. */
static inline void cwb_slab_out(const cwb_additive *a, int64_t slab, const double *sums,
                                double *out) {
    const int64_t start = slab * CWB_ADD_LANES, left = a->n_scores - start;
    const int64_t count = left < CWB_ADD_LANES ? left : CWB_ADD_LANES;
    memcpy(out + start, sums, (size_t)count * sizeof(double));
}

#define CWB_BODY "prediction/additive_body.h"
#include "common/for_each_target.h"
