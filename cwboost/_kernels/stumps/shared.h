/* One stump for all targets: max over h of sum_t |sum_i r_t(i) h(x_i)|.
 *
 * All targets have one scale, so that the |E_t| of a position can be added up: integers below 2^53
 * in doubles, hence exact. A column is walked once, all targets side by side. Missing values take
 * one side for all targets: a column that has some is walked twice, with them on either side.
 *
 * Cost: n_targets additions per position.
 */
#pragma once

#include "stumps/kernels.h"

static inline void cwb_fill_together(const cwb_weights *w, int64_t lanes, int64_t n, double *rows) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < lanes; t++)
            rows[i * lanes + t] =
                t < w->n_targets ? 2.0 * cwb_fixed(w->r[t * w->stride + i], w->scales[t]) : 0.0;
}

/* E_t below all thresholds, or with the missing values passed already. */
static inline void cwb_shared_start(const cwb_together *t, const cwb_column *c, int with_missing,
                                    double *sums) {
    const int64_t end = c->n_forward + c->n_backward;
    for (int64_t k = 0; k < t->lanes; k++) {
        sums[k] = -t->totals[k];
        for (int64_t p = end; with_missing && p < end + c->n_missing; p++)
            sums[k] += t->rows[cwb_row(c, p) * t->lanes + k];
    }
}

static inline void cwb_take_larger(cwb_stump *best, const cwb_stump *other, int missing) {
    if (other->edge <= best->edge) return;
    *best = *other;
    best->missing = missing;
}

/* The best split of a column, in units of 1/scale for |E|; `sums` is scratch for one number per
 * lane. above is 1 always; missing is the output of missing values. */
static inline cwb_stump cwb_shared_settle(const cwb_together *t, const cwb_column *c,
                                          double *sums) {
    const int64_t middle = c->n_forward, end = middle + c->n_backward;
    const cwb_stump none = {-1.0, 1.0, 0.0, -1};
    cwb_stump best = none, found;
    /* Missing values above (side 1) count with the part that is walked downwards. */
    for (int side = 1; side >= (c->n_missing ? -1 : 1); side -= 2) {
        found = none;
        cwb_shared_start(t, c, side < 0, sums);
        CWB_BEST(shared_walk)(t, c, 0, middle, 0, sums, &found);
        cwb_take_larger(&best, &found, side);
        found = none;
        cwb_shared_start(t, c, side > 0, sums);
        CWB_BEST(shared_walk)(t, c, middle, end, 1, sums, &found);
        cwb_take_larger(&best, &found, side);
    }
    if (c->n_missing == 0) return best;
    cwb_shared_start(t, c, 1, sums);
    found = none;
    found.edge = 0.0;
    found.position = end;
    for (int64_t k = 0; k < t->lanes; k++) found.edge += fabs(sums[k]);
    cwb_take_larger(&best, &found, 1);
    return best;
}
