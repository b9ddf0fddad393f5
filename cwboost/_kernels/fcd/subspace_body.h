/* The bodies of subspace.h. */

#define cwb_sums_along CWB_NAME(cwb_sums_along)

/* The share of class c in the derivatives along n directions D_k = scores[k] - scores[k + 1]: sums
 * over pairs of mu g_k and mu g_k g_l with g_k = D_k,c(i) - D_k,y_i(i). */
CWB_INLINE void cwb_sums_along(const cwb_directions *d, int n, int64_t c, double *out) {
    cwb_doubles sums[CWB_DIRECTION_SUMS];
    CWB_UNROLL
    for (int k = 0; k < CWB_DIRECTION_SUMS; k++) sums[k] = cwb_zero();
    for (int64_t y = 0; y < d->n_classes; y++) {
        const int64_t start = d->starts[y], end = d->starts[y + 1];
        for (int64_t b = start >> 3; y != c && 8 * b < end; b++) {
            const cwb_mask valid = cwb_mask_of(cwb_valid(b, start, end));
            const cwb_doubles r = cwb_keep(valid, cwb_load(d->R + c * d->stride + 8 * b));
            const cwb_doubles mu = cwb_sub(cwb_zero(), r);
            cwb_doubles at[CWB_MOST_DIRECTIONS + 1], g[CWB_MOST_DIRECTIONS];
            CWB_UNROLL
            for (int k = 0; k <= n; k++)
                at[k] = cwb_sub(cwb_load(d->scores[k] + c * d->stride + 8 * b),
                                cwb_load(d->scores[k] + y * d->stride + 8 * b));
            CWB_UNROLL
            for (int k = 0; k < n; k++) g[k] = cwb_sub(at[k], at[k + 1]);
            int next = n;
            CWB_UNROLL
            for (int k = 0; k < n; k++) {
                const cwb_doubles weighted = cwb_mul(mu, g[k]);
                sums[k] = cwb_add(sums[k], weighted);
                CWB_UNROLL
                for (int l = k; l < n; l++) {
                    sums[next] = cwb_add(sums[next], cwb_mul(weighted, g[l]));
                    next++;
                }
            }
        }
    }
    CWB_UNROLL
    for (int k = 0; k < CWB_DIRECTION_SUMS; k++) out[k] = cwb_sum(sums[k]);
}

/* One body per number of directions, so that its sums stay in registers. */
static void CWB_NAME(direction_sums)(const cwb_directions *d, int64_t c, double *out) {
    if (d->n == 1) cwb_sums_along(d, 1, c, out);
    if (d->n == 2) cwb_sums_along(d, 2, c, out);
    if (d->n == 3) cwb_sums_along(d, 3, c, out);
}

/* scores[0] += sum over k < n of steps[k] D_k, in place; `size` doubles, a multiple of eight. */
static void CWB_NAME(advance)(double *present, const double *const *scores, int n,
                              const double *steps, int64_t size) {
    for (int64_t i = 0; i < size; i += 8) {
        cwb_doubles newer = cwb_load(present + i), sum = newer;
        for (int k = 0; k < n; k++) {
            const cwb_doubles older = cwb_load(scores[k + 1] + i);
            sum = cwb_add(sum, cwb_mul(cwb_splat(steps[k]), cwb_sub(newer, older)));
            newer = older;
        }
        cwb_store(present + i, sum);
    }
}
