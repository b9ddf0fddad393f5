/* Fast coordinate descent, one layer (a column a class) at a time. For the notation see fcd.h. */
#ifndef CWBOOST_FCD_LAYER_H
#define CWBOOST_FCD_LAYER_H

#include <float.h>
#include "fcd_coordinate.h"

/* Weights below this cannot change a sum of the master (its sums stay near p / C) but would turn
 * subnormal and slow every later pass down. */
#define CWB_FLUSH 1e-280
#define CWB_TILE 64 /* bytes of bits a tile: 512 examples, a row of them fits the first cache */

/* Joint-sign tables of the examples of class b against every class c of one layer (one column a
 * class): tables[c][b][s][t] = sum of mu_(i,c) over these examples with h_b = s and h_c = t
 * (index 1 is +1). Costs n_classes times their number. By examples, not by c, since cwb_tile goes
 * by examples too: with threads, each then finds what it has written itself. */
CWBOOST_CLONES
static void cwb_layer_table(const double *R, int64_t stride, int64_t b, const int64_t *starts,
                            int64_t n_classes, const uint8_t *const *layer, double *tables) {
    const int64_t start = starts[b], end = starts[b + 1];
    const uint8_t *hb = layer[b];
    for (int64_t c = 0; c < n_classes; c++) {
        const double *r = R + c * stride;
        double *table = tables + 4 * (c * n_classes + b);
        const uint8_t *hc = layer[c];
        cwb_f64x8 s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0};
        if (b != c) {
            for (int64_t k = start >> 3; 8 * k < end; k++) {
                const unsigned valid = cwb_valid(k, start, end);
                const cwb_f64x8 x = cwb_where(cwb_lanes(valid), cwb_load(r + 8 * k));
                const cwb_i64x8 s = cwb_lanes(hb[k]), t = cwb_lanes(hc[k]);
                const cwb_f64x8 x1 = cwb_where(s, x), x0 = cwb_where(~s, x);
                s00 -= cwb_where(~t, x0);
                s01 -= cwb_where(t, x0);
                s10 -= cwb_where(~t, x1);
                s11 -= cwb_where(t, x1);
            }
        }
        table[0] = cwb_sum(s00);
        table[1] = cwb_sum(s01);
        table[2] = cwb_sum(s10);
        table[3] = cwb_sum(s11);
    }
}

/* Exact coordinate updates of one layer on its joint-sign tables alone, O(K) a coordinate.
 *
 * tables[c][b][s][t] as cwb_layer_table fills them, kept up to date. Coordinate c minimises
 * d + (1/q) (V- exp(d) + V+ exp(-d)) over d >= -coef_c, whose root is
 * d = log(2 V+ / (q + sqrt(q^2 + 4 V+ V-))), and goes `step` of the way (shrinkage). Adds what
 * each coordinate moved to moved[]. Returns the largest move of the last sweep. */
static double cwb_layer_solve(double *tables, int64_t K, double q, double step, int64_t n_sweeps,
                              const uint8_t *active, const double *coef, double *moved) {
    double largest = 0.0;
    for (int64_t sweep = 0; sweep < n_sweeps; sweep++) {
        largest = 0.0;
        for (int64_t c = 0; c < K; c++) {
            if (!active[c]) continue;
            double v_plus = 0.0, v_minus = 0.0;
            for (int64_t b = 0; b < K; b++) {
                const double *own = tables + 4 * (b * K + c), *other = tables + 4 * (c * K + b);
                v_plus += (own[2] + own[3]) + (other[0] + other[2]);
                v_minus += (own[0] + own[1]) + (other[1] + other[3]);
            }
            const double d = cwb_step(v_plus, v_minus, q, coef[c] + moved[c], step);
            if (d == 0.0) continue;
            const double up = exp(d), down = exp(-d);
            for (int64_t b = 0; b < K; b++) {
                double *own = tables + 4 * (b * K + c), *other = tables + 4 * (c * K + b);
                own[0] *= up, own[1] *= up, own[2] *= down, own[3] *= down;
                other[0] *= down, other[2] *= down, other[1] *= up, other[3] *= up;
            }
            moved[c] += d;
            if (fabs(d) > largest) largest = fabs(d);
        }
    }
    return largest;
}

/* row_i = exp(-d_b h_b(i)) for the examples of class b in one tile: what a layer does to all of
 * their pairs. */
CWBOOST_INLINE void cwb_row_factors(const int64_t *starts, int64_t n_classes, int64_t first_byte,
                                    int64_t last_byte, const uint8_t *const *layer,
                                    const double *up, const double *down, cwb_f64x8 *row) {
    for (int64_t b = first_byte; b < last_byte; b++) row[b - first_byte] = cwb_splat(1.0);
    for (int64_t k = 0; k < n_classes; k++) {
        const int64_t start = starts[k], end = starts[k + 1];
        const int64_t from = start >> 3 > first_byte ? start >> 3 : first_byte;
        const cwb_f64x8 vup = cwb_splat(up[k]), vdown = cwb_splat(down[k]);
        for (int64_t b = from; b < last_byte && 8 * b < end; b++) {
            const cwb_f64x8 factor = cwb_select(cwb_lanes(layer[k][b]), vdown, vup);
            const cwb_i64x8 valid = cwb_lanes(cwb_valid(b, start, end));
            row[b - first_byte] = cwb_select(valid, factor, row[b - first_byte]);
        }
    }
}

/* What a pass over one tile of examples finds, summed over tiles by the caller in order. */
typedef struct {
    double loss;      /* sum of mu */
    double margins;   /* sum of r F: the sum of mu gamma */
    int64_t errors;   /* examples with a pair of margin < 0, or = 0 against a lower class */
} cwb_tile_sums;

/* One tile of a layer: multiply mu_(i,c) by row_i exp(d_c h_c(i)), renew the own sums, keep the
 * scores (F_c += d_c h_c), and count errors. Without a layer (null) nothing moves.
 * Costs 2 n_classes loads and stores an example. */
CWBOOST_CLONES
static void cwb_tile(double *R, double *scores, int64_t stride, const int64_t *starts,
                     int64_t n_classes, int64_t first_byte, int64_t last_byte,
                     const uint8_t *const *layer, const double *d, const double *up,
                     const double *down, const double *example_weight, const int32_t *label,
                     cwb_tile_sums *out) {
    cwb_f64x8 sums[CWB_TILE], margins[CWB_TILE], row[CWB_TILE];
    cwb_i64x8 wrong[CWB_TILE];
    const cwb_f64x8 zero = {0}, tiny = cwb_splat(CWB_FLUSH), smallest = cwb_splat(DBL_MIN);
    const int64_t n = last_byte - first_byte;
    if (layer) cwb_row_factors(starts, n_classes, first_byte, last_byte, layer, up, down, row);
    for (int64_t b = 0; b < n; b++) {
        if (!layer) row[b] = cwb_splat(1.0);
        sums[b] = zero;
        margins[b] = zero;
        wrong[b] = (cwb_i64x8)zero;
    }
    for (int64_t c = 0; c < n_classes; c++) {
        double *r = R + c * stride + 8 * first_byte;
        double *f = scores + c * stride + 8 * first_byte;
        const uint8_t *h = layer ? layer[c] + first_byte : 0;
        const cwb_f64x8 vup = cwb_splat(layer ? up[c] : 1.0);
        const cwb_f64x8 vdown = cwb_splat(layer ? down[c] : 1.0);
        const cwb_f64x8 vd = cwb_splat(layer ? d[c] : 0.0);
        const int64_t start = starts[c] - 8 * first_byte, end = starts[c + 1] - 8 * first_byte;
        for (int64_t b = 0; b < n; b++) {
            const cwb_i64x8 bit = cwb_lanes(h ? h[b] : 0);
            cwb_i64x8 other = ~(cwb_i64x8)zero;
            if (8 * b < end && 8 * b + 8 > start) other = ~cwb_lanes(cwb_valid(b, start, end));
            const cwb_f64x8 old = cwb_load(r + 8 * b);
            cwb_f64x8 x = old * row[b];
            x = x * cwb_select(bit, vup, vdown);
            x = cwb_where(other & ~cwb_smaller(x, tiny), x);
            cwb_store(r + 8 * b, cwb_select(other, x, old));
            sums[b] -= x;
            const cwb_f64x8 w = cwb_load(example_weight + 8 * (first_byte + b));
            /* mu > w is a negative margin; a zero one loses only against a lower class. */
            cwb_i64x8 behind = (cwb_i64x8)zero;
            if (8 * b + 8 > end) behind = cwb_lanes(cwb_valid(b, end, INT64_MAX - 8));
            wrong[b] |= cwb_negative(x + w - cwb_where(behind, smallest));
            const cwb_f64x8 score = cwb_load(f + 8 * b) + cwb_select(bit, vd, -vd);
            if (layer) cwb_store(f + 8 * b, score);
            margins[b] += x * score;
        }
    }
    cwb_f64x8 loss = zero, margin = zero;
    int64_t errors = 0;
    for (int64_t b = 0; b < n; b++) {
        loss += sums[b];
        margin += margins[b];
        for (int l = 0; l < 8; l++) {
            const int64_t i = 8 * (first_byte + b) + l;
            if (label[i] < 0) continue;
            R[label[i] * stride + i] = sums[b][l];
            margin[l] += sums[b][l] * scores[label[i] * stride + i];
            errors -= wrong[b][l];
        }
    }
    out->loss = cwb_sum(loss);
    out->margins = cwb_sum(margin);
    out->errors = errors;
}

#endif
