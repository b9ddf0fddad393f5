/* Passes over all examples, in tasks that threads share. */
#ifndef CWBOOST_FCD_PASSES_H
#define CWBOOST_FCD_PASSES_H

#include "common/tasks.h"
#include "fcd/fcd.h"

/* Fill the joint-sign tables of a layer, those of a group of classes per task. */
static inline void cwb_fill_tables(const cwb_fcd_kernels *kernels, const cwb_master *m,
                                   const uint8_t *const *layer, double *tables, int64_t n_groups,
                                   int n_threads) {
    int64_t K = m->n_classes;
    CWB_TASKS(schedule(static), g, n_groups,
              kernels->layer_table(m, g * K / n_groups, (g + 1) * K / n_groups, layer, tables);)
}

/* Update one tile per task and return their sums, added in order: the same bits at any number of
 * threads. `sums` has room for all tiles, `layer` is NULL for no moves. */
static inline cwb_tile_sums cwb_update_tiles(const cwb_fcd_kernels *kernels, const cwb_master *m,
                                             const cwb_layer *layer, int64_t n_bytes,
                                             cwb_tile_sums *sums, int n_threads) {
    int64_t n_tiles = (n_bytes + CWB_TILE - 1) / CWB_TILE;
    cwb_tile_sums total = {0.0, 0.0, 0};
    CWB_TASKS(schedule(static), t, n_tiles, {
        int64_t beyond = (t + 1) * CWB_TILE < n_bytes ? (t + 1) * CWB_TILE : n_bytes;
        kernels->tile(m, layer, t * CWB_TILE, beyond, &sums[t]);
    })
    for (int64_t t = 0; t < n_tiles; t++) {
        total.loss += sums[t].loss;
        total.margins += sums[t].margins;
        total.errors += sums[t].errors;
    }
    return total;
}

/* Compute the edges of the columns of one class per task; see `edges` in fcd.h. Row c of `edges`
 * begins at c * stride. */
static inline void cwb_class_edges(const cwb_fcd_kernels *kernels, const cwb_master *m,
                                   int64_t n_bytes, uint8_t *const *columns,
                                   const int64_t *n_columns, double *edges, int64_t stride,
                                   int n_threads) {
    CWB_TASKS(schedule(dynamic, 1), c, m->n_classes,
              kernels->edges(m->R + c * m->stride, n_bytes, columns[c], n_bytes, n_columns[c],
                             edges + c * stride);)
}

#endif
