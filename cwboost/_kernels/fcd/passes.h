/* Passes over all examples, in tasks that threads share. */
#pragma once

#include "common/rounding.h"
#include "common/tasks.h"
#include "fcd/fcd.h"

/* Fill the joint-sign tables of a layer, those of a group of classes per task. */
static inline void cwb_fill_tables(const cwb_master *m, const uint8_t *const *layer, double *tables,
                                   int64_t n_groups, int n_threads) {
    int64_t K = m->n_classes;
    CWB_TASKS(schedule(static), g, n_groups,
              CWB_BEST(layer_table)(m, g * K / n_groups, (g + 1) * K / n_groups, layer, tables);)
}

/* Update one tile per task and return their sums, added in order: the same bits at any number of
 * threads. `sums` has room for all tiles. A tile moves by `cells`, by `layer`, or not (NULL). */
static inline cwb_tile_sums cwb_update_tiles(const cwb_master *m, const cwb_layer *layer,
                                             const cwb_cells *cells, int64_t n_bytes,
                                             cwb_tile_sums *sums, int n_threads) {
    int64_t n_tiles = (n_bytes + CWB_TILE - 1) / CWB_TILE;
    cwb_tile_sums total = {0.0, 0.0, 0.0};
    CWB_TASKS(schedule(static), t, n_tiles, {
        int64_t beyond = (t + 1) * CWB_TILE < n_bytes ? (t + 1) * CWB_TILE : n_bytes;
        if (cells)
            CWB_BEST(move_cells)(m, cells, t * CWB_TILE, beyond, &sums[t]);
        else
            CWB_BEST(tile)(m, layer, t * CWB_TILE, beyond, &sums[t]);
    })
    for (int64_t t = 0; t < n_tiles; t++) {
        total.loss += sums[t].loss;
        total.margins += sums[t].margins;
        total.errors += sums[t].errors;
    }
    return total;
}

/* Add the rounded weights r[start:end] to the sums of their cells, by magnitude: own ones to the
 * first number of a cell, the others, which are negative, to the second. */
static inline void cwb_add_to_cells(const double *r, const int32_t *cell, int64_t start,
                                    int64_t end, int is_own, double scale, double *sums) {
    if (is_own)
        for (int64_t i = start; i < end; i++) sums[2 * cell[i]] += cwb_fixed(r[i], scale);
    else
        for (int64_t i = start; i < end; i++) sums[2 * cell[i] + 1] -= cwb_fixed(r[i], scale);
}

/* The sums of the rounded weights of the examples start to end - 1 by cell, for class c. */
static inline void cwb_cell_sums(const cwb_master *m, const int32_t *cell, int64_t c, int64_t start,
                                 int64_t end, double scale, double *sums) {
    const double *r = m->R + c * m->stride;
    int64_t from = m->starts[c] < end ? m->starts[c] : end;
    int64_t beyond = m->starts[c + 1] < end ? m->starts[c + 1] : end;
    if (from < start) from = start;
    if (beyond < start) beyond = start;
    cwb_add_to_cells(r, cell, start, from, 0, scale, sums);
    cwb_add_to_cells(r, cell, from, beyond, 1, scale, sums);
    cwb_add_to_cells(r, cell, beyond, end, 0, scale, sums);
}

/* Compute the edges of the columns of one class per task; see edges_body.h. Row c of `edges`
 * begins at c * stride. */
static inline void cwb_class_edges(const cwb_master *m, int64_t n_bytes, uint8_t *const *columns,
                                   const int64_t *n_columns, double *edges, int64_t stride,
                                   int n_threads) {
    CWB_TASKS(schedule(dynamic, 1), c, m->n_classes,
              CWB_BEST(edges)(m->R + c * m->stride, n_bytes, columns[c], n_bytes, n_columns[c],
                              edges + c * stride);)
}
