/* A stump search where the rows of all targets do not fit the caches.
 *
 * Walking a column in sorted order then costs a line of memory an entry. So the entries are looked
 * at twice. Block by block of examples (stump_blocks.h), in the order of memory, come the sums
 *
 *     S = sum of k(i),   M = sum of |k(i)|        over the examples of a bin, for every target
 *
 * (for k see stump_scan.h). With P = (M + S) / 2 and N = (M - S) / 2, the sums of the positive and
 * of the negative k, a walk that enters a bin at e = -T/2 + (all S before) stays within
 *
 *     e - N <= -T/2 + prefix <= e + P,    hence   |E| / 2 <= max(e + P, N - e),
 *
 * and only bins in which this bound reaches what is already sure are walked, in sorted order. All
 * of these sums of integers are exact: bins that are left out hold no stump that could win, and
 * the winner is the same as without them, to the bit.
 */
#ifndef CWBOOST_STUMP_BINS_H
#define CWBOOST_STUMP_BINS_H

#include "stumps/blocks.h"

/* Add the entries of one block to the bins of a column: a bin is S of all lanes, then M. */
typedef void (*cwb_bin_sums)(const int32_t *rows, const cwb_blocked *c, int64_t block,
                             int32_t *bins);

/* Walk positions [from, to) of a column, whose sums stand at `start`; the largest |E| / 2 goes
 * into `best` where it exceeds what is there, and every chunk into the trace. */
typedef void (*cwb_walk)(const int32_t *rows, const cwb_column *c, int64_t from, int64_t to,
                         const int32_t *start, int32_t *best, int32_t *trace);

#define CWB_BIN_SUMS(NAME, OPS, TARGET, INDEX, NV)                                                \
    TARGET static void NAME(const int32_t *rows, const cwb_blocked *c, int64_t block,             \
                            int32_t *bins)                                                        \
    {                                                                                             \
        const uint32_t *starts = c->starts + block * c->n_bins;                                   \
        CWB_VEC_##OPS sum[NV], mass[NV];                                                          \
        rows += (block << CWB_BLOCK_BITS) * (NV * CWB_WIDTH_##OPS);                               \
        for (int64_t k = 0; k < c->n_bins; k++, bins += 2 * NV * CWB_WIDTH_##OPS) {               \
            for (int v = 0; v < NV; v++) {                                                        \
                sum[v] = CWB_##OPS##_LOAD(bins + v * CWB_WIDTH_##OPS);                            \
                mass[v] = CWB_##OPS##_LOAD(bins + (NV + v) * CWB_WIDTH_##OPS);                    \
            }                                                                                     \
            for (uint32_t e = starts[k]; e < starts[k + 1]; e++) {                                \
                const int32_t *row = rows + (int64_t)c->local[e] * (NV * CWB_WIDTH_##OPS);        \
                for (int v = 0; v < NV; v++) {                                                    \
                    const CWB_VEC_##OPS x = CWB_##OPS##_LOAD(row + v * CWB_WIDTH_##OPS);          \
                    sum[v] = CWB_##OPS##_ADD(sum[v], x);                                          \
                    mass[v] = CWB_##OPS##_ADD(mass[v], CWB_##OPS##_ABS(x));                       \
                }                                                                                 \
            }                                                                                     \
            for (int v = 0; v < NV; v++) {                                                        \
                CWB_##OPS##_STORE(bins + v * CWB_WIDTH_##OPS, sum[v]);                            \
                CWB_##OPS##_STORE(bins + (NV + v) * CWB_WIDTH_##OPS, mass[v]);                    \
            }                                                                                     \
        }                                                                                         \
    }

#define CWB_WALK_RANGE(NAME, OPS, TARGET, INDEX, NV)                                              \
    TARGET static void NAME(const int32_t *rows, const cwb_column *c, int64_t from, int64_t to,   \
                            const int32_t *begin, int32_t *best, int32_t *trace)                  \
    {                                                                                             \
        const int traced = 1;                                                                     \
        const int64_t chunk = cwb_chunk(c);                                                       \
        const INDEX *index = (const INDEX *)c->index;                                             \
        CWB_VEC_##OPS start[NV], sum[NV], top[NV], all[NV];                                       \
        for (int v = 0; v < NV; v++) {                                                            \
            start[v] = CWB_##OPS##_LOAD(begin + v * CWB_WIDTH_##OPS);                             \
            all[v] = CWB_##OPS##_LOAD(best + v * CWB_WIDTH_##OPS);                                \
        }                                                                                         \
        CWB_SCAN_WALK(OPS, INDEX, NV)                                                             \
        for (int v = 0; v < NV; v++) CWB_##OPS##_STORE(best + v * CWB_WIDTH_##OPS, all[v]);       \
    }

/* Blocks hold 16-bit places; the columns themselves are wide. */
#define CWB_BINS_OF(OPS, TARGET)                                                                  \
    CWB_WIDTHS_OF(CWB_BIN_SUMS, cwb_bin_sums_##OPS, OPS, TARGET, uint16_t)                        \
    CWB_WIDTHS_OF(CWB_WALK_RANGE, cwb_walk_##OPS, OPS, TARGET, uint32_t)
#define CWB_BINS_TABLE(PREFIX) {PREFIX##_1, PREFIX##_2, PREFIX##_3, PREFIX##_4}

CWB_BINS_OF(PLAIN, )
#ifdef CWB_SCAN_HAS_AVX2
CWB_BINS_OF(AVX2, __attribute__((target("avx2"))))
CWB_BINS_OF(AVX512, __attribute__((target("avx512f,avx512bw"))))
#endif

/* The two for rows of so many vectors: as cwb_scan_pick. */
static inline void cwb_bins_pick(int vectors, int pairs, int plain, cwb_bin_sums *sums,
                                 cwb_walk *walk)
{
    static const cwb_bin_sums plain_sums[] = CWB_BINS_TABLE(cwb_bin_sums_PLAIN);
    static const cwb_walk plain_walk[] = CWB_BINS_TABLE(cwb_walk_PLAIN);
    *sums = plain_sums[vectors - 1];
    *walk = plain_walk[vectors - 1];
#ifdef CWB_SCAN_HAS_AVX2
    static const cwb_bin_sums sums2[] = CWB_BINS_TABLE(cwb_bin_sums_AVX2);
    static const cwb_bin_sums sums512[] = CWB_BINS_TABLE(cwb_bin_sums_AVX512);
    static const cwb_walk walk2[] = CWB_BINS_TABLE(cwb_walk_AVX2);
    static const cwb_walk walk512[] = CWB_BINS_TABLE(cwb_walk_AVX512);
    if (pairs) {
        *sums = sums512[vectors / 2 - 1];
        *walk = walk512[vectors / 2 - 1];
    } else if (!plain && __builtin_cpu_supports("avx2")) {
        *sums = sums2[vectors - 1];
        *walk = walk2[vectors - 1];
    }
#else
    (void)pairs;
    (void)plain;
#endif
}

/* Turn the sums S and M of a column's bins into where a walk enters each and its bound there. */
static void cwb_bin_bounds(const cwb_column *c, int64_t lanes, const int32_t *half, int32_t *bins)
{
    const int64_t n_bins = cwb_bins(c), forward = cwb_part_bins(c, c->n_forward);
    for (int64_t l = 0; l < lanes; l++) {
        int32_t *bin = bins + l;
        int64_t enter = half[l];
        for (int64_t k = 0; k < n_bins; k++, bin += 2 * lanes) {
            if (k == forward) enter = half[l];
            const int64_t sum = bin[0], mass = (uint32_t)bin[lanes];
            const int64_t above = enter + (mass + sum) / 2, below = (mass - sum) / 2 - enter;
            bin[0] = (int32_t)enter;
            bin[lanes] = (int32_t)(above > below ? above : below);
            enter += sum;
        }
    }
}

/* Whether bin k may hold a winner of some target, whose |E| / 2 is `sure` at least. Its bound is
 * off by at most `error`, as the sums of a scan are. */
static inline int cwb_bin_counts(const int32_t *bins, int64_t k, int64_t lanes, const double *sure,
                                 double error)
{
    const int32_t *bound = bins + (2 * k + 1) * lanes;
    int counts = 0;
    for (int64_t l = 0; l < lanes; l++) counts |= bound[l] + error >= sure[l];
    return counts;
}

/* Walk bin k of a column, which cwb_bin_bounds has seen; returns how many positions it has. */
static inline int64_t cwb_walk_bin(cwb_walk walk, const int32_t *rows, const cwb_column *c,
                                   int64_t k, int64_t lanes, const int32_t *bins, int32_t *best,
                                   int32_t *trace)
{
    const cwb_bin bin = cwb_bin_at(c, k);
    walk(rows, c, bin.from, bin.to, bins + 2 * k * lanes, best, trace + 2 * bin.chunk * lanes);
    return bin.to - bin.from;
}

/* Mark the chunks of a bin as without a stump that could win. */
static inline void cwb_leave_bin(const cwb_column *c, int64_t k, int64_t lanes, int32_t *trace)
{
    const cwb_bin bin = cwb_bin_at(c, k);
    const int64_t n_chunks = (bin.to - bin.from + cwb_chunk(c) - 1) / cwb_chunk(c);
    memset(trace + 2 * bin.chunk * lanes, 0, (size_t)(2 * n_chunks * lanes) * sizeof *trace);
}

#endif
