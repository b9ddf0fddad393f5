/* Sums of the weights of the examples in every bin of every feature, for some targets at a time.
 *
 * With s_t a power of two and q_t(i) = round(r_t(i) s_t), whose sums are below 2^53,
 *
 *     out[(start_f + b) lanes + t] = sum of q_t(i) over the examples i with code b of feature f
 *
 * is a sum of integers in doubles, hence exact: it does not depend on its order, so that examples
 * may be divided among threads and machines in any way. Costs n n_features lanes additions.
 *
 * The sums of a bin, and the weights of an example, lie in one cache line: numbers that cross lines
 * cost more than twice the time. More targets take several passes. */
#ifndef CWBOOST_BIN_SUMS_H
#define CWBOOST_BIN_SUMS_H

#include <stdint.h>

#define CWB_MOST_TARGETS 8 /* targets of one pass: a cache line of numbers */
#define CWB_BLOCK_ROWS 256 /* examples whose rounded weights stay in the first cache */

typedef struct {
    const double *r; /* r[t * stride + i] */
    int64_t stride;
    const double *scales;
    int n_targets, lanes; /* lanes: 2, 4 or 8, at least n_targets */
} cwb_targets;

/* Codes of dense features, one row of `code_stride` bytes per feature. */
typedef struct {
    const uint8_t *codes;
    int64_t code_stride, n_features;
    const int64_t *starts; /* of the codes of each feature among those of all */
} cwb_codes;

typedef struct {
    /* Add the sums over the examples [from, to) to `out`. */
    void (*bin_sums)(const cwb_targets *w, const cwb_codes *c, int64_t from, int64_t to,
                     double *out);
    /* Write the rounded weights of the examples [from, to), `lanes` numbers per example. */
    void (*rounded)(const cwb_targets *w, int64_t from, int64_t to, double *rows);
    /* Write the sums of squares of all weights, rounded more coarsely: integers, exact too. */
    void (*squares)(const cwb_targets *w, int64_t n, double *out);
} cwb_bin_sum_kernels;

#define CWB_BODY "partitions/bin_sums_body.h"
#include "common/for_each_target.h"
static const cwb_bin_sum_kernels *const cwb_bin_sum_tables[] = CWB_TABLES(cwb_bin_sum_kernels);

#endif
