/* Sums of weights per category, for eight targets at a time.
 *
 * A category stump of target t is -1 or +1 on every category c of a feature, so its edge is
 *
 *     sum over c of sign_c S(c, t),   S(c, t) = sum over the examples i of category c of r_t(i),
 *
 * and the best one has the sign of S(c, t) on every category: its edge is the sum of |S(c, t)|.
 * Missing values are a category of their own.
 *
 * Cost: one addition of eight numbers per example. The sums are added in the order of the
 * examples, so their bits depend neither on the vector width nor on the number of threads.
 */
#pragma once

#include <stdint.h>

#define CWB_CATEGORY_LANES 8

#define CWB_BODY "stumps/categories_body.h"
#include "common/for_each_target.h"

/* Up to eight rows of weights, `stride` numbers apart, side by side: rows[8 i + t]; lanes without
 * a target are 0. */
static inline void cwb_rows_side_by_side(const double *weights, int64_t stride, int64_t n_targets,
                                         int64_t from, int64_t to, double *rows) {
    for (int64_t i = from; i < to; i++)
        for (int64_t t = 0; t < CWB_CATEGORY_LANES; t++)
            rows[CWB_CATEGORY_LANES * i + t] = t < n_targets ? weights[t * stride + i] : 0.0;
}
