/* Edges of many columns at once: products of one row of R with packed bits. For the notation see
 * fcd.h.
 *
 * The columns of a class share the row, so sums over four examples are formed once for all 16 ways
 * that the four bits can be set, and a column adds one of them for each of its half bytes: a
 * fraction of its additions, and eight columns look up in one instruction where the processor can
 * permute a vector by another.
 */
#ifndef CWBOOST_FCD_EDGES_H
#define CWBOOST_FCD_EDGES_H

#include "fcd/lanes.h"

#define CWB_EDGE_AHEAD 16 /* columns that are fetched ahead */
#define CWB_EDGE_BLOCK 64 /* bytes of bits: their tables take half of the first cache */

/* tables[16 m + s] = sum of the examples 4 m + b whose bit b is set in s. */
static void cwb_edge_tables_portable(const double *r, int64_t n_bytes, double *tables) {
    for (int64_t m = 0; m < 2 * n_bytes; m++, r += 4, tables += 16) {
        tables[0] = 0.0;
        for (int b = 0; b < 4; b++)
            for (int s = 0; s < 1 << b; s++) tables[s | 1 << b] = tables[s] + r[b];
    }
}

/* One column of a block: low half bytes in one sum, high ones in another. */
static inline double cwb_edge_block(const double *tables, const uint8_t *h, int64_t n_bytes) {
    double low = 0.0, high = 0.0;
    for (int64_t b = 0; b < n_bytes; b++, tables += 32) {
        low += tables[h[b] & 15];
        high += tables[16 + (h[b] >> 4)];
    }
    return low + high;
}

static void cwb_edge_columns_portable(const double *tables, const uint8_t *bits, int64_t stride,
                                      int64_t n_bytes, int64_t n_columns, double *sums) {
    for (int64_t j = 0; j < n_columns; j++)
        sums[j] += cwb_edge_block(tables, bits + j * stride, n_bytes);
}

#ifdef CWBOOST_X86_INTRINSICS
CWBOOST_AVX512
static void cwb_edge_tables_avx512(const double *r, int64_t n_bytes, double *tables) {
    for (int64_t m = 0; m < 2 * n_bytes; m++, r += 4, tables += 16) {
        const __m512d two = _mm512_add_pd(_mm512_maskz_mov_pd(0xaa, _mm512_set1_pd(r[0])),
                                          _mm512_maskz_mov_pd(0xcc, _mm512_set1_pd(r[1])));
        const __m512d three = _mm512_add_pd(two, _mm512_maskz_mov_pd(0xf0, _mm512_set1_pd(r[2])));
        _mm512_storeu_pd(tables, three);
        _mm512_storeu_pd(tables + 8, _mm512_add_pd(three, _mm512_set1_pd(r[3])));
    }
}

/* Eight columns, a lane each: eight bytes of each column at a time, shifted half byte by half byte
 * to the low end of its lane, where they choose among the 16 sums. */
CWBOOST_AVX512
static void cwb_edge_columns_avx512(const double *tables, const uint8_t *bits, int64_t stride,
                                    int64_t n_bytes, int64_t n_columns, double *sums) {
    const int64_t whole = n_bytes & ~(int64_t)7;
    int64_t j = 0;
    for (; j + 8 <= n_columns && whole; j += 8) {
        const uint8_t *h = bits + j * stride;
        const double *table = tables;
        /* A block is a line or two of the cache a column, too few for the processor to foresee. */
        for (int k = 0; k < 8; k++) {
            __builtin_prefetch(h + (CWB_EDGE_AHEAD + k) * stride);
            __builtin_prefetch(h + (CWB_EDGE_AHEAD + k) * stride + n_bytes - 1);
        }
        __m512d low = _mm512_setzero_pd(), high = _mm512_setzero_pd();
        for (int64_t b = 0; b < whole; b += 8, h += 8) {
            int64_t v[8];
            _Pragma("GCC unroll 8") for (int k = 0; k < 8; k++)
                memcpy(&v[k], h + k * stride, 8);
            __m512i at = _mm512_set_epi64(v[7], v[6], v[5], v[4], v[3], v[2], v[1], v[0]);
            _Pragma("GCC unroll 8") for (int k = 0; k < 8; k++, table += 32) {
                low = _mm512_add_pd(low, _mm512_permutex2var_pd(_mm512_loadu_pd(table), at,
                                                                _mm512_loadu_pd(table + 8)));
                const __m512i up = _mm512_srli_epi64(at, 4);
                high = _mm512_add_pd(high, _mm512_permutex2var_pd(_mm512_loadu_pd(table + 16), up,
                                                                  _mm512_loadu_pd(table + 24)));
                at = _mm512_srli_epi64(at, 8);
            }
        }
        double lows[8], highs[8];
        _mm512_storeu_pd(lows, low);
        _mm512_storeu_pd(highs, high);
        for (int k = 0; k < 8; k++) {
            const double *rest = tables + 32 * whole;
            for (int64_t b = 0; b < n_bytes - whole; b++, rest += 32) {
                lows[k] += rest[h[k * stride + b] & 15];
                highs[k] += rest[16 + (h[k * stride + b] >> 4)];
            }
            sums[j + k] += lows[k] + highs[k];
        }
    }
    cwb_edge_columns_portable(tables, bits + j * stride, stride, n_bytes, n_columns - j, sums + j);
}
#endif

/* edges[j] = sum_i r_i h_j(i) of columns j = 0..n_columns-1 (rows of `bits`): twice the sum over
 * set bits less the sum of all. Costs n / 4 a column, and 4n. */
static void cwb_edges(const double *r, int64_t n_bytes, const uint8_t *bits, int64_t stride,
                      int64_t n_columns, double *edges) {
    double tables[32 * CWB_EDGE_BLOCK] __attribute__((aligned(64)));
    double total = 0.0;
    for (int64_t j = 0; j < n_columns; j++) edges[j] = 0.0;
    for (int64_t first = 0; first < n_bytes; first += CWB_EDGE_BLOCK) {
        const int64_t n = n_bytes - first < CWB_EDGE_BLOCK ? n_bytes - first : CWB_EDGE_BLOCK;
#ifdef CWBOOST_X86_INTRINSICS
        if (__builtin_cpu_supports("avx512dq")) {
            cwb_edge_tables_avx512(r + 8 * first, n, tables);
            cwb_edge_columns_avx512(tables, bits + first, stride, n, n_columns, edges);
        } else
#endif
        {
            cwb_edge_tables_portable(r + 8 * first, n, tables);
            cwb_edge_columns_portable(tables, bits + first, stride, n, n_columns, edges);
        }
        for (int64_t m = 0; m < 2 * n; m++) total += tables[16 * m + 15];
    }
    for (int64_t j = 0; j < n_columns; j++) edges[j] = 2.0 * edges[j] - total;
}

#endif
