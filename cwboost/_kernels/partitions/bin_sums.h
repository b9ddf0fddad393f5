/* Sums of the weights of the examples in every bin of every feature, for some targets at a time.
 *
 * With s_t a power of two and q_t(i) = round(r_t(i) s_t), whose sums are below 2^53,
 *
 *     sum_t(f, b) = sum of q_t(i) over the examples i with code b of feature f
 *
 * is a sum of integers in doubles, hence exact: it does not depend on its order, so that examples
 * may be divided among threads and machines in any way. Costs n n_features lanes additions.
 *
 * The sums of a bin for eight targets, and the weights of an example, lie in one cache line:
 * numbers that cross lines cost more than twice the time. Up to four more targets have sums of
 * their own, which the same pass over the codes adds. More targets take several passes.
 *
 * The sums of two features stay in the first cache while the weights of a block of examples come
 * from the second. */
#ifndef CWBOOST_BIN_SUMS_H
#define CWBOOST_BIN_SUMS_H

#include <stdint.h>
#include <string.h>

#include "common/rounding.h"

#define CWB_LINE 8           /* numbers of a cache line */
#define CWB_MOST_TARGETS 12  /* targets of one pass: a cache line of numbers, and half a line */
#define CWB_BLOCK_ROWS 2048  /* examples whose rounded weights stay in the second cache */
#define CWB_ROUNDED_ROWS 64  /* examples whose weights stay in the first cache */
#define CWB_WEIGHTS_AHEAD 64 /* weights fetched ahead: targets are too many streams to foresee */

typedef struct {
    const double *r; /* r[t * stride + i] */
    int64_t stride;
    const double *scales;
    int n_targets, lanes, more; /* lanes: 2, 4 or 8; more: 0, with 8 lanes 2 or 4 too */
} cwb_targets;

/* Codes of dense features, one row of `code_stride` bytes per feature. */
typedef struct {
    const uint8_t *codes;
    int64_t code_stride, n_features;
    const int64_t *starts; /* of the codes of each feature among those of all */
} cwb_codes;

/* What one pass adds to. */
typedef struct {
    double *sums;    /* of all codes, in lines of `lanes` numbers; then the others, of `more` */
    double *squares; /* of all weights of each target, rounded more coarsely: exact too */
    double *rows;    /* memory for the rounded weights of a block of examples */
} cwb_bin_sums;

typedef struct {
    /* Add the sums over the examples [from, to). */
    void (*bin_sums)(const cwb_targets *w, const cwb_codes *c, int64_t from, int64_t to,
                     const cwb_bin_sums *out);
} cwb_bin_sum_kernels;

#define CWB_BODY "partitions/bin_sums_body.h"
#include "common/for_each_target.h"
static const cwb_bin_sum_kernels *const cwb_bin_sum_tables[] = CWB_TABLES(cwb_bin_sum_kernels);

#endif
