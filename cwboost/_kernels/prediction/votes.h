/* Scores moved by columns of packed outputs: scores[s] += step on set bits, -step on the others.
 *
 * The entries are added in their order, example by example: blocks of examples only keep the
 * scores in the cache while many entries pass over them.
 */
#ifndef CWBOOST_VOTES_H
#define CWBOOST_VOTES_H

#include <stdint.h>

#include "common/simd.h"

#define CWB_VOTE_BYTES 256 /* of packed outputs a block: 2,048 examples, 16 kB of a score */

/* n_bytes of packed outputs onto as many times eight scores. */
CWBOOST_CLONES
static void cwb_vote(const uint8_t *packed, int64_t n_bytes, double step, double *scores) {
    const cwb_i64x8 bit = {1, 2, 4, 8, 16, 32, 64, 128};
    const cwb_i64x8 none = {0};
    const cwb_f64x8 zero = {0};
    const cwb_i64x8 positive = (cwb_i64x8)(zero + step);
    for (int64_t b = 0; b < n_bytes; b++) {
        const cwb_i64x8 outside = ((none + packed[b]) & bit) == none;
        cwb_f64x8 sum;
        memcpy(&sum, scores + 8 * b, sizeof sum);
        sum += (cwb_f64x8)(positive ^ (outside & INT64_MIN));
        memcpy(scores + 8 * b, &sum, sizeof sum);
    }
}

/* Entry e adds step[e] times the outputs in row[e] of packed, n_bytes long each, to the scores
 * target[e] of `scores`, which hold 8 n_bytes examples each. */
static void cwb_votes(const uint8_t *packed, int64_t n_bytes, const int64_t *row,
                      const int64_t *target, const double *step, int64_t n_entries,
                      double *scores) {
    for (int64_t first = 0; first < n_bytes; first += CWB_VOTE_BYTES) {
        const int64_t left = n_bytes - first;
        const int64_t count = left < CWB_VOTE_BYTES ? left : CWB_VOTE_BYTES;
        for (int64_t e = 0; e < n_entries; e++)
            cwb_vote(packed + row[e] * n_bytes + first, count, step[e],
                     scores + 8 * (target[e] * n_bytes + first));
    }
}

#endif
