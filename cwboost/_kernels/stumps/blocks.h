/* The division of a column: chunks of its trace, bins of positions, blocks of examples.
 *
 * A part of a column, forward or backward, is walked in chunks. The trace of a column keeps, for
 * each chunk, the sums at its start and its largest |E| / 2: 2 x lanes numbers. A bin is a run of
 * chunks. A block is a run of examples whose rows of weights fit the second cache. If the rows fit
 * no cache, the entries of a column are also listed block by block, and within a block bin by bin.
 *
 * Cost of the lists: two passes over a column; two bytes per entry.
 */
#ifndef CWBOOST_STUMP_BLOCKS_H
#define CWBOOST_STUMP_BLOCKS_H

#include <stdlib.h>

#include "stumps/column_sort.h"

#define CWB_BIN_CHUNKS 8  /* 4,096 positions */
#define CWB_BLOCK_BITS 13 /* 8,192 examples: rows of 64 bytes take half of the cache */
#define CWB_BLOCK (1 << CWB_BLOCK_BITS)

/* Positions of a chunk: few if memory allows, since settling a column costs at least one chunk. */
static inline int64_t cwb_chunk(const cwb_column *c) {
    return c->n_forward + c->n_backward <= 16384 ? 128 : 512;
}

static inline int64_t cwb_part_chunks(const cwb_column *c, int64_t n) {
    return (n + cwb_chunk(c) - 1) / cwb_chunk(c);
}

/* Number of chunks in the trace of a column; 0 if settling the column is cheap without one. */
static inline int64_t cwb_chunks(const cwb_column *c) {
    if (c->n_missing || c->n_forward + c->n_backward <= 2 * cwb_chunk(c)) return 0;
    return cwb_part_chunks(c, c->n_forward) + cwb_part_chunks(c, c->n_backward);
}

static inline int64_t cwb_part_bins(const cwb_column *c, int64_t n) {
    const int64_t bin = CWB_BIN_CHUNKS * cwb_chunk(c);
    return (n + bin - 1) / bin;
}

/* Number of bins of a column: those of its forward part, then those of its backward part; 0 if it
 * has no trace. */
static inline int64_t cwb_bins(const cwb_column *c) {
    return cwb_chunks(c) ? cwb_part_bins(c, c->n_forward) + cwb_part_bins(c, c->n_backward) : 0;
}

/* Extent of bin k of a column: positions [from, to), and its first chunk in the trace. */
typedef struct {
    int64_t from, to, chunk;
} cwb_bin;

static inline cwb_bin cwb_bin_at(const cwb_column *c, int64_t k) {
    const int64_t length = CWB_BIN_CHUNKS * cwb_chunk(c), forward = cwb_part_bins(c, c->n_forward);
    const int64_t end = k < forward ? c->n_forward : c->n_forward + c->n_backward;
    cwb_bin bin;
    bin.from = k < forward ? k * length : c->n_forward + (k - forward) * length;
    bin.to = end - bin.from < length ? end : bin.from + length;
    bin.chunk = k < forward ? k * CWB_BIN_CHUNKS
                            : cwb_part_chunks(c, c->n_forward) + (k - forward) * CWB_BIN_CHUNKS;
    return bin;
}

/* A column in blocks and bins. Entries of block b in bin k begin at
 * local[starts[b * n_bins + k]]; each is an example's place in its block. */
typedef struct {
    uint16_t *local;
    uint32_t *starts;
    int64_t n_bins;
} cwb_blocked;

/* Sort the entries of a column (32-bit indices) into blocks. Returns 0, or -1 without memory. */
static inline int cwb_block_column(const cwb_column *c, int64_t n_blocks, cwb_blocked *out) {
    const uint32_t *index = (const uint32_t *)c->index;
    const int64_t n_bins = cwb_bins(c), n_lists = n_blocks * n_bins;
    const int64_t visited = c->n_forward + c->n_backward;
    out->n_bins = n_bins;
    if (n_bins == 0) return 0;
    out->local = malloc((size_t)visited * sizeof *out->local);
    out->starts = calloc((size_t)n_lists + 2, sizeof *out->starts);
    if (!out->local || !out->starts) return -1;
    /* Counted two places on: starts[list + 1] is the begin of a list after the sums, and its end
     * after the filling. */
    uint32_t *next = out->starts + 1;
    for (int64_t k = 0; k < n_bins; k++) {
        const cwb_bin bin = cwb_bin_at(c, k);
        for (int64_t p = bin.from; p < bin.to; p++)
            next[(index[p] >> CWB_BLOCK_BITS) * n_bins + k + 1]++;
    }
    for (int64_t list = 0; list < n_lists; list++) next[list + 1] += next[list];
    for (int64_t k = 0; k < n_bins; k++) {
        const cwb_bin bin = cwb_bin_at(c, k);
        for (int64_t p = bin.from; p < bin.to; p++)
            out->local[next[(index[p] >> CWB_BLOCK_BITS) * n_bins + k]++] =
                (uint16_t)(index[p] & (CWB_BLOCK - 1));
    }
    return 0;
}

static inline void cwb_free_blocks(cwb_blocked *c) {
    free(c->local);
    free(c->starts);
}

#endif
