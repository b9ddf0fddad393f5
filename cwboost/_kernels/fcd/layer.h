/* Fast coordinate descent, one layer (a column a class) at a time. For the notation see fcd.h. */
#ifndef CWBOOST_FCD_LAYER_H
#define CWBOOST_FCD_LAYER_H

#include "fcd/coordinate.h"

/* Joint-sign tables of the examples of class b against every class c of one layer (one column a
 * class): tables[c][b][s][t] = sum of mu_(i,c) over these examples with h_b = s and h_c = t
 * (index 1 is +1). Costs n_classes times their number. By examples, not by c, since cwb_tile goes
 * by examples too: with threads, each then finds what it has written itself. */
#define CWB_LAYER_TABLE(NAME, OPS, TARGET)                                                       \
    TARGET static void NAME(const double *R, int64_t stride, int64_t b, const int64_t *starts,   \
                            int64_t n_classes, const uint8_t *const *layer, double *tables) {    \
        const int64_t start = starts[b], end = starts[b + 1];                                    \
        const uint8_t *hb = layer[b];                                                            \
        for (int64_t c = 0; c < n_classes; c++) {                                                \
            const double *r = R + c * stride;                                                    \
            double *table = tables + 4 * (c * n_classes + b);                                    \
            const uint8_t *hc = layer[c];                                                        \
            cwb_f64x8 s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0};                                \
            for (int64_t k = start >> 3; b != c && 8 * k < end; k++) {                           \
                /* Of the bytes at either end some bits may be other classes'. */                \
                const cwb_##OPS##_byte own = (cwb_##OPS##_byte)cwb_valid(k, start, end);         \
                const cwb_##OPS##_byte in_b = CWB_##OPS##_LOOK(hb + k);                          \
                const cwb_##OPS##_byte s = CWB_##OPS##_AND(in_b, own);                           \
                const cwb_##OPS##_byte not_s = CWB_##OPS##_AND(CWB_##OPS##_NOT(in_b), own);      \
                const cwb_##OPS##_byte t = CWB_##OPS##_LOOK(hc + k);                             \
                const cwb_##OPS##_byte not_t = CWB_##OPS##_NOT(t);                               \
                const cwb_f64x8 mu = -cwb_load(r + 8 * k);                                       \
                s00 = CWB_##OPS##_ADD(s00, CWB_##OPS##_AND(not_s, not_t), mu);                   \
                s01 = CWB_##OPS##_ADD(s01, CWB_##OPS##_AND(not_s, t), mu);                       \
                s10 = CWB_##OPS##_ADD(s10, CWB_##OPS##_AND(s, not_t), mu);                       \
                s11 = CWB_##OPS##_ADD(s11, CWB_##OPS##_AND(s, t), mu);                           \
            }                                                                                    \
            table[0] = cwb_sum(s00);                                                             \
            table[1] = cwb_sum(s01);                                                             \
            table[2] = cwb_sum(s10);                                                             \
            table[3] = cwb_sum(s11);                                                             \
        }                                                                                        \
    }

CWB_LAYER_TABLE(cwb_layer_table_portable, lanes, CWBOOST_CLONES)
#ifdef CWBOOST_X86_INTRINSICS
CWB_LAYER_TABLE(cwb_layer_table_avx512, masked, CWBOOST_AVX512)
#endif

static void cwb_layer_table(const double *R, int64_t stride, int64_t b, const int64_t *starts,
                            int64_t n_classes, const uint8_t *const *layer, double *tables) {
#ifdef CWBOOST_X86_INTRINSICS
    if (__builtin_cpu_supports("avx512dq")) {
        cwb_layer_table_avx512(R, stride, b, starts, n_classes, layer, tables);
        return;
    }
#endif
    cwb_layer_table_portable(R, stride, b, starts, n_classes, layer, tables);
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

#endif
