/* Scores moved by columns of packed outputs: scores[s] += step on set bits, -step on the others.
 *
 * The entries are added in their order, example by example: blocks of examples only keep the
 * scores in the cache while many entries pass over them. */
#pragma once

#include <stdint.h>

#define CWB_VOTE_BYTES 256 /* packed outputs per block: 2,048 examples, 16 kB of a score */

#define CWB_BODY "prediction/votes_body.h"
#include "common/for_each_target.h"

/* Entries e = 0..n-1: steps[e] times the outputs in packed row rows[e] go to target[e]. */
typedef struct {
    const int64_t *row, *target;
    const double *step;
    int64_t n;
} cwb_vote_entries;

/* Add the entries to `scores`. A row of `packed` has n_bytes, one of `scores` 8 n_bytes doubles.
 */
static void cwb_votes(const uint8_t *packed, int64_t n_bytes, const cwb_vote_entries *entries,
                      double *scores) {
    for (int64_t first = 0; first < n_bytes; first += CWB_VOTE_BYTES) {
        const int64_t left = n_bytes - first;
        const int64_t count = left < CWB_VOTE_BYTES ? left : CWB_VOTE_BYTES;
        for (int64_t e = 0; e < entries->n; e++)
            CWB_BEST(vote)(packed + entries->row[e] * n_bytes + first, count, entries->step[e],
                           scores + 8 * (entries->target[e] * n_bytes + first));
    }
}
