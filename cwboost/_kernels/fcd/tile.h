/* Fast coordinate descent: what the updates of a layer do to the weights, a tile of examples at a
 * time. For the notation see fcd.h. */
#ifndef CWBOOST_FCD_TILE_H
#define CWBOOST_FCD_TILE_H

#include <float.h>
#include "fcd/lanes.h"

/* Weights below this cannot change a sum of the master (its sums stay near p / C) but would turn
 * subnormal and slow every later pass down. */
#define CWB_FLUSH 1e-280
#define CWB_TILE 64 /* bytes of bits a tile: 512 examples */
#define CWB_STRIP 4 /* vectors whose sums over the classes stay in registers */

/* row_i = exp(-d_b h_b(i)) for the examples of class b in one tile: what a layer does to all of
 * their pairs. */
CWBOOST_INLINE void cwb_row_factors(const int64_t *starts, int64_t n_classes, int64_t first_byte,
                                    int64_t last_byte, const uint8_t *const *layer,
                                    const double *up, const double *down, cwb_f64x8 *row) {
    for (int64_t b = first_byte; b < last_byte; b++) row[b - first_byte] = cwb_splat(1.0);
    if (!layer) return;
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

/* The sums of a strip over the classes, a lane an example. The sign of `wrong` is set where a pair
 * is. */
typedef struct {
    cwb_f64x8 sums[CWB_STRIP], margins[CWB_STRIP];
    cwb_i64x8 wrong[CWB_STRIP];
} cwb_strip;

/* One vector of a strip and class c, among whose examples may be some of class c: their entries of
 * R stay. `byte` is the place of the vector. */
CWBOOST_INLINE void cwb_strip_mixed(cwb_strip *s, int k, double *r, double *f, int64_t byte,
                                    int64_t start, int64_t end, cwb_f64x8 row, cwb_f64x8 w,
                                    unsigned h, double up, double down, double d) {
    const cwb_i64x8 bit = cwb_lanes(h);
    cwb_i64x8 other = ~(cwb_i64x8){0}, behind = {0};
    if (8 * byte < end && 8 * byte + 8 > start) other = ~cwb_lanes(cwb_valid(byte, start, end));
    if (8 * byte + 8 > end) behind = cwb_lanes(cwb_valid(byte, end, INT64_MAX - 8));
    const cwb_f64x8 old = cwb_load(r), moved = cwb_splat(d);
    cwb_f64x8 x = old * row;
    x = x * cwb_select(bit, cwb_splat(up), cwb_splat(down));
    x = cwb_where(other & ~cwb_smaller(x, cwb_splat(CWB_FLUSH)), x);
    cwb_store(r, cwb_select(other, x, old));
    s->sums[k] -= x;
    s->wrong[k] |= (cwb_i64x8)(x + w - cwb_where(behind, cwb_splat(DBL_MIN)));
    const cwb_f64x8 score = cwb_load(f) + cwb_select(bit, moved, -moved);
    cwb_store(f, score);
    s->margins[k] += x * score;
}

/* Own entries of R for one vector, and what they add to sum of r F. */
CWBOOST_INLINE cwb_f64x8 cwb_own_sums(double *R, const double *scores, int64_t stride,
                                      const int32_t *label, int64_t byte, cwb_f64x8 sums) {
    cwb_f64x8 margins = {0};
    for (int l = 0; l < 8; l++) {
        const int64_t i = 8 * byte + l;
        if (label[i] < 0) continue;
        R[label[i] * stride + i] = sums[l];
        margins[l] = sums[l] * scores[label[i] * stride + i];
    }
    return margins;
}

CWBOOST_INLINE int64_t cwb_count_wrong(const int32_t *label, int64_t byte, cwb_i64x8 wrong) {
    int64_t count = 0;
    for (int l = 0; l < 8; l++) count += label[8 * byte + l] >= 0 && wrong[l] < 0;
    return count;
}

/* A whole strip and a class that none of its examples is of. An example is wrong where mu > w, and
 * where the class is a lower one, `slack` being the smallest number then, for mu = w as well. */
#define CWB_STRIP_OTHERS(OPS, slack)                                                             \
    {                                                                                            \
        const cwb_f64x8 vup = CWB_##OPS##_ALL(up), vdown = CWB_##OPS##_ALL(down);                \
        const cwb_f64x8 vd = CWB_##OPS##_ALL(moved), against = CWB_##OPS##_ALL(-moved);          \
        CWB_ALL_OF_STRIP {                                                                       \
            const cwb_##OPS##_byte bits = CWB_##OPS##_LOOK(h + k);                               \
            cwb_f64x8 x = cwb_load(r + 8 * k) * row[b + k];                                      \
            x = x * CWB_##OPS##_PICK(bits, vup, vdown);                                          \
            x = CWB_##OPS##_FLUSH(x, tiny);                                                      \
            cwb_store(r + 8 * k, x);                                                             \
            s.sums[k] -= x;                                                                      \
            s.wrong[k] |= (cwb_i64x8)(x + w[k] - slack);                                         \
            const cwb_f64x8 score = cwb_load(f + 8 * k) + CWB_##OPS##_PICK(bits, vd, against);   \
            if (layer) cwb_store(f + 8 * k, score);                                              \
            s.margins[k] += x * score;                                                           \
        }                                                                                        \
    }
#define CWB_ALL_OF_STRIP _Pragma("GCC unroll 4") for (int k = 0; k < CWB_STRIP; k++)

/* One tile of a layer: multiply mu_(i,c) by row_i exp(d_c h_c(i)), renew the own sums, keep the
 * scores (F_c += d_c h_c), and count errors. Without a layer (null) nothing moves. Costs
 * 2 n_classes loads and stores an example.
 *
 * mu > w is a negative margin; a zero one loses only against a lower class. */
#define CWB_TILE_OF(NAME, OPS, TARGET)                                                           \
    TARGET static void NAME(double *R, double *scores, int64_t stride, const int64_t *starts,    \
                            int64_t n_classes, int64_t first_byte, int64_t last_byte,            \
                            const uint8_t *const *layer, const double *d, const double *ups,     \
                            const double *downs, const double *example_weight,                   \
                            const int32_t *label, cwb_tile_sums *out) {                          \
        static const uint8_t no_bits[CWB_TILE] = {0};                                            \
        const cwb_f64x8 zero = {0}, tiny = cwb_splat(CWB_FLUSH), least = cwb_splat(DBL_MIN);     \
        const int64_t n = last_byte - first_byte;                                                \
        cwb_f64x8 row[CWB_TILE], loss = zero, margin = zero;                                     \
        out->errors = 0;                                                                         \
        cwb_row_factors(starts, n_classes, first_byte, last_byte, layer, ups, downs, row);       \
        for (int64_t b = 0; b < n; b += CWB_STRIP) {                                             \
            const int64_t byte = first_byte + b;                                                 \
            const int m = n - b < CWB_STRIP ? (int)(n - b) : CWB_STRIP;                          \
            cwb_strip s;                                                                         \
            cwb_f64x8 w[CWB_STRIP];                                                              \
            CWB_ALL_OF_STRIP {                                                                   \
                s.sums[k] = s.margins[k] = zero;                                                 \
                s.wrong[k] = (cwb_i64x8)zero;                                                    \
                w[k] = k < m ? cwb_load(example_weight + 8 * (byte + k)) : zero;                 \
            }                                                                                    \
            for (int64_t c = 0; c < n_classes; c++) {                                            \
                double *r = R + c * stride + 8 * byte, *f = scores + c * stride + 8 * byte;      \
                const uint8_t *h = layer ? layer[c] + byte : no_bits;                            \
                const double up = layer ? ups[c] : 1.0, down = layer ? downs[c] : 1.0;           \
                const double moved = layer ? d[c] : 0.0;                                         \
                const int64_t start = starts[c], end = starts[c + 1];                            \
                if (m == CWB_STRIP && 8 * (byte + CWB_STRIP) <= start)                           \
                    CWB_STRIP_OTHERS(OPS, zero)                                                  \
                else if (m == CWB_STRIP && 8 * byte >= end)                                      \
                    CWB_STRIP_OTHERS(OPS, least)                                                 \
                else                                                                             \
                    CWB_ALL_OF_STRIP if (k < m)                                                  \
                        cwb_strip_mixed(&s, k, r + 8 * k, f + 8 * k, byte + k, start, end,       \
                                        row[b + k], w[k], h[k], up, down, moved);                \
            }                                                                                    \
            CWB_ALL_OF_STRIP if (k < m) {                                                        \
                loss += s.sums[k];                                                               \
                margin += s.margins[k];                                                          \
                margin += cwb_own_sums(R, scores, stride, label, byte + k, s.sums[k]);           \
                out->errors += cwb_count_wrong(label, byte + k, s.wrong[k]);                     \
            }                                                                                    \
        }                                                                                        \
        out->loss = cwb_sum(loss);                                                               \
        out->margins = cwb_sum(margin);                                                          \
    }

CWB_TILE_OF(cwb_tile_portable, lanes, CWBOOST_CLONES)
#ifdef CWBOOST_X86_INTRINSICS
CWB_TILE_OF(cwb_tile_avx512, masked, CWBOOST_AVX512)
#endif

static void cwb_tile(double *R, double *scores, int64_t stride, const int64_t *starts,
                     int64_t n_classes, int64_t first_byte, int64_t last_byte,
                     const uint8_t *const *layer, const double *d, const double *up,
                     const double *down, const double *example_weight, const int32_t *label,
                     cwb_tile_sums *out) {
#ifdef CWBOOST_X86_INTRINSICS
    if (__builtin_cpu_supports("avx512dq")) {
        cwb_tile_avx512(R, scores, stride, starts, n_classes, first_byte, last_byte, layer, d, up,
                        down, example_weight, label, out);
        return;
    }
#endif
    cwb_tile_portable(R, scores, stride, starts, n_classes, first_byte, last_byte, layer, d, up,
                      down, example_weight, label, out);
}

#endif
