/* Weights as fixed-point numbers (stump_scan.h says which): masses, scales, sums and rows. */
#ifndef CWBOOST_STUMP_WEIGHTS_H
#define CWBOOST_STUMP_WEIGHTS_H

#include "stumps/scan.h"

#define CWB_ROUND 6755399441055744.0 /* 1.5 x 2^52: adding and taking it away rounds to integers */
#define CWB_COARSE 0x1p-20

/* The power of two that brings a mass into (2^50, 2^51] (1 - 2^-8): 0 for a mass that is not
 * finite, infinity for one so small that there is none. */
static inline double cwb_scale(double mass)
{
    int exponent;
    if (!isfinite(mass)) return 0.0;
    if (mass == 0.0) return 1.0;
    const double fraction = frexp(mass, &exponent);
    return ldexp(1.0, 51 - exponent - (fraction > 1.0 - 0x1p-8));
}

static inline double cwb_fixed(double r, double scale) { return (r * scale + CWB_ROUND) - CWB_ROUND; }

CWBOOST_CLONES static double cwb_mass(const double *r, int64_t n)
{
    cwb_f64x8 lanes[4] = {{0}, {0}, {0}, {0}};
    int64_t i = 0;
    for (; i + 32 <= n; i += 32)
        for (int k = 0; k < 4; k++) {
            cwb_i64x8 x;
            memcpy(&x, r + i + 8 * k, sizeof x);
            lanes[k] += (cwb_f64x8)(x & INT64_MAX);
        }
    const cwb_f64x8 all = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    double sum = ((all[0] + all[1]) + (all[2] + all[3])) + ((all[4] + all[5]) + (all[6] + all[7]));
    for (; i < n; i++) sum += fabs(r[i]);
    return sum;
}

/* Sum of q(i), exact. */
CWBOOST_CLONES static double cwb_total(const double *r, double scale, int64_t n)
{
    double lanes[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) lanes[l] += cwb_fixed(r[i + l], scale);
    for (; i < n; i++) lanes[0] += cwb_fixed(r[i], scale);
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

/* Eight examples of eight targets: k(i) of `count` targets as columns of an 8 x 8 tile. */
CWBOOST_INLINE void cwb_fill_tile(const double *weights, int64_t stride, const double *scales,
                                  int count, int64_t n, int32_t tile[8][8])
{
    for (int l = 0; l < 8; l++) {
        const double *r = weights + (l < count ? l : 0) * stride;
        const double scale = l < count ? scales[l] * CWB_COARSE : 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double rounded = r[i] * scale + CWB_ROUND;
            int64_t bits;
            memcpy(&bits, &rounded, sizeof bits);
            tile[l][i] = (int32_t)bits;
        }
    }
}

#ifdef CWB_SCAN_HAS_AVX2
/* The same for whole tiles, straight into the rows `out`, `lanes` numbers apart. */
__attribute__((target("avx2"))) static void cwb_fill_tile_avx2(const double *weights,
                                                               int64_t stride,
                                                               const double *scales, int count,
                                                               int lanes, int32_t *out)
{
    const __m256d round = _mm256_set1_pd(CWB_ROUND);
    const __m256i low = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    __m256i row[8], pair[8];
    for (int l = 0; l < 8; l++) {
        const double *r = weights + (l < count ? l : 0) * stride;
        const __m256d scale = _mm256_set1_pd(l < count ? scales[l] * CWB_COARSE : 0.0);
        const __m256d a = _mm256_add_pd(_mm256_mul_pd(_mm256_loadu_pd(r), scale), round);
        const __m256d b = _mm256_add_pd(_mm256_mul_pd(_mm256_loadu_pd(r + 4), scale), round);
        /* The low halves of four numbers each. */
        const __m256i first = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(a), low);
        const __m256i last = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(b), low);
        row[l] = _mm256_permute2x128_si256(first, last, 0x20);
    }
    for (int l = 0; l < 8; l += 4)
        for (int k = 0; k < 2; k++) {
            const __m256i a = k ? _mm256_unpackhi_epi32(row[l], row[l + 1])
                                : _mm256_unpacklo_epi32(row[l], row[l + 1]);
            const __m256i b = k ? _mm256_unpackhi_epi32(row[l + 2], row[l + 3])
                                : _mm256_unpacklo_epi32(row[l + 2], row[l + 3]);
            pair[l + 2 * k] = _mm256_unpacklo_epi64(a, b);
            pair[l + 2 * k + 1] = _mm256_unpackhi_epi64(a, b);
        }
    for (int k = 0; k < 4; k++) {
        CWB_AVX2_STORE(out + k * lanes, _mm256_permute2x128_si256(pair[k], pair[k + 4], 0x20));
        CWB_AVX2_STORE(out + (k + 4) * lanes, _mm256_permute2x128_si256(pair[k], pair[k + 4], 0x31));
    }
}
#endif

/* The rows of examples [from, to): k(i) of `count` targets, sample-major, padded with zeros. */
static void cwb_fill_rows(const double *weights, int64_t stride, const double *scales, int count,
                          int lanes, int64_t from, int64_t to, int32_t *rows)
{
    int32_t tile[8][8];
#ifdef CWB_SCAN_HAS_AVX2
    const int wide = __builtin_cpu_supports("avx2");
#endif
    for (int64_t i = from; i < to; i += 8) {
        const int64_t n = to - i < 8 ? to - i : 8;
        for (int first = 0; first < lanes; first += 8) {
            const double *w = weights + (first < count ? first : 0) * stride + i;
            int32_t *out = rows + i * lanes + first;
#ifdef CWB_SCAN_HAS_AVX2
            if (wide && n == 8) {
                cwb_fill_tile_avx2(w, stride, scales + first, count - first, lanes, out);
                continue;
            }
#endif
            cwb_fill_tile(w, stride, scales + first, count - first, n, tile);
            for (int64_t k = 0; k < n; k++)
                for (int l = 0; l < 8; l++) out[k * lanes + l] = tile[l][k];
        }
    }
}

#endif
