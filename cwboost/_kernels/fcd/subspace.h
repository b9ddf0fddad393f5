/* First and second derivatives of the loss along directions in the space of the coefficients,
 * known by what they do to the scores. For the notation see fcd.h. */
#ifndef CWBOOST_FCD_SUBSPACE_H
#define CWBOOST_FCD_SUBSPACE_H

#include "fcd/lanes.h"

#define CWB_MOST_DIRECTIONS 3
#define CWB_DIRECTION_SUMS 9 /* first derivatives, then the second: (0,0) (0,1) (0,2) (1,1) .. */

/* The share of class c in the derivatives along D_k = scores[k] - scores[k + 1], k < n: sums over
 * pairs of mu g_k and mu g_k g_l with g_k = D_k,c(i) - D_k,y_i(i). */
CWBOOST_INLINE void cwb_directions(const double *R, const double *const *scores, int n,
                                   int64_t stride, int64_t c, const int64_t *starts,
                                   int64_t n_classes, double *out) {
    const cwb_f64x8 zero = {0};
    cwb_f64x8 sums[CWB_DIRECTION_SUMS];
    for (int k = 0; k < CWB_DIRECTION_SUMS; k++) sums[k] = zero;
    for (int64_t y = 0; y < n_classes; y++) {
        if (y == c) continue;
        for (int64_t b = starts[y] >> 3; 8 * b < starts[y + 1]; b++) {
            const cwb_i64x8 valid = cwb_lanes(cwb_valid(b, starts[y], starts[y + 1]));
            const cwb_f64x8 mu = cwb_where(valid, -cwb_load(R + c * stride + 8 * b));
            cwb_f64x8 at[CWB_MOST_DIRECTIONS + 1], g[CWB_MOST_DIRECTIONS];
            for (int k = 0; k <= n; k++)
                at[k] = cwb_load(scores[k] + c * stride + 8 * b) -
                        cwb_load(scores[k] + y * stride + 8 * b);
            for (int k = 0; k < n; k++) g[k] = at[k] - at[k + 1];
            int next = n;
            for (int k = 0; k < n; k++) {
                const cwb_f64x8 weighted = mu * g[k];
                sums[k] += weighted;
                for (int l = k; l < n; l++) sums[next++] += weighted * g[l];
            }
        }
    }
    for (int k = 0; k < CWB_DIRECTION_SUMS; k++) out[k] = cwb_sum(sums[k]);
}

/* For each number of directions a body of its own, whose sums stay in registers. */
CWBOOST_CLONES
static void cwb_direction_sums(const double *R, const double *const *scores, int n,
                               int64_t stride, int64_t c, const int64_t *starts,
                               int64_t n_classes, double *out) {
    if (n == 1) cwb_directions(R, scores, 1, stride, c, starts, n_classes, out);
    if (n == 2) cwb_directions(R, scores, 2, stride, c, starts, n_classes, out);
    if (n == 3) cwb_directions(R, scores, 3, stride, c, starts, n_classes, out);
}

/* scores[0] += sum over k < n of steps[k] D_k, in place. */
CWBOOST_CLONES
static void cwb_advance(double *present, const double *const *scores, int n, const double *steps,
                        int64_t size) {
    for (int64_t i = 0; i < size; i += 8) {
        cwb_f64x8 newer = cwb_load(present + i), sum = newer;
        for (int k = 0; k < n; k++) {
            const cwb_f64x8 older = cwb_load(scores[k + 1] + i);
            sum += cwb_splat(steps[k]) * (newer - older);
            newer = older;
        }
        cwb_store(present + i, sum);
    }
}

#endif
