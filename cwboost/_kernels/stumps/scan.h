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

#include "stumps/column_sort.h"
#include "common/simd.h"

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

/* How far |E| / 2 of a scan, in units of 2^20 / scale, may be from the true one:
 * m (1/2 + 2^-21) for the sums, 1/2 for -T/2, 1 for the halves of M. */
static inline double cwb_scan_bound(const cwb_column *c)
{
    return 0.500001 * (double)(c->n_forward + c->n_backward + c->n_missing) + 2.0;
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

#endif
