/* Exact coordinate updates from the sums of the passes of fcd.h, without data. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "common/elementary.h"

/* The exact minimiser of one coordinate, as a move from its present value w >= 0: no move below
 * zero, `step` of the way. The formula of the root has no cancellation: it is right for V- -> 0
 * (log(V+ / q)) and V+ -> 0 (minus infinity, so the coefficient becomes zero). */
static inline double cwb_step(double v_plus, double v_minus, double q, double w, double step) {
    const double root = sqrt(q * q + 4.0 * (v_plus * v_minus));
    const double d = cwb_log(2.0 * v_plus / (q + root));
    if (w + d <= 0.0) return -step * w;
    return step * d;
}

/* exp(d) and exp(-d). */
static inline void cwb_factors(double d, double *up, double *down) {
    double both[2] = {d, -d};
    CWB_BEST(exponentials)(both, both, 2);
    *up = both[0], *down = both[1];
}

/* Exact coordinate updates of one layer, class after class, on its joint-sign tables alone: O(K)
 * per coordinate.
 *
 * tables[c][b][s][t] as layer_table fills them, kept up to date. Coordinate c minimises
 * d + (1/q) (V- exp(d) + V+ exp(-d)) over d >= -coef_c, whose root is
 * d = log(2 V+ / (q + sqrt(q^2 + 4 V+ V-))), and goes `step` of the way (shrinkage). moved[c]
 * becomes what the coordinate moved by. */
static void cwb_layer_solve(double *tables, int64_t K, double q, double step, const uint8_t *active,
                            const double *coef, double *moved) {
    for (int64_t c = 0; c < K; c++) {
        moved[c] = 0.0;
        if (!active[c]) continue;
        double v_plus = 0.0, v_minus = 0.0;
        for (int64_t b = 0; b < K; b++) {
            const double *own = tables + 4 * (b * K + c), *other = tables + 4 * (c * K + b);
            v_plus += (own[2] + own[3]) + (other[0] + other[2]);
            v_minus += (own[0] + own[1]) + (other[1] + other[3]);
        }
        const double d = cwb_step(v_plus, v_minus, q, coef[c], step);
        if (d == 0.0) continue;
        double up, down;
        cwb_factors(d, &up, &down);
        for (int64_t b = 0; b < K; b++) {
            double *own = tables + 4 * (b * K + c), *other = tables + 4 * (c * K + b);
            own[0] *= up, own[1] *= up, own[2] *= down, own[3] *= down;
            other[0] *= down, other[2] *= down, other[1] *= up, other[3] *= up;
        }
        moved[c] = d;
    }
}

/* The step that lowers the loss most where the weights of either sign have these sums. */
static inline double cwb_cell_step(double plus, double minus, int is_penalized) {
    if (!is_penalized) return 0.5 * (cwb_log(plus) - cwb_log(minus));
    const double larger = fmax(plus, minus), smaller = fmin(plus, minus);
    const double t = cwb_log(2.0 * larger / (1.0 + sqrt(1.0 + 4.0 * larger * smaller)));
    return copysign(fmax(t, 0.0), plus - minus);
}

/* Steps of one class in cells: outputs (every `stride` bytes), moves and coefficient, which are 0
 * before; returns the edge. See steps_of_cells of master.py. */
static double cwb_cell_steps(const double *sums, int64_t n_cells, double smoothing, double step,
                             double least, int is_penalized, int largest, int8_t *outputs,
                             int64_t stride, double *moves, double *coef) {
    double mass = 0.0, edge = 0.0, most = 0.0;
    for (int64_t k = 0; k < n_cells; k++) {
        mass += sums[2 * k] + sums[2 * k + 1];
        edge += fabs(sums[2 * k] - sums[2 * k + 1]);
    }
    if (!(edge > least)) return edge;
    const double added = smoothing * mass;
    for (int64_t k = 0; k < n_cells; k++) {
        moves[k] = cwb_cell_step(sums[2 * k] + added, sums[2 * k + 1] + added, is_penalized);
        most = fmax(most, fabs(moves[k]));
    }
    if (!(most > 0.0)) return edge;
    const double unit = most / largest;
    *coef = step * unit;
    for (int64_t k = 0; k < n_cells; k++) {
        outputs[stride * k] = (int8_t)rint(moves[k] / unit);
        moves[k] = *coef * outputs[stride * k];
    }
    return edge;
}
