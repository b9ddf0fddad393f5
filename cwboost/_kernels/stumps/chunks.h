/* The division of a column into chunks.
 *
 * A part of a column, forward or backward, is walked in chunks. The trace of a column keeps, for
 * each chunk, the sums at its start and its largest |E| / 2: 2 x lanes numbers. */
#pragma once

#include "stumps/column_sort.h"

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
