/* Passes over the examples, the columns or the targets, in tasks that threads share.
 *
 * A task of examples is CWB_ROWS of them; `sums` has one row per task. */
#pragma once

#include "common/tasks.h"
#include "stumps/kernels.h"

enum { CWB_ROWS = 1024 };

static inline int64_t cwb_row_tasks(int64_t n) { return (n + CWB_ROWS - 1) / CWB_ROWS; }

static inline int64_t cwb_rows_of(int64_t task, int64_t n) {
    return n - task * CWB_ROWS < CWB_ROWS ? n - task * CWB_ROWS : CWB_ROWS;
}

/* Sums of the sizes of the weights. */
static inline void cwb_masses(const cwb_weights *w, int64_t n, double *sums, int n_threads) {
    CWB_TASKS(schedule(static), task, cwb_row_tasks(n), {
        for (int64_t t = 0; t < w->n_targets; t++)
            sums[task * w->n_targets + t] =
                CWB_BEST(mass)(w->r + t * w->stride + task * CWB_ROWS, cwb_rows_of(task, n));
    })
}

/* Sums of the rounded weights. */
static inline void cwb_totals(const cwb_weights *w, int64_t n, double *sums, int n_threads) {
    CWB_TASKS(schedule(static), task, cwb_row_tasks(n), {
        for (int64_t t = 0; t < w->n_targets; t++)
            sums[task * w->n_targets + t] = CWB_BEST(total)(w->r + t * w->stride + task * CWB_ROWS,
                                                            w->scales[t], cwb_rows_of(task, n));
    })
}

/* Rows of fixed-point numbers for a scan. */
static inline void cwb_fill_all(const cwb_weights *w, int lanes, int64_t n, int32_t *rows,
                                int n_threads) {
    CWB_TASKS(schedule(static), task, cwb_row_tasks(n),
              CWB_BEST(fill_rows)(w, lanes, task * CWB_ROWS, task * CWB_ROWS + cwb_rows_of(task, n),
                                  rows);)
}

/* Scans of columns: best |E| / 2 of each, and traces that begin at 2 lanes chunk_starts[f]. */
static inline void cwb_scans(const cwb_rows *rows, const cwb_column *columns,
                             const int64_t *features, int64_t n_columns,
                             const int64_t *chunk_starts, int32_t *best, int32_t *trace,
                             int n_threads) {
    int64_t lanes = rows->lanes;
    CWB_TASKS(schedule(dynamic, 4), k, n_columns,
              CWB_BEST(scan)(rows, &columns[features[k]], best + k * lanes,
                             trace + 2 * lanes * chunk_starts[features[k]]);)
}

/* Edges of one stump per target with the outputs `bits`. */
static inline void cwb_stump_edges(const cwb_weights *w, int64_t n, const uint8_t *bits,
                                   double *sums, int n_threads) {
    CWB_TASKS(schedule(static), task, cwb_row_tasks(n), {
        for (int64_t t = 0; t < w->n_targets; t++)
            sums[task * w->n_targets + t] = CWB_BEST(edge)(
                w->r + t * w->stride + task * CWB_ROWS,
                bits + t * ((n + 7) >> 3) + task * (CWB_ROWS >> 3), cwb_rows_of(task, n));
    })
}
