/* Loops over arrays, which compilers turn into vectors; see pairs.h. */

/* At first[split], `width` numbers `step` apart for each code, the sums of the codes on the left.
 */
CWB_INLINE void CWB_NAME(sum_left)(double *first, const cwb_coarse *f, int64_t step,
                                   const int64_t width) {
    double *missing = first + f->n_bins * step;
    for (double *bin = first + step; bin < missing; bin += step)
        for (int64_t w = 0; w < width; w++) bin[w] += bin[w - step];
    if (f->n_codes == f->n_bins) return;
    /* Downwards, since the first split takes the place of the missing values. */
    for (int64_t b = f->n_bins - 1; b >= 0; b--)
        for (int64_t w = 0; w < width; w++)
            missing[b * step + w] = first[b * step + w] + missing[w];
}

CWB_INLINE void CWB_NAME(sum_in_lanes)(const cwb_coarse *outer, const cwb_coarse *inner,
                                       const double *rows, int64_t n, int64_t stride, double *sums,
                                       const int64_t lanes) {
    for (int64_t i = 0; i < n; i++) {
        double *cell = sums + outer->codes[i] * stride + inner->codes[i] * lanes;
        for (int64_t l = 0; l < lanes; l++) cell[l] += rows[i * lanes + l];
    }
    for (int64_t a = 0; a < outer->n_codes; a++)
        CWB_NAME(sum_left)(sums + a * stride, inner, lanes, lanes);
}

/* sums[outer split][(inner split, lane)] = sum of rows[(i, lane)] over the rows on the left of both
 * splits; lanes are 1, 2, 4 or 8, and a row of sums begins every `stride`. */
static void CWB_NAME(pair_sums)(const cwb_coarse *outer, const cwb_coarse *inner,
                                const double *rows, int64_t n, int64_t lanes, int64_t stride,
                                double *sums) {
    memset(sums, 0, sizeof(double) * cwb_n_splits(outer) * stride);
    if (lanes == 1)
        CWB_NAME(sum_in_lanes)(outer, inner, rows, n, stride, sums, 1);
    else if (lanes == 2)
        CWB_NAME(sum_in_lanes)(outer, inner, rows, n, stride, sums, 2);
    else if (lanes == 4)
        CWB_NAME(sum_in_lanes)(outer, inner, rows, n, stride, sums, 4);
    else
        CWB_NAME(sum_in_lanes)(outer, inner, rows, n, stride, sums, 8);
    CWB_NAME(sum_left)(sums, outer, stride, stride);
}

/* Let the roots of one feature know a child, number `place`, from sums[child split][(root split,
 * lane)]; `both`, for eight numbers per child split, gets those of both sides of the root. */
static void CWB_NAME(try_child)(const double *sums, int64_t n_child, int64_t n_root, int64_t lanes,
                                int64_t stride, double *both, int32_t place, cwb_roots known) {
    const int64_t width = n_root * lanes;
    for (int64_t t = 0; t < n_child; t++)
        for (int64_t l = 0; l < 8; l++)
            both[8 * t + l] = sums[t * stride + width - lanes + l % lanes];
    const cwb_doubles half = cwb_splat(0.5), all = cwb_load(both + 8 * (n_child - 1));
    for (int64_t w = 0; w < width; w += 8) {
        const cwb_doubles left = cwb_load(sums + (n_child - 1) * stride + w);
        const cwb_doubles half_left = cwb_mul(half, left);
        const cwb_doubles half_right = cwb_mul(half, cwb_sub(all, left));
        cwb_doubles edge[2] = {cwb_zero(), cwb_zero()};
        for (int64_t t = 0; t < n_child; t++) {
            const cwb_doubles p = cwb_load(sums + t * stride + w);
            const cwb_doubles q = cwb_sub(cwb_load(both + 8 * t), p);
            edge[0] = cwb_max(cwb_abs(cwb_sub(p, half_left)), edge[0]);
            edge[1] = cwb_max(cwb_abs(cwb_sub(q, half_right)), edge[1]);
        }
        for (int side = 0; side < 2; side++) {
            double most[8];
            cwb_store(most, cwb_add(edge[side], edge[side]));
            double *best = known.edge + side * width + w;
            int32_t *child = known.child + side * width + w;
            for (int64_t l = 0; l < 8 && w + l < width; l++)
                if (most[l] > best[l] || (most[l] == best[l] && place < child[l])) {
                    best[l] = most[l];
                    child[l] = place;
                }
        }
    }
}

/* turned[inner split][(outer split, lane)] of sums[outer split][(inner split, lane)]. */
static void CWB_NAME(turn_sums)(const double *sums, int64_t n_outer, int64_t n_inner, int64_t lanes,
                                int64_t stride, int64_t turned_stride, double *turned) {
    for (int64_t a = 0; a < n_outer; a++)
        for (int64_t b = 0; b < n_inner; b++)
            memcpy(turned + b * turned_stride + a * lanes, sums + a * stride + b * lanes,
                   sizeof(double) * lanes);
}
