/* One stump for all targets: max over h of sum_t |sum_i r_t(i) h(x_i)|.
 *
 * The same walk as in scan_body.h, with all targets on one scale, so that the |E_t| / 2 of a
 * position can be added up. Missing values take one side for all targets: a column that has some
 * is walked twice, with their sum M on either side. The scan costs as much as that of a search;
 * settling a column costs n_targets operations per position.
 */
#ifndef CWBOOST_STUMP_SHARED_H
#define CWBOOST_STUMP_SHARED_H

#include "stumps/kernels.h"

/* All rows of the targets: slices of up to CWB_SLICE_LANES lanes, one after the other. */
#define CWB_SLICE_LANES 32

typedef struct {
    const int32_t *rows;
    const int32_t *half; /* -T/2 of each lane */
    int64_t n_samples;
    int64_t lanes; /* of all slices */
} cwb_slices;

static inline cwb_rows cwb_slice(const cwb_slices *all, int64_t first) {
    const int64_t left = all->lanes - first;
    const cwb_rows rows = {all->rows + first * all->n_samples, all->half + first,
                           (int)(left < CWB_SLICE_LANES ? left : CWB_SLICE_LANES)};
    return rows;
}

/* -T/2 + M of every lane of a slice, M the sum over the missing examples; returns the sum over
 * the lanes of its size, which is |E| / 2 of present against missing. */
static inline int64_t cwb_with_missing(const cwb_rows *rows, const cwb_column *c, int32_t *out) {
    const int64_t end = c->n_forward + c->n_backward;
    int64_t apart = 0;
    for (int l = 0; l < rows->lanes; l++) {
        int64_t sum = rows->half[l];
        for (int64_t p = end; p < end + c->n_missing; p++)
            sum += rows->rows[cwb_row(c, p) * rows->lanes + l];
        out[l] = (int32_t)sum;
        apart += sum < 0 ? -sum : sum;
    }
    return apart;
}

/* Largest sum of |E_t| / 2 over the splits of a column; scratch holds n_samples sums. */
static inline int32_t cwb_shared_scan(const cwb_stump_kernels *kernels, const cwb_slices *all,
                                      const cwb_column *c, int32_t *scratch) {
    const int64_t middle = c->n_forward, end = middle + c->n_backward;
    int64_t apart = 0;
    int32_t best = 0;
    for (int side = 0; side < (c->n_missing ? 2 : 1); side++) {
        memset(scratch, 0, (size_t)end * sizeof *scratch);
        apart = 0;
        for (int64_t first = 0; first < all->lanes; first += CWB_SLICE_LANES) {
            const cwb_rows rows = cwb_slice(all, first);
            int32_t with_missing[CWB_SLICE_LANES];
            apart += cwb_with_missing(&rows, c, with_missing);
            kernels->shared_walk(&rows, c, 0, middle, side ? with_missing : rows.half, scratch);
            kernels->shared_walk(&rows, c, middle, end, side ? rows.half : with_missing,
                                 scratch + middle);
        }
        for (int64_t p = 0; p < end; p++) {
            const int32_t sum = scratch[p] & -(int32_t)(c->last[p] != 0);
            if (sum > best) best = sum;
        }
    }
    if (c->n_missing && apart > best) best = (int32_t)apart;
    return best;
}

/* The targets of a shared search, on one scale; `sums` is scratch for one number per target. */
typedef struct {
    const double *r;
    int64_t stride, n_targets;
    double scale;
    const double *totals;
    double *sums;
} cwb_together;

/* Start at the lower end, or with the missing values passed already. */
static inline void cwb_shared_start(const cwb_together *t, const cwb_column *c, int with_missing) {
    const int64_t end = c->n_forward + c->n_backward;
    for (int64_t k = 0; k < t->n_targets; k++) {
        t->sums[k] = -t->totals[k];
        for (int64_t p = end; with_missing && p < end + c->n_missing; p++)
            t->sums[k] += 2.0 * cwb_fixed(t->r[k * t->stride + cwb_row(c, p)], t->scale);
    }
}

static inline double cwb_shared_edge(const cwb_together *t) {
    double all = 0.0;
    for (int64_t k = 0; k < t->n_targets; k++) all += fabs(t->sums[k]);
    return all;
}

/* Pass one example; returns the edge after it. */
static inline double cwb_shared_step(const cwb_together *t, int64_t row) {
    for (int64_t k = 0; k < t->n_targets; k++)
        t->sums[k] += 2.0 * cwb_fixed(t->r[k * t->stride + row], t->scale);
    return cwb_shared_edge(t);
}

/* The best split of a column, exact, in units of 1/scale for |E|. above is 1 always; missing is
 * the output of missing values, 0 if there are none. */
static inline cwb_stump cwb_shared_settle(const cwb_together *t, const cwb_column *c) {
    const int64_t middle = c->n_forward, end = middle + c->n_backward;
    cwb_stump s = {-1.0, 1.0, 0.0, -1};
    for (int side = 1; side >= (c->n_missing ? -1 : 1); side -= 2) {
        /* Missing values above (side 1) count with the part that is walked downwards. */
        double down = -1.0;
        int64_t down_position = -1;
        cwb_shared_start(t, c, side < 0);
        for (int64_t p = 0; p < middle; p++) {
            const double all = cwb_shared_step(t, cwb_row(c, p));
            if (all > s.edge && c->last[p]) {
                s.edge = all;
                s.position = p;
                s.missing = side;
            }
        }
        cwb_shared_start(t, c, side > 0);
        for (int64_t p = middle; p < end; p++) {
            const double all = cwb_shared_step(t, cwb_row(c, p));
            if (all >= down && c->last[p]) {
                down = all;
                down_position = p;
            }
        }
        if (down > s.edge) {
            s.edge = down;
            s.position = down_position;
            s.missing = side;
        }
    }
    if (c->n_missing == 0) return s;
    cwb_shared_start(t, c, 1);
    const double apart = cwb_shared_edge(t);
    if (apart > s.edge) {
        s.edge = apart;
        s.position = end;
        s.missing = 1.0;
    }
    return s;
}

#endif
