/* Fast coordinate descent on the restricted master: the passes over the examples.
 *
 * Notation. R is the signed weight matrix, a row a class, with examples sorted by class: for
 * y_i != c the entry is -mu_(i,c); for y_i == c (the "own" entries) it is the sum over y != c of
 * mu_(i,y). A column is one bit an example, set where the learner says +1. Rows are padded to
 * whole bytes of bits (eight examples); the padding of R is zero, so it never enters a sum.
 *
 * All sums run over eight lanes in a fixed order, so they do not depend on the vector width that
 * the processor has. Each function names its cost in touched doubles, n the number of examples.
 */
#ifndef CWBOOST_FCD_H
#define CWBOOST_FCD_H

#include <float.h>
#include <math.h>
#include "simd.h"

/* Weights below this cannot change a sum of the master (its sums stay near p / C) but would turn
 * subnormal and slow every later pass down. */
#define CWB_FLUSH 1e-280
#define CWB_TILE 64 /* bytes of bits a tile: 512 examples, a row of them fits the first cache */

CWBOOST_INLINE cwb_f64x8 cwb_load(const double *x) {
    cwb_f64x8 v;
    memcpy(&v, x, sizeof v);
    return v;
}

CWBOOST_INLINE void cwb_store(double *x, cwb_f64x8 v) { memcpy(x, &v, sizeof v); }

/* Lane l all ones where bit l of the byte is set, else zero. */
CWBOOST_INLINE cwb_i64x8 cwb_lanes(unsigned byte) {
    const cwb_i64x8 to_sign = {63, 62, 61, 60, 59, 58, 57, 56};
    const int64_t b = (int64_t)byte;
    const cwb_i64x8 all = {b, b, b, b, b, b, b, b};
    return (all << to_sign) >> 63;
}

CWBOOST_INLINE cwb_f64x8 cwb_where(cwb_i64x8 mask, cwb_f64x8 x) {
    return (cwb_f64x8)((cwb_i64x8)x & mask);
}

CWBOOST_INLINE cwb_f64x8 cwb_select(cwb_i64x8 mask, cwb_f64x8 x, cwb_f64x8 y) {
    return (cwb_f64x8)(((cwb_i64x8)x & mask) | ((cwb_i64x8)y & ~mask));
}

/* Masks come from shifts, not from comparisons: GCC takes vector comparisons apart lane by lane
 * unless one use consumes them. */
CWBOOST_INLINE cwb_i64x8 cwb_negative(cwb_f64x8 x) { return (cwb_i64x8)x >> 63; }

/* Lane all ones where |x| < y, for finite values. */
CWBOOST_INLINE cwb_i64x8 cwb_smaller(cwb_f64x8 x, cwb_f64x8 y) {
    return (((cwb_i64x8)x & INT64_MAX) - (cwb_i64x8)y) >> 63;
}

CWBOOST_INLINE cwb_f64x8 cwb_splat(double x) {
    const cwb_f64x8 v = {x, x, x, x, x, x, x, x};
    return v;
}

CWBOOST_INLINE double cwb_sum(cwb_f64x8 v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/* Bits of the byte at `byte` whose examples lie in [start, end). */
CWBOOST_INLINE unsigned cwb_valid(int64_t byte, int64_t start, int64_t end) {
    unsigned valid = 0xffu;
    if (8 * byte < start) valid &= 0xffu << (start - 8 * byte);
    if (8 * byte + 8 > end) valid &= 0xffu >> (8 * byte + 8 - end);
    return valid & 0xffu;
}

/* The exact minimiser of one coordinate, as a move from its present value w >= 0: no move below
 * zero, `step` of the way. The root is written so that nothing cancels: it is right for V- -> 0
 * (log(V+ / q)) and V+ -> 0 (minus infinity, so the coefficient goes to zero). */
CWBOOST_INLINE double cwb_step(double v_plus, double v_minus, double q, double w, double step) {
    const double root = sqrt(q * q + 4.0 * (v_plus * v_minus));
    const double d = log(2.0 * v_plus / (q + root));
    if (w + d <= 0.0) return -step * w;
    return step * d;
}

/* edges[j] = sum_i r_i h_j(i) of columns j = 0..n_columns-1 (rows of `bits`), n a column.
 * WIDTH columns share one load of r. The sum over set bits is doubled and the total taken off. */
#define CWB_EDGES_BODY(WIDTH, ADD)                                                               \
    cwb_f64x8 all = {0};                                                                         \
    for (int64_t b = 0; b < n_bytes; b++) all += cwb_load(r + 8 * b);                            \
    const double total = cwb_sum(all);                                                           \
    int64_t j = 0;                                                                               \
    for (; j + WIDTH <= n_columns; j += WIDTH) {                                                 \
        const uint8_t *h = bits + j * bits_stride;                                               \
        cwb_f64x8 sums[WIDTH];                                                                   \
        _Pragma("GCC unroll 8") for (int k = 0; k < WIDTH; k++) sums[k] = cwb_splat(0.0);        \
        for (int64_t b = 0; b < n_bytes; b++) {                                                  \
            const cwb_f64x8 x = cwb_load(r + 8 * b);                                             \
            _Pragma("GCC unroll 8") for (int k = 0; k < WIDTH; k++)                              \
                sums[k] = ADD(sums[k], h[k * bits_stride + b], x);                               \
        }                                                                                        \
        _Pragma("GCC unroll 8") for (int k = 0; k < WIDTH; k++)                                  \
            edges[j + k] = 2.0 * cwb_sum(sums[k]) - total;                                       \
    }                                                                                            \
    for (; j < n_columns; j++) {                                                                 \
        cwb_f64x8 sum = {0};                                                                     \
        for (int64_t b = 0; b < n_bytes; b++)                                                    \
            sum = ADD(sum, bits[j * bits_stride + b], cwb_load(r + 8 * b));                      \
        edges[j] = 2.0 * cwb_sum(sum) - total;                                                   \
    }

CWBOOST_INLINE cwb_f64x8 cwb_add_lanes(cwb_f64x8 sum, unsigned byte, cwb_f64x8 x) {
    const cwb_i64x8 bit = {1, 2, 4, 8, 16, 32, 64, 128};
    const int64_t b = (int64_t)byte;
    const cwb_i64x8 all = {b, b, b, b, b, b, b, b};
    return sum + cwb_where((all & bit) != 0, x);
}

CWBOOST_CLONES
static void cwb_edges_portable(const double *r, int64_t n_bytes, const uint8_t *bits,
                               int64_t bits_stride, int64_t n_columns, double *edges) {
    CWB_EDGES_BODY(4, cwb_add_lanes)
}

#ifdef CWBOOST_X86_INTRINSICS
/* A byte of bits is a mask register: one masked addition takes eight examples. */
#define CWB_ADD_MASKED(sum, byte, x)                                                             \
    (cwb_f64x8) _mm512_mask_add_pd((__m512d)(sum), (__mmask8)(byte), (__m512d)(sum), (__m512d)(x))

__attribute__((target("avx512f,avx512dq")))
static void cwb_edges_avx512(const double *r, int64_t n_bytes, const uint8_t *bits,
                             int64_t bits_stride, int64_t n_columns, double *edges) {
    CWB_EDGES_BODY(8, CWB_ADD_MASKED)
}
#endif

static void cwb_edges(const double *r, int64_t n_bytes, const uint8_t *bits, int64_t bits_stride,
                      int64_t n_columns, double *edges) {
#ifdef CWBOOST_X86_INTRINSICS
    if (__builtin_cpu_supports("avx512dq")) {
        cwb_edges_avx512(r, n_bytes, bits, bits_stride, n_columns, edges);
        return;
    }
#endif
    cwb_edges_portable(r, n_bytes, bits, bits_stride, n_columns, edges);
}

/* V+ and V- of one coordinate: the weight of the pairs that gain and lose when it grows.
 * x = R_c s has the sign of "this pair wants h = +1", so V+ sums |x| where h agrees. Costs 2n. */
CWBOOST_CLONES
static void cwb_coordinate_sums(const double *r, const double *scale, const uint8_t *bits,
                                int64_t n_bytes, double *v_plus, double *v_minus) {
    cwb_f64x8 plus = {0}, minus = {0};
    for (int64_t b = 0; b < n_bytes; b++) {
        const cwb_f64x8 x = cwb_load(r + 8 * b) * cwb_load(scale + 8 * b);
        const cwb_i64x8 agree = cwb_lanes(bits[b]) ^ cwb_negative(x);
        const cwb_f64x8 size = (cwb_f64x8)((cwb_i64x8)x & INT64_MAX);
        plus += cwb_where(agree, size);
        minus += cwb_where(~agree, size);
    }
    *v_plus = cwb_sum(plus);
    *v_minus = cwb_sum(minus);
}

/* Move coordinate (c, .) by d: mu_(i,c) *= exp(d h(i)) for the other classes' examples, and the
 * lazy row factor s_i *= exp(-d h(i)) for the examples of class c; own sums follow. Costs 3n. */
CWBOOST_CLONES
static void cwb_coordinate_apply_portable(double *R, int64_t stride, int64_t c,
                                          const int64_t *starts, int64_t n_classes,
                                          double *scale, const uint8_t *bits, double d) {
    const double up = exp(d), down = exp(-d);
    const cwb_f64x8 vup = cwb_splat(up), vdown = cwb_splat(down);
    double *r = R + c * stride;
    for (int64_t k = 0; k < n_classes; k++) {
        const int64_t start = starts[k], end = starts[k + 1];
        double *own = R + k * stride;
        for (int64_t b = start >> 3; 8 * b < end; b++) {
            const cwb_i64x8 valid = cwb_lanes(cwb_valid(b, start, end));
            const cwb_i64x8 h = cwb_lanes(bits[b]);
            if (k == c) {
                const cwb_f64x8 s = cwb_load(scale + 8 * b);
                cwb_store(scale + 8 * b, cwb_select(valid, s * cwb_select(h, vdown, vup), s));
                continue;
            }
            const cwb_f64x8 old = cwb_load(r + 8 * b);
            cwb_f64x8 new = old * cwb_select(h, vup, vdown);
            new = cwb_select(valid, new, old);
            cwb_store(r + 8 * b, new);
            const cwb_f64x8 sum = cwb_load(own + 8 * b) + (old - new);
            cwb_store(own + 8 * b, cwb_select(valid & cwb_negative(sum), cwb_splat(0.0), sum));
        }
    }
}

/* F_c(i) += d h(i). Costs n. */
CWBOOST_CLONES
static void cwb_coordinate_scores(double *scores, const uint8_t *bits, int64_t n_bytes, double d) {
    const cwb_f64x8 up = cwb_splat(d), down = cwb_splat(-d);
    for (int64_t b = 0; b < n_bytes; b++)
        cwb_store(scores + 8 * b,
                  cwb_load(scores + 8 * b) + cwb_select(cwb_lanes(bits[b]), up, down));
}

#ifdef CWBOOST_X86_INTRINSICS
/* The same operations with mask registers. */
__attribute__((target("avx512f,avx512dq")))
static void cwb_coordinate_apply_avx512(double *R, int64_t stride, int64_t c,
                                        const int64_t *starts, int64_t n_classes, double *scale,
                                        const uint8_t *bits, double d) {
    const __m512d up = _mm512_set1_pd(exp(d)), down = _mm512_set1_pd(exp(-d));
    double *r = R + c * stride;
    for (int64_t k = 0; k < n_classes; k++) {
        const int64_t start = starts[k], end = starts[k + 1];
        double *own = R + k * stride;
        for (int64_t b = start >> 3; 8 * b < end; b++) {
            const __mmask8 valid = (__mmask8)cwb_valid(b, start, end);
            if (k == c) {
                const __m512d s = _mm512_loadu_pd(scale + 8 * b);
                const __m512d factor = _mm512_mask_blend_pd(bits[b], up, down);
                _mm512_storeu_pd(scale + 8 * b, _mm512_mask_mul_pd(s, valid, s, factor));
                continue;
            }
            const __m512d factor = _mm512_mask_blend_pd(bits[b], down, up);
            const __m512d old = _mm512_loadu_pd(r + 8 * b);
            const __m512d new = _mm512_mask_mul_pd(old, valid, old, factor);
            _mm512_storeu_pd(r + 8 * b, new);
            const __m512d sum =
                _mm512_add_pd(_mm512_loadu_pd(own + 8 * b), _mm512_sub_pd(old, new));
            const __mmask8 below = valid & _mm512_movepi64_mask((__m512i)sum);
            _mm512_storeu_pd(own + 8 * b,
                             _mm512_mask_blend_pd(below, sum, _mm512_setzero_pd()));
        }
    }
}
#endif

static void cwb_coordinate_apply(double *R, int64_t stride, int64_t c, const int64_t *starts,
                                 int64_t n_classes, double *scale, const uint8_t *bits,
                                 double d) {
#ifdef CWBOOST_X86_INTRINSICS
    if (__builtin_cpu_supports("avx512dq")) {
        cwb_coordinate_apply_avx512(R, stride, c, starts, n_classes, scale, bits, d);
        return;
    }
#endif
    cwb_coordinate_apply_portable(R, stride, c, starts, n_classes, scale, bits, d);
}

/* Joint-sign table of class c against every class b of one layer (one column a class):
 * table[b][s][t] = sum of mu_(i,c) over the examples of class b with h_b = s and h_c = t
 * (index 1 is +1). Costs n. */
CWBOOST_CLONES
static void cwb_layer_table(const double *r, int64_t c, const int64_t *starts, int64_t n_classes,
                            const uint8_t *const *layer, double *table) {
    const uint8_t *hc = layer[c];
    for (int64_t k = 0; k < n_classes; k++, table += 4) {
        const int64_t start = starts[k], end = starts[k + 1];
        const uint8_t *hk = layer[k];
        cwb_f64x8 s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0};
        if (k != c) {
            for (int64_t b = start >> 3; 8 * b < end; b++) {
                const unsigned valid = cwb_valid(b, start, end);
                const cwb_f64x8 x = cwb_where(cwb_lanes(valid), cwb_load(r + 8 * b));
                const cwb_i64x8 s = cwb_lanes(hk[b]), t = cwb_lanes(hc[b]);
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

/* row_i = exp(-d_b h_b(i)) for the examples of class b: what a layer does to their pairs. */
CWBOOST_CLONES
static void cwb_row_factors(const int64_t *starts, int64_t n_classes, const uint8_t *const *layer,
                            const double *up, const double *down, double *row) {
    for (int64_t k = 0; k < n_classes; k++) {
        const int64_t start = starts[k], end = starts[k + 1];
        const cwb_f64x8 vup = cwb_splat(up[k]), vdown = cwb_splat(down[k]);
        for (int64_t b = start >> 3; 8 * b < end; b++) {
            const cwb_f64x8 factor = cwb_select(cwb_lanes(layer[k][b]), vdown, vup);
            const cwb_i64x8 valid = cwb_lanes(cwb_valid(b, start, end));
            cwb_store(row + 8 * b, cwb_select(valid, factor, cwb_load(row + 8 * b)));
        }
    }
}

/* What a pass over one tile of examples finds, summed over tiles by the caller in order. */
typedef struct {
    double loss;      /* sum of mu */
    double margins;   /* sum of r F: the sum of mu gamma */
    int64_t errors;   /* examples with a pair of margin < 0, or = 0 against a lower class */
} cwb_tile_sums;

/* One tile of a layer: multiply mu_(i,c) by row[i] exp(d_c h_c(i)), renew the own sums, keep the
 * scores (F_c += d_c h_c), and count errors. Without a layer (null) only the rows are scaled.
 * Costs 2 n_classes loads and stores an example. */
CWBOOST_CLONES
static void cwb_tile(double *R, double *scores, int64_t stride, const int64_t *starts,
                     int64_t n_classes, int64_t first_byte, int64_t last_byte,
                     const double *row, const uint8_t *const *layer, const double *d,
                     const double *up, const double *down, const double *example_weight,
                     const int32_t *label, cwb_tile_sums *out) {
    cwb_f64x8 sums[CWB_TILE], margins[CWB_TILE];
    cwb_i64x8 wrong[CWB_TILE];
    const cwb_f64x8 zero = {0}, tiny = cwb_splat(CWB_FLUSH), smallest = cwb_splat(DBL_MIN);
    const int64_t n = last_byte - first_byte;
    for (int64_t b = 0; b < n; b++) {
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
            cwb_f64x8 x = old * cwb_load(row + 8 * (first_byte + b));
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
            cwb_store(f + 8 * b, score);
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

/* F_c(i) = sum_j coef_j h_j(i), summed over j in order. Costs n a column. */
CWBOOST_CLONES
static void cwb_class_scores(const uint8_t *bits, int64_t bits_stride, const double *coef,
                             int64_t n_columns, int64_t n_bytes, double *scores) {
    for (int64_t b = 0; b < n_bytes; b++) {
        cwb_f64x8 sum = {0};
        for (int64_t j = 0; j < n_columns; j++) {
            const cwb_f64x8 w = cwb_splat(coef[j]);
            sum += cwb_select(cwb_lanes(bits[j * bits_stride + b]), w, -w);
        }
        cwb_store(scores + 8 * b, sum);
    }
}

#endif
