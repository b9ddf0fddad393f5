/* Scores of an additive model: one step function a feature, values in R^K.
 *
 *     F(x) = base + sum over entries e of V_e[slot_e(x[feature_e])],
 *     slot_e(v) = number of thresholds of e below v, and one slot more for NaN.
 *
 * Scores come in slabs of at most 16; each slab has entries of its own, so that the size of the
 * tables follows the number of stumps and not its product with K. A block of rows is worked a few
 * entries at a time: first their slots, then the sums, with the partial sums of a row in registers.
 * Every score adds its terms in the order of the entries, whatever the block, thread or vector.
 */
#ifndef CWBOOST_ADDITIVE_H
#define CWBOOST_ADDITIVE_H

#include "common/simd.h"

#define CWB_ADD_ROWS 64    /* rows of a block: slots and sums of a block stay in the first cache */
#define CWB_ADD_ENTRIES 32 /* entries worked on at a time */
#define CWB_ADD_LANES 16   /* scores of a slab, at most */
#define CWB_ADD_BATCH 8    /* rows searched side by side */
#define CWB_ADD_LINEAR 12  /* up to so many thresholds are counted, more are searched */

typedef double cwb_add_vec __attribute__((vector_size(32), aligned(8), may_alias));

typedef struct {
    int64_t n_slabs;
    int64_t n_scores;
    const int64_t *slab_entries;    /* n_slabs + 1: entries of a slab */
    const int32_t *slab_vectors;    /* n_slabs: vectors of 4 scores a slab has, 1 to 4 */
    const double *base;             /* n_slabs x 16 */
    const int32_t *feature;         /* an entry each */
    const int64_t *threshold_start; /* entries + 1 */
    const double *thresholds;       /* ascending within an entry */
    const int64_t *table_start;     /* an entry each: first double of (slots + 1) x width */
    const double *table;
    const uint8_t *lut;             /* entries x 256: the slot of a byte; only for bytes */
    const int32_t *entry_of;        /* n_slabs x n_mapped: entry of a feature or -1; sparse only */
    int64_t n_mapped;
} cwb_additive;

/* Slots of n values, n a constant where inlined for a full batch. */
CWBOOST_INLINE void cwb_add_search(const double *x, int n, const double *t, int64_t m,
                                   int32_t *slot)
{
    int64_t pos[CWB_ADD_BATCH] = {0};
    if (m <= CWB_ADD_LINEAR) {
        for (int64_t k = 0; k < m; k++)
            for (int j = 0; j < n; j++) pos[j] += t[k] < x[j];
    } else {
        int64_t left = m;
        while (left > 1) {
            const int64_t half = left / 2;
            for (int j = 0; j < n; j++) pos[j] += t[pos[j] + half - 1] < x[j] ? half : 0;
            left -= half;
        }
        for (int j = 0; j < n; j++) pos[j] += t[pos[j]] < x[j];
    }
    for (int j = 0; j < n; j++) slot[j] = (int32_t)(x[j] != x[j] ? m + 1 : pos[j]);
}

CWBOOST_INLINE void cwb_add_sum(const cwb_additive *a, int64_t first, int n_entries, int n_rows,
                                int32_t (*slots)[CWB_ADD_ROWS], double (*sums)[CWB_ADD_LANES],
                                const int nv)
{
    const double *tables[CWB_ADD_ENTRIES];
    for (int e = 0; e < n_entries; e++) tables[e] = a->table + a->table_start[first + e];
    int r = 0;
    for (; r + 1 < n_rows; r += 2) {
        cwb_add_vec s[2][4];
        for (int v = 0; v < nv; v++) {
            s[0][v] = *(const cwb_add_vec *)(sums[r] + 4 * v);
            s[1][v] = *(const cwb_add_vec *)(sums[r + 1] + 4 * v);
        }
        for (int e = 0; e < n_entries; e++) {
            const double *p = tables[e] + (int64_t)slots[e][r] * (4 * nv);
            const double *q = tables[e] + (int64_t)slots[e][r + 1] * (4 * nv);
            for (int v = 0; v < nv; v++) {
                s[0][v] += *(const cwb_add_vec *)(p + 4 * v);
                s[1][v] += *(const cwb_add_vec *)(q + 4 * v);
            }
        }
        for (int v = 0; v < nv; v++) {
            *(cwb_add_vec *)(sums[r] + 4 * v) = s[0][v];
            *(cwb_add_vec *)(sums[r + 1] + 4 * v) = s[1][v];
        }
    }
    for (; r < n_rows; r++)
        for (int e = 0; e < n_entries; e++) {
            const double *p = tables[e] + (int64_t)slots[e][r] * (4 * nv);
            for (int k = 0; k < 4 * nv; k++) sums[r][k] += p[k];
        }
}

CWBOOST_INLINE void cwb_add_finish(const cwb_additive *a, int64_t slab, int n_rows,
                                   double (*sums)[CWB_ADD_LANES], double *out)
{
    const int64_t start = slab * CWB_ADD_LANES, left = a->n_scores - start;
    const int64_t count = left < CWB_ADD_LANES ? left : CWB_ADD_LANES;
    for (int r = 0; r < n_rows; r++)
        memcpy(out + r * a->n_scores + start, sums[r], count * sizeof(double));
}

#define CWB_ADD_SEARCHED(TYPE)                                                                    \
    const double *t = a->thresholds + a->threshold_start[e];                                      \
    const int64_t m = a->threshold_start[e + 1] - a->threshold_start[e];                          \
    double batch[CWB_ADD_BATCH];                                                                  \
    int r = 0;                                                                                    \
    for (; r + CWB_ADD_BATCH <= n_rows; r += CWB_ADD_BATCH) {                                     \
        for (int j = 0; j < CWB_ADD_BATCH; j++) batch[j] = (double)column[(r + j) * row_step];    \
        cwb_add_search(batch, CWB_ADD_BATCH, t, m, slots[e - first] + r);                         \
    }                                                                                             \
    for (; r < n_rows; r++) {                                                                     \
        batch[0] = (double)column[r * row_step];                                                  \
        cwb_add_search(batch, 1, t, m, slots[e - first] + r);                                     \
    }

#define CWB_ADD_LOOKED_UP(TYPE)                                                                   \
    const uint8_t *lut = a->lut + 256 * e;                                                        \
    for (int r = 0; r < n_rows; r++) slots[e - first][r] = lut[column[r * row_step]];

/* A block of at most CWB_ADD_ROWS rows; steps are in elements. */
#define CWB_ADD_DENSE(NAME, TYPE, SLOTS)                                                          \
    CWBOOST_CLONES static void NAME(const cwb_additive *a, const TYPE *x, int64_t row_step,       \
                                    int64_t column_step, int n_rows, double *out)                 \
    {                                                                                             \
        int32_t slots[CWB_ADD_ENTRIES][CWB_ADD_ROWS];                                             \
        double sums[CWB_ADD_ROWS][CWB_ADD_LANES];                                                 \
        for (int64_t slab = 0; slab < a->n_slabs; slab++) {                                       \
            for (int r = 0; r < n_rows; r++)                                                      \
                memcpy(sums[r], a->base + slab * CWB_ADD_LANES, sizeof sums[r]);                  \
            const int64_t end = a->slab_entries[slab + 1];                                        \
            for (int64_t first = a->slab_entries[slab]; first < end; first += CWB_ADD_ENTRIES) {  \
                const int n = end - first < CWB_ADD_ENTRIES ? (int)(end - first)                  \
                                                            : CWB_ADD_ENTRIES;                    \
                for (int64_t e = first; e < first + n; e++) {                                     \
                    const TYPE *column = x + a->feature[e] * column_step;                         \
                    SLOTS(TYPE)                                                                   \
                }                                                                                 \
                switch (a->slab_vectors[slab]) {                                                  \
                case 1: cwb_add_sum(a, first, n, n_rows, slots, sums, 1); break;                  \
                case 2: cwb_add_sum(a, first, n, n_rows, slots, sums, 2); break;                  \
                case 3: cwb_add_sum(a, first, n, n_rows, slots, sums, 3); break;                  \
                default: cwb_add_sum(a, first, n, n_rows, slots, sums, 4);                        \
                }                                                                                 \
            }                                                                                     \
            cwb_add_finish(a, slab, n_rows, sums, out);                                           \
        }                                                                                         \
    }

CWB_ADD_DENSE(cwb_add_dense_u8, uint8_t, CWB_ADD_LOOKED_UP)
CWB_ADD_DENSE(cwb_add_dense_f32, float, CWB_ADD_SEARCHED)
CWB_ADD_DENSE(cwb_add_dense_f64, double, CWB_ADD_SEARCHED)

/* One row by its stored elements; the tables hold differences to the value at 0. */
#define CWB_ADD_SPARSE(NAME, TYPE, INDEX)                                                         \
    CWBOOST_CLONES static void NAME(const cwb_additive *a, const TYPE *data,                      \
                                    const INDEX *columns, int64_t count, double *out)             \
    {                                                                                             \
        double sums[1][CWB_ADD_LANES];                                                            \
        for (int64_t slab = 0; slab < a->n_slabs; slab++) {                                       \
            const int32_t *entry_of = a->entry_of + slab * a->n_mapped;                           \
            const int width = 4 * a->slab_vectors[slab];                                          \
            memcpy(sums[0], a->base + slab * CWB_ADD_LANES, sizeof sums[0]);                      \
            for (int64_t k = 0; k < count; k++) {                                                 \
                const int32_t e = columns[k] < a->n_mapped ? entry_of[columns[k]] : -1;           \
                if (e < 0) continue;                                                              \
                const int64_t start = a->threshold_start[e];                                      \
                const double value = (double)data[k];                                             \
                int32_t slot;                                                                     \
                cwb_add_search(&value, 1, a->thresholds + start,                                  \
                               a->threshold_start[e + 1] - start, &slot);                         \
                const double *p = a->table + a->table_start[e] + (int64_t)slot * width;           \
                for (int v = 0; v < width; v++) sums[0][v] += p[v];                               \
            }                                                                                     \
            cwb_add_finish(a, slab, 1, sums, out);                                                \
        }                                                                                         \
    }

CWB_ADD_SPARSE(cwb_add_sparse_u8_32, uint8_t, int32_t)
CWB_ADD_SPARSE(cwb_add_sparse_f32_32, float, int32_t)
CWB_ADD_SPARSE(cwb_add_sparse_f64_32, double, int32_t)
CWB_ADD_SPARSE(cwb_add_sparse_u8_64, uint8_t, int64_t)
CWB_ADD_SPARSE(cwb_add_sparse_f32_64, float, int64_t)
CWB_ADD_SPARSE(cwb_add_sparse_f64_64, double, int64_t)

#endif
