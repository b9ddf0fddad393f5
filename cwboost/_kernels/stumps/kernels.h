/* Kernels of the stump search, in fixed-point numbers.
 *
 * For target t with mass m = sum_i |r(i)|, let s = 2^e be the power of two that brings m into
 * (2^50, 2^51] (1 - 2^-8). Then
 *
 *     q(i) = round(r(i) s)             a double that holds an integer: sums are exact
 *     k(i) = round(r(i) s 2^-20)       an int32; |k(i) - 2^-20 q(i)| <= 1/2 + 2^-21
 *
 * so that no sum depends on its order, on the vector width or on the number of threads.
 *
 * A stump that is +1 above a threshold has the edge E = T - 2 P, with T the sum over all examples
 * and P the sum over those at or below it; entering from above, E = 2 S - T with S the sum over
 * those above. The scan (scan_body.h) walks a column with the int32 rows of all targets and keeps
 * max |E| / 2. Its error is bounded whatever the weights; the columns within that bound of the
 * best are settled in q (settle_body.h).
 *
 * Bodies are compiled once per instruction set, see common/targets.h; all give the same bits.
 */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/rounding.h"
#include "stumps/chunks.h"

#define CWB_COARSE 0x1p-20
#define CWB_VECTOR 8      /* int32 numbers per group of targets */
#define CWB_SCAN_LANES 64 /* most lanes of a row, with any instruction set */

/* The weights of some targets: r[t * stride + i]. */
typedef struct {
    const double *r;
    int64_t stride;
    const double *scales;
    int64_t n_targets;
} cwb_weights;

/* The weights of one target. */
typedef struct {
    const double *r;
    double scale, total;
} cwb_target;

/* k(i) of up to `lanes` targets, sample-major: rows[i * lanes + t], zeros after the last target.
 */
typedef struct {
    const int32_t *rows;
    const int32_t *half; /* -T/2 of each lane */
    int lanes;           /* a multiple of CWB_VECTOR */
} cwb_rows;

/* 2 q(i) of targets with one scale: rows[i * lanes + t], zeros after the last target. */
typedef struct {
    const double *rows;
    const double *totals; /* T of each lane */
    int64_t lanes;        /* a multiple of 8 */
} cwb_together;

typedef struct {
    double edge;      /* |E|, in units of 1/scale; -1 if the column has no split */
    double above;     /* E over the examples with a value: its sign is the output above */
    double missing;   /* sum over the missing examples: its sign is their output */
    int64_t position; /* of the last example that is walked before the threshold; n_forward +
                         n_backward for present against missing */
} cwb_stump;

/* One lane of the trace of a scan; `least` is the |E| / 2, in units of 2^20 / scale, that a chunk
 * that holds the winner must reach. `alone`: no other stump can win; `doubt` is the largest
 * difference of edges that sums from a trace cannot resolve. */
typedef struct {
    const int32_t *trace;
    int64_t lanes, lane;
    double least, doubt;
    int alone;
} cwb_traced;

/* Bound on the error of |E| / 2 of a scan, in units of 2^20 / scale:
 * m (1/2 + 2^-21) for the sums, 1/2 for -T/2, 1 for the halves of M. */
static inline double cwb_scan_bound(const cwb_column *c) {
    return 0.500001 * (double)(c->n_forward + c->n_backward + c->n_missing) + 2.0;
}

#define CWB_BODY "stumps/kernels_body.h"
#include "common/for_each_target.h"
