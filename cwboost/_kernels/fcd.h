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

#include "fcd_coordinate.h"
#include "fcd_layer.h"

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

/* mu_(i,c) = w_i exp(F_c(i) - F_{y_i}(i)) of class c, stored with the sign of R. */
static void cwb_pair_weights(double *R, const double *scores, int64_t stride, int64_t c,
                             int64_t n_samples, const double *example_weight,
                             const int32_t *label) {
    const double *F = scores + c * stride;
    double *r = R + c * stride;
    for (int64_t i = 0; i < n_samples; i++)
        if (label[i] != c) r[i] = -example_weight[i] * exp(F[i] - scores[label[i] * stride + i]);
}

#endif
