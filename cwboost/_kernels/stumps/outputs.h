/* Outputs of a found stump, written from the sorted column: one flip of a bit per example before
 * the threshold. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "stumps/column_sort.h"

static inline void cwb_flip_rows(const cwb_column *c, int64_t from, int64_t to, uint8_t *bits) {
    for (int64_t p = from; p < to; p++) {
        const int64_t i = cwb_row(c, p);
        bits[i >> 3] ^= (uint8_t)(1u << (i & 7));
    }
}

/* Packed outputs of the stump at `position`: `above` (-1 or +1) after the threshold, -above
 * before it, `missing` for examples without a value. */
static inline void cwb_write_outputs(const cwb_column *c, int64_t position, int above, int missing,
                                     int64_t n_samples, uint8_t *bits) {
    const int64_t visited = c->n_forward + c->n_backward, n_bytes = (n_samples + 7) / 8;
    const int forward = position < c->n_forward;
    /* The output of the side that the walk does not reach, which most examples get. */
    const int rest = forward ? above : -above;
    memset(bits, rest > 0 ? 0xFF : 0, (size_t)n_bytes);
    if (position < visited) cwb_flip_rows(c, forward ? 0 : c->n_forward, position + 1, bits);
    if (missing != rest) cwb_flip_rows(c, visited, visited + c->n_missing, bits);
    if (n_samples & 7) bits[n_bytes - 1] &= (uint8_t)((1u << (n_samples & 7)) - 1);
}
