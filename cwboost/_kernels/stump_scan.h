/* The scan of a stump search: the largest |edge| of one feature, for many targets at once.
 *
 * Weights are fixed-point numbers here. For target t with mass m = sum_i |r(i)|, let s = 2^e be
 * the power of two that brings m into (2^50, 2^51] (1 - 2^-8). Then
 *
 *     q(i) = round(r(i) s)             a double that holds an integer: sums are exact
 *     k(i) = round(r(i) s 2^-20)       an int32; |k(i) - 2^-20 q(i)| <= 1/2 + 2^-21
 *
 * so that no sum depends on its order, on the vector width or on the number of threads.
 * A stump that is +1 above a threshold has the edge E = T - 2 P, with T the sum over all examples
 * and P the sum over those at or below it; entering from above, E = 2 S - T with S the sum over
 * those above. The scan walks a column (column_sort.h) with the int32 rows of all targets and
 * keeps max |E| / 2 over the ends of blocks. An int32 sum over m examples is off by at most
 * m (1/2 + 2^-21), which bounds the error of the scan whatever the weights; the columns within
 * that bound of the best are then settled in q (stump_settle.h).
 */
#ifndef CWBOOST_STUMP_SCAN_H
#define CWBOOST_STUMP_SCAN_H

#include <math.h>

#include "column_sort.h"
#include "simd.h"

#define CWB_SCAN_VECTOR 8      /* int32 lanes of a vector: 256 bits */
#define CWB_SCAN_MAX_VECTORS 4 /* so many accumulators and maxima stay in 16 registers */
#define CWB_SCAN_MAX_PAIRS 4   /* with 512 bits, two of these vectors at a time: in 32 registers */

/* A part of a column, forward or backward, is walked in chunks. The trace of a column keeps, for
 * each chunk, the sums at its start and its largest |E| / 2: 2 x lanes numbers. Chunks are short
 * where that is no matter of memory, since settling a column costs a chunk at least. */
static inline int64_t cwb_chunk(const cwb_column *c)
{
    return c->n_forward + c->n_backward <= 16384 ? 128 : 512;
}

static inline int64_t cwb_part_chunks(const cwb_column *c, int64_t n)
{
    return (n + cwb_chunk(c) - 1) / cwb_chunk(c);
}

/* Chunks in the trace of a column; none where settling it costs little anyway. */
static inline int64_t cwb_chunks(const cwb_column *c)
{
    if (c->n_missing || c->n_forward + c->n_backward <= 2 * cwb_chunk(c)) return 0;
    return cwb_part_chunks(c, c->n_forward) + cwb_part_chunks(c, c->n_backward);
}

/* lanes = 8 x vectors; rows: n_samples x lanes; half: -T/2 of each lane; best: out; trace: out,
 * where cwb_chunks() is not 0. */
typedef void (*cwb_scan)(const int32_t *rows, const cwb_column *c, const int32_t *half,
                         int32_t *best, int32_t *trace);

/* Vector operations in plain GCC vectors, then the same as AVX2 intrinsics: compilers do not see
 * |x| and max through the plain form. */
typedef int32_t cwb_scan_plain __attribute__((vector_size(32), aligned(4), may_alias));
typedef int8_t cwb_scan_bytes __attribute__((vector_size(32)));
#define CWB_WIDTH_PLAIN CWB_SCAN_VECTOR
#define CWB_PLAIN_LOAD(p) (*(const cwb_scan_plain *)(p))
#define CWB_PLAIN_STORE(p, a) (*(cwb_scan_plain *)(p) = (a))
#define CWB_PLAIN_ADD(a, b) ((a) + (b))
#define CWB_PLAIN_ABS(a) (((a) ^ ((a) >> 31)) - ((a) >> 31))
#define CWB_PLAIN_MAX(a, b) (((a) & ((a) > (b))) | ((b) & ~((a) > (b))))
#define CWB_PLAIN_AND(a, b) ((a) & (b))
#define CWB_PLAIN_SPREAD(byte) ((cwb_scan_plain)((cwb_scan_bytes){0} + (int8_t)(byte)))

#if defined(__x86_64__) && defined(__GNUC__)
#define CWB_SCAN_HAS_AVX2 1
#include <immintrin.h>
#define CWB_WIDTH_AVX2 CWB_SCAN_VECTOR
#define CWB_AVX2_LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define CWB_AVX2_STORE(p, a) _mm256_storeu_si256((__m256i *)(p), a)
#define CWB_AVX2_ADD(a, b) _mm256_add_epi32(a, b)
#define CWB_AVX2_ABS(a) _mm256_abs_epi32(a)
#define CWB_AVX2_MAX(a, b) _mm256_max_epi32(a, b)
#define CWB_AVX2_AND(a, b) _mm256_and_si256(a, b)
#define CWB_AVX2_SPREAD(byte) _mm256_set1_epi8((char)(byte))
#define CWB_WIDTH_AVX512 (2 * CWB_SCAN_VECTOR)
#define CWB_AVX512_LOAD(p) _mm512_loadu_si512(p)
#define CWB_AVX512_STORE(p, a) _mm512_storeu_si512(p, a)
#define CWB_AVX512_ADD(a, b) _mm512_add_epi32(a, b)
#define CWB_AVX512_ABS(a) _mm512_abs_epi32(a)
#define CWB_AVX512_MAX(a, b) _mm512_max_epi32(a, b)
#define CWB_AVX512_AND(a, b) _mm512_and_si512(a, b)
#define CWB_AVX512_SPREAD(byte) _mm512_set1_epi8((char)(byte))
#endif

/* Walk positions [from, to) of a column. The flag of a position is a mask over the maximum: the
 * loop has no branch to mispredict. */
#define CWB_SCAN_WALK(OPS, INDEX, NV)                                                             \
    for (int v = 0; v < NV; v++) sum[v] = start[v];                                               \
    while (from < to) {                                                                           \
        const int64_t chunk_end = to - from < chunk ? to : from + chunk;                          \
        for (int v = 0; v < NV; v++) {                                                            \
            if (traced) CWB_##OPS##_STORE(trace + v * CWB_WIDTH_##OPS, sum[v]);                   \
            top[v] = CWB_##OPS##_AND(start[v], CWB_##OPS##_SPREAD(0));                            \
        }                                                                                         \
        for (int64_t p = from; p < chunk_end; p++) {                                              \
            const int32_t *row = rows + (int64_t)index[p] * (NV * CWB_WIDTH_##OPS);               \
            const CWB_VEC_##OPS end = CWB_##OPS##_SPREAD(c->last[p]);                             \
            __builtin_prefetch(rows +                                                             \
                               (int64_t)index[p + CWB_READ_AHEAD] * (NV * CWB_WIDTH_##OPS));      \
            for (int v = 0; v < NV; v++) {                                                        \
                sum[v] = CWB_##OPS##_ADD(sum[v], CWB_##OPS##_LOAD(row + v * CWB_WIDTH_##OPS));    \
                top[v] = CWB_##OPS##_MAX(CWB_##OPS##_AND(CWB_##OPS##_ABS(sum[v]), end), top[v]);  \
            }                                                                                     \
        }                                                                                         \
        for (int v = 0; v < NV; v++) {                                                            \
            if (traced) CWB_##OPS##_STORE(trace + (NV + v) * CWB_WIDTH_##OPS, top[v]);            \
            all[v] = CWB_##OPS##_MAX(all[v], top[v]);                                             \
        }                                                                                         \
        if (traced) trace += 2 * NV * CWB_WIDTH_##OPS;                                            \
        from = chunk_end;                                                                         \
    }

#define CWB_VEC_PLAIN cwb_scan_plain
#define CWB_VEC_AVX2 __m256i
#define CWB_VEC_AVX512 __m512i

#define CWB_SCAN_COLUMN(NAME, OPS, TARGET, INDEX, NV)                                             \
    TARGET static void NAME(const int32_t *rows, const cwb_column *c, const int32_t *half,        \
                            int32_t *best, int32_t *trace)                                        \
    {                                                                                             \
        const int traced = cwb_chunks(c) > 0;                                                     \
        const int64_t chunk = cwb_chunk(c);                                                       \
        const INDEX *index = (const INDEX *)c->index;                                             \
        int32_t shifted[NV * CWB_WIDTH_##OPS], extra[NV * CWB_WIDTH_##OPS];                       \
        CWB_VEC_##OPS start[NV], sum[NV], top[NV], all[NV];                                       \
        const int64_t n_visited = c->n_forward + c->n_backward;                                   \
        if (c->n_missing)                                                                         \
            half = cwb_scan_missing(rows, NV * CWB_WIDTH_##OPS, c, sizeof(INDEX) == 4, half,      \
                                    shifted, extra, best);                                        \
        for (int v = 0; v < NV; v++) {                                                            \
            start[v] = CWB_##OPS##_LOAD(half + v * CWB_WIDTH_##OPS);                              \
            all[v] = CWB_##OPS##_AND(start[v], CWB_##OPS##_SPREAD(0));                            \
        }                                                                                         \
        int64_t from = 0, to = c->n_forward;                                                      \
        CWB_SCAN_WALK(OPS, INDEX, NV)                                                             \
        to = n_visited;                                                                           \
        CWB_SCAN_WALK(OPS, INDEX, NV)                                                             \
        if (!c->n_missing) {                                                                      \
            for (int v = 0; v < NV; v++) CWB_##OPS##_STORE(best + v * CWB_WIDTH_##OPS, all[v]);   \
            return;                                                                               \
        }                                                                                         \
        for (int v = 0; v < NV; v++) CWB_##OPS##_STORE(shifted + v * CWB_WIDTH_##OPS, all[v]);    \
        cwb_scan_add_missing(NV * CWB_WIDTH_##OPS, shifted, extra, best);                         \
    }

/* Missing values take the side that agrees with the sign of their sum M: they add |M| to any
 * split of the present ones, whose total is T - M. best starts as the split of present against
 * missing, |E| / 2 = |M - T/2|; shifted is -(T - M)/2; extra is |M|/2. */
static const int32_t *cwb_scan_missing(const int32_t *rows, int lanes, const cwb_column *c,
                                       int wide, const int32_t *half, int32_t *shifted,
                                       int32_t *extra, int32_t *best)
{
    const int64_t first = c->n_forward + c->n_backward;
    for (int l = 0; l < lanes; l++) {
        int64_t sum = 0;
        for (int64_t p = first; p < first + c->n_missing; p++) {
            const int64_t i = wide ? ((const uint32_t *)c->index)[p]
                                   : ((const uint16_t *)c->index)[p];
            sum += rows[i * lanes + l];
        }
        shifted[l] = (int32_t)(half[l] + (sum >> 1));
        extra[l] = (int32_t)((sum < 0 ? -sum : sum) >> 1);
        const int64_t apart = sum + half[l];
        best[l] = (int32_t)(apart < 0 ? -apart : apart);
    }
    return shifted;
}

static void cwb_scan_add_missing(int lanes, const int32_t *top, const int32_t *extra,
                                 int32_t *best)
{
    for (int l = 0; l < lanes; l++) {
        const int32_t sum = top[l] + extra[l];
        if (sum > best[l]) best[l] = sum;
    }
}

/* MAKE(name, OPS, TARGET, INDEX, NV) for both widths of an index and one to four vectors, and a table
 * of the names. */
#define CWB_ALL_WIDTHS(MAKE, PREFIX, OPS, TARGET)                                                 \
    CWB_WIDTHS_OF(MAKE, PREFIX##_##OPS##_u16, OPS, TARGET, uint16_t)                              \
    CWB_WIDTHS_OF(MAKE, PREFIX##_##OPS##_u32, OPS, TARGET, uint32_t)
#define CWB_WIDTHS_OF(MAKE, NAME, OPS, TARGET, INDEX)                                             \
    MAKE(NAME##_1, OPS, TARGET, INDEX, 1)                                                         \
    MAKE(NAME##_2, OPS, TARGET, INDEX, 2)                                                         \
    MAKE(NAME##_3, OPS, TARGET, INDEX, 3)                                                         \
    MAKE(NAME##_4, OPS, TARGET, INDEX, 4)
#define CWB_TABLE_OF(PREFIX, OPS)                                                                 \
    {{PREFIX##_##OPS##_u16_1, PREFIX##_##OPS##_u16_2, PREFIX##_##OPS##_u16_3,                     \
      PREFIX##_##OPS##_u16_4},                                                                    \
     {PREFIX##_##OPS##_u32_1, PREFIX##_##OPS##_u32_2, PREFIX##_##OPS##_u32_3,                     \
      PREFIX##_##OPS##_u32_4}}

CWB_ALL_WIDTHS(CWB_SCAN_COLUMN, cwb_scan, PLAIN, )
#ifdef CWB_SCAN_HAS_AVX2
CWB_ALL_WIDTHS(CWB_SCAN_COLUMN, cwb_scan, AVX2, __attribute__((target("avx2"))))
CWB_ALL_WIDTHS(CWB_SCAN_COLUMN, cwb_scan, AVX512, __attribute__((target("avx512f,avx512bw"))))
#endif

/* Whether rows of so many vectors are walked two vectors at a time: not where half of one would go
 * to waste and the rows be longer for it. */
static inline int cwb_scan_in_pairs(int64_t n_vectors, int plain)
{
#ifdef CWB_SCAN_HAS_AVX2
    return !plain && n_vectors != 1 && n_vectors != 3 && __builtin_cpu_supports("avx512bw");
#else
    (void)n_vectors;
    (void)plain;
    return 0;
#endif
}

/* The scan for rows of so many vectors, in the widest version that the processor runs; `plain`
 * asks for the portable one, `pairs` for what cwb_scan_in_pairs has found. */
static inline cwb_scan cwb_scan_pick(int wide, int vectors, int pairs, int plain)
{
    static const cwb_scan portable[2][CWB_SCAN_MAX_VECTORS] = CWB_TABLE_OF(cwb_scan, PLAIN);
#ifdef CWB_SCAN_HAS_AVX2
    static const cwb_scan avx2[2][CWB_SCAN_MAX_VECTORS] = CWB_TABLE_OF(cwb_scan, AVX2);
    static const cwb_scan avx512[2][CWB_SCAN_MAX_PAIRS] = CWB_TABLE_OF(cwb_scan, AVX512);
    if (pairs) return avx512[wide != 0][vectors / 2 - 1];
    if (!plain && __builtin_cpu_supports("avx2")) return avx2[wide != 0][vectors - 1];
#else
    (void)pairs;
    (void)plain;
#endif
    return portable[wide != 0][vectors - 1];
}

/* Fixed point: masses, scales, rows. */

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
