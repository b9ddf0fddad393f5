/* Weights as fixed-point numbers (kernels.h): masses, totals, edges, rows.
 *
 *     mass   sum |r(i)|     total   sum q(i)     edge   sum r(i) h(i)
 *
 * each in one pass over a target's weights, 8 n bytes; rows k(i) in one pass that reads 8 and
 * writes 4 bytes per target and example. Sums of r have eight lanes in one order. */
static double CWB_NAME(mass)(const double *r, int64_t n) {
    cwb_doubles a = cwb_zero(), b = a, c = a, d = a;
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        a = cwb_add(a, cwb_abs(cwb_load(r + i)));
        b = cwb_add(b, cwb_abs(cwb_load(r + i + 8)));
        c = cwb_add(c, cwb_abs(cwb_load(r + i + 16)));
        d = cwb_add(d, cwb_abs(cwb_load(r + i + 24)));
    }
    double sum = cwb_sum(cwb_add(cwb_add(a, b), cwb_add(c, d)));
    for (; i < n; i++) sum += fabs(r[i]);
    return sum;
}

/* The total is exact in any order. */
static double CWB_NAME(total)(const double *r, double scale, int64_t n) {
    const cwb_doubles s = cwb_splat(scale), round = cwb_splat(CWB_ROUND);
    cwb_doubles a = cwb_zero(), b = a;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const cwb_doubles x = cwb_sub(cwb_add(cwb_mul(cwb_load(r + i), s), round), round);
        const cwb_doubles y = cwb_sub(cwb_add(cwb_mul(cwb_load(r + i + 8), s), round), round);
        a = cwb_add(a, x);
        b = cwb_add(b, y);
    }
    double sum = cwb_sum(cwb_add(a, b));
    for (; i < n; i++) sum += cwb_fixed(r[i], scale);
    return sum;
}

/* The edge of packed outputs, in which a set bit is +1. */
static double CWB_NAME(edge)(const double *r, const uint8_t *bits, int64_t n) {
    cwb_doubles sums = cwb_zero();
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const cwb_doubles x = cwb_load(r + i);
        sums = cwb_add(sums, cwb_pick(cwb_mask_at(bits + (i >> 3)), x, cwb_sub(cwb_zero(), x)));
    }
    double sum = cwb_sum(sums);
    for (; i < n; i++) sum += bits[i >> 3] >> (i & 7) & 1 ? r[i] : -r[i];
    return sum;
}

/* k(i) of `count` targets for n <= 8 examples as an 8 x 8 tile, into rows `lanes` numbers apart. */
CWB_INLINE void CWB_NAME(fill_tile)(const cwb_weights *w, int lanes, int64_t n, int32_t *out) {
    for (int t = 0; t < 8; t++) {
        const double *r = w->r + (t < w->n_targets ? t : 0) * w->stride;
        const double scale = t < w->n_targets ? w->scales[t] * CWB_COARSE : 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double rounded = r[i] * scale + CWB_ROUND;
            int64_t word;
            memcpy(&word, &rounded, sizeof word);
            out[i * lanes + t] = (int32_t)word;
        }
    }
}

#if CWB_IS(AVX2) || CWB_IS(AVX512)
/* The same for eight examples: eight registers of a target each, transposed. */
CWB_INLINE void CWB_NAME(fill_whole_tile)(const cwb_weights *w, int lanes, int32_t *out) {
    const __m256d round = _mm256_set1_pd(CWB_ROUND);
    const __m256i low = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    __m256i row[8], pair[8];
    for (int t = 0; t < 8; t++) {
        const double *r = w->r + (t < w->n_targets ? t : 0) * w->stride;
        const __m256d scale = _mm256_set1_pd(t < w->n_targets ? w->scales[t] * CWB_COARSE : 0.0);
        const __m256d a = _mm256_add_pd(_mm256_mul_pd(_mm256_loadu_pd(r), scale), round);
        const __m256d b = _mm256_add_pd(_mm256_mul_pd(_mm256_loadu_pd(r + 4), scale), round);
        /* The low halves of four numbers each. */
        const __m256i first = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(a), low);
        const __m256i last = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(b), low);
        row[t] = _mm256_permute2x128_si256(first, last, 0x20);
    }
    for (int t = 0; t < 8; t += 4)
        for (int k = 0; k < 2; k++) {
            const __m256i a = k ? _mm256_unpackhi_epi32(row[t], row[t + 1])
                                : _mm256_unpacklo_epi32(row[t], row[t + 1]);
            const __m256i b = k ? _mm256_unpackhi_epi32(row[t + 2], row[t + 3])
                                : _mm256_unpacklo_epi32(row[t + 2], row[t + 3]);
            pair[t + 2 * k] = _mm256_unpacklo_epi64(a, b);
            pair[t + 2 * k + 1] = _mm256_unpackhi_epi64(a, b);
        }
    for (int k = 0; k < 4; k++) {
        const __m256i a = _mm256_permute2x128_si256(pair[k], pair[k + 4], 0x20);
        const __m256i b = _mm256_permute2x128_si256(pair[k], pair[k + 4], 0x31);
        _mm256_storeu_si256((__m256i *)(out + k * lanes), a);
        _mm256_storeu_si256((__m256i *)(out + (k + 4) * lanes), b);
    }
}
#else
CWB_INLINE void CWB_NAME(fill_whole_tile)(const cwb_weights *w, int lanes, int32_t *out) {
    CWB_NAME(fill_tile)(w, lanes, 8, out);
}
#endif

/* The rows of examples [from, to). */
static void CWB_NAME(fill_rows)(const cwb_weights *weights, int lanes, int64_t from, int64_t to,
                                int32_t *rows) {
    for (int64_t i = from; i < to; i += 8)
        for (int first = 0; first < lanes; first += 8) {
            const int64_t start = first < weights->n_targets ? first : 0;
            const cwb_weights w = {weights->r + start * weights->stride + i, weights->stride,
                                   weights->scales + start, weights->n_targets - first};
            int32_t *out = rows + i * lanes + first;
            if (to - i >= 8) {
                CWB_NAME(fill_whole_tile)(&w, lanes, out);
            } else {
                CWB_NAME(fill_tile)(&w, lanes, to - i, out);
            }
        }
}
