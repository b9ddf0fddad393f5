/* Fast coordinate descent, one coordinate at a time. For the notation see fcd.h. */
#ifndef CWBOOST_FCD_COORDINATE_H
#define CWBOOST_FCD_COORDINATE_H

#include "fcd_lanes.h"

/* The exact minimiser of one coordinate, as a move from its present value w >= 0: no move below
 * zero, `step` of the way. The root is written so that nothing cancels: it is right for V- -> 0
 * (log(V+ / q)) and V+ -> 0 (minus infinity, so the coefficient goes to zero). */
CWBOOST_INLINE double cwb_step(double v_plus, double v_minus, double q, double w, double step) {
    const double root = sqrt(q * q + 4.0 * (v_plus * v_minus));
    const double d = log(2.0 * v_plus / (q + root));
    if (w + d <= 0.0) return -step * w;
    return step * d;
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

#endif
