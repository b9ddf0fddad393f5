/* Sums over the rows of a node, see node_sums.h. */
#include "common/sums_up_to.h"

static void CWB_NAME(below)(const uint8_t *codes, const double *w, int64_t n, uint8_t last,
                            double *out) {
    out[2] = (double)CWB_NAME(sums_up_to)(codes, w, n, last, out, out + 1);
}

static void CWB_NAME(totals)(const double *w, int64_t n, double *out) {
    double sum = 0.0, mass = 0.0, squares = 0.0;
    int64_t i = 0;
    if (n >= 8) {
        cwb_doubles sums = cwb_zero(), masses = cwb_zero(), all_squares = cwb_zero();
        const cwb_doubles rounds = cwb_splat(CWB_ROUND), coarse = cwb_splat(CWB_COARSE);
        for (; i + 8 <= n; i += 8) {
            const cwb_doubles own = cwb_load(w + i);
            const cwb_doubles q = cwb_sub(cwb_add(cwb_mul(own, coarse), rounds), rounds);
            sums = cwb_add(sums, own);
            masses = cwb_add(masses, cwb_abs(own));
            all_squares = cwb_add(all_squares, cwb_mul(q, q));
        }
        sum = cwb_sum(sums);
        mass = cwb_sum(masses);
        squares = cwb_sum(all_squares);
    }
    for (; i < n; i++) {
        const double q = (w[i] * CWB_COARSE + CWB_ROUND) - CWB_ROUND;
        sum += w[i];
        mass += fabs(w[i]);
        squares += q * q;
    }
    out[0] = sum;
    out[1] = mass;
    out[2] = (double)n;
    out[3] = squares;
}

static void CWB_NAME(range)(const uint8_t *codes, int64_t n, int32_t *low, int32_t *high) {
    uint8_t smallest = codes[0], largest = codes[0];
    for (int64_t i = 1; i < n; i++) {
        smallest = codes[i] < smallest ? codes[i] : smallest;
        largest = codes[i] > largest ? codes[i] : largest;
    }
    *low = smallest;
    *high = largest;
}

#if CWB_IS(AVX512)
/* If all codes of a row are in one register and bytes can be permuted there: row k of eight leaves
 * the code of feature j in byte 8 j + k, all without a load per code. */
__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi,bmi,bmi2,popcnt"))) static void
CWB_NAME(gather_eight)(const uint8_t *by_row, int64_t stride, const int32_t *rows, int64_t n,
                       const int32_t *features, int64_t n_features, uint8_t *out) {
    const __mmask64 whole = ~UINT64_C(0) >> (64 - stride), first = UINT64_C(0x0101010101010101);
    uint64_t words[8] = {0};
    int64_t i = 0;
    for (int64_t j = 0; j < n_features; j++)
        words[j] = (uint64_t)features[j] * UINT64_C(0x0101010101010101);
    const __m512i from = _mm512_loadu_si512(words);
    for (; i + 8 <= n; i += 8) {
        __m512i even = _mm512_setzero_si512(), odd = even;
        CWB_UNROLL
        for (int k = 0; k < 8; k += 2) {
            const __m512i one = _mm512_maskz_loadu_epi8(whole, by_row + rows[i + k] * stride);
            const __m512i two = _mm512_maskz_loadu_epi8(whole, by_row + rows[i + k + 1] * stride);
            CWB_PREFETCH(by_row + rows[i + k + CWB_AHEAD] * stride);
            CWB_PREFETCH(by_row + rows[i + k + 1 + CWB_AHEAD] * stride);
            even = _mm512_mask_permutexvar_epi8(even, first << k, from, one);
            odd = _mm512_mask_permutexvar_epi8(odd, first << (k + 1), from, two);
        }
        _mm512_storeu_si512(words, _mm512_or_si512(even, odd));
        for (int64_t j = 0; j < n_features; j++) memcpy(out + j * n + i, words + j, 8);
    }
    for (; i < n; i++)
        for (int64_t j = 0; j < n_features; j++)
            out[j * n + i] = by_row[rows[i] * stride + features[j]];
}
#endif

static void CWB_NAME(gather)(const uint8_t *by_row, int64_t stride, const int32_t *rows, int64_t n,
                             const int32_t *features, int64_t n_features, uint8_t *out) {
#if CWB_IS(AVX512)
    if (stride <= 64 && __builtin_cpu_supports("avx512vbmi")) {
        for (int64_t j = 0; j < n_features; j += 8)
            CWB_NAME(gather_eight)(by_row, stride, rows, n, features + j,
                                   n_features - j < 8 ? n_features - j : 8, out + j * n);
        return;
    }
#endif
    cwb_gather_rows(by_row, stride, rows, n, features, n_features, out);
}

static int64_t CWB_NAME(divide)(const uint8_t *codes, int64_t n, uint8_t first, uint8_t width,
                                cwb_divided *own) {
    int32_t *rows = own->rows, *other_rows = own->other_rows;
    double *w = own->w, *other_w = own->other_w;
    int64_t i = 0, n_left = 0, n_right = 0;
#if CWB_IS(AVX512)
    const __m128i firsts = _mm_set1_epi8((char)first), widths = _mm_set1_epi8((char)width);
    for (; i + 16 <= n; i += 16) {
        const __m128i past = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(codes + i)), firsts);
        const unsigned right = _mm_cmplt_epu8_mask(past, widths), left = right ^ 0xffff;
        const int counts[2] = {__builtin_popcount(right & 0xff), __builtin_popcount(right >> 8)};
        const __m512i row = _mm512_loadu_si512(rows + i);
        const __m512d half[2] = {_mm512_loadu_pd(w + i), _mm512_loadu_pd(w + i + 8)};
        /* What stays is written over what has been read; the rest has just its place. */
        _mm512_storeu_si512(rows + n_left, _mm512_maskz_compress_epi32((__mmask16)left, row));
        _mm512_mask_storeu_epi32(other_rows + n_right,
                                 (__mmask16)((1u << (counts[0] + counts[1])) - 1),
                                 _mm512_maskz_compress_epi32((__mmask16)right, row));
        CWB_UNROLL
        for (int k = 0; k < 2; k++) {
            const __mmask8 there = (__mmask8)(right >> (8 * k)), here = (__mmask8)~there;
            _mm512_storeu_pd(w + n_left, _mm512_maskz_compress_pd(here, half[k]));
            _mm512_mask_storeu_pd(other_w + n_right, (__mmask8)((1u << counts[k]) - 1),
                                  _mm512_maskz_compress_pd(there, half[k]));
            n_left += 8 - counts[k];
            n_right += counts[k];
        }
    }
#endif
    for (; i < n; i++) {
        const int right = (uint8_t)(codes[i] - first) < width;
        /* Without a branch, which would be mispredicted. */
        const int32_t row = rows[i];
        const double weight = w[i];
        other_rows[n_right] = row;
        other_w[n_right] = weight;
        rows[n_left] = row;
        w[n_left] = weight;
        n_right += right;
        n_left += !right;
    }
    memcpy(rows + n_left, other_rows, (size_t)n_right * sizeof *rows);
    memcpy(w + n_left, other_w, (size_t)n_right * sizeof *w);
    return n_left;
}

static const cwb_node_kernels CWB_NAME(cwb_node_kernels) = {
    .below = CWB_NAME(below),
    .totals = CWB_NAME(totals),
    .range = CWB_NAME(range),
    .gather = CWB_NAME(gather),
    .divide = CWB_NAME(divide),
};
