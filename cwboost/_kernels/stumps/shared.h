/* One stump for all targets: max over h of sum_t |sum_i r_t(i) h(x_i)|.
 *
 * The same walk as in stump_scan.h, with all targets on one scale, so that the |E_t| / 2 of a
 * position can be added up. Missing values take one side for all targets: a column that has some
 * is walked twice, with their sum M on either side.
 */
#ifndef CWBOOST_STUMP_SHARED_H
#define CWBOOST_STUMP_SHARED_H

#include "stumps/settle.h"

/* Add sum over lanes of |start + prefix| to `sums`, a number a position of [from, to). */
typedef void (*cwb_shared_walk)(const int32_t *rows, const cwb_column *c, int64_t from, int64_t to,
                                const int32_t *start, int32_t *sums);

#define CWB_SHARED_WALK(NAME, OPS, TARGET, INDEX, NV)                                             \
    TARGET static void NAME(const int32_t *rows, const cwb_column *c, int64_t from, int64_t to,   \
                            const int32_t *start, int32_t *sums)                                  \
    {                                                                                             \
        const INDEX *index = (const INDEX *)c->index;                                             \
        CWB_VEC_##OPS sum[NV];                                                                    \
        for (int v = 0; v < NV; v++) sum[v] = CWB_##OPS##_LOAD(start + v * CWB_SCAN_VECTOR);      \
        for (int64_t p = from; p < to; p++) {                                                     \
            const int32_t *row = rows + (int64_t)index[p] * (NV * CWB_SCAN_VECTOR);               \
            int32_t lanes[CWB_SCAN_VECTOR], total = 0;                                            \
            for (int v = 0; v < NV; v++)                                                          \
                sum[v] = CWB_##OPS##_ADD(sum[v], CWB_##OPS##_LOAD(row + v * CWB_SCAN_VECTOR));    \
            CWB_VEC_##OPS all = CWB_##OPS##_ABS(sum[0]);                                          \
            for (int v = 1; v < NV; v++) all = CWB_##OPS##_ADD(all, CWB_##OPS##_ABS(sum[v]));     \
            CWB_##OPS##_STORE(lanes, all);                                                        \
            for (int l = 0; l < CWB_SCAN_VECTOR; l++) total += lanes[l];                          \
            sums[p - from] += total;                                                              \
        }                                                                                         \
    }

CWB_ALL_WIDTHS(CWB_SHARED_WALK, cwb_shared, PLAIN, )
#ifdef CWB_SCAN_HAS_AVX2
CWB_ALL_WIDTHS(CWB_SHARED_WALK, cwb_shared, AVX2, __attribute__((target("avx2"))))
#endif

static cwb_shared_walk cwb_shared_pick(int wide, int vectors)
{
    static const cwb_shared_walk portable[2][CWB_SCAN_MAX_VECTORS] = CWB_TABLE_OF(cwb_shared, PLAIN);
#ifdef CWB_SCAN_HAS_AVX2
    static const cwb_shared_walk avx2[2][CWB_SCAN_MAX_VECTORS] = CWB_TABLE_OF(cwb_shared, AVX2);
    if (__builtin_cpu_supports("avx2")) return avx2[wide != 0][vectors - 1];
#endif
    return portable[wide != 0][vectors - 1];
}

/* All rows of the targets: slices of so many vectors, one behind the other. */
typedef struct {
    const int32_t *rows;
    const int32_t *half; /* -T/2, a number a lane */
    int64_t n_samples;
    int64_t n_vectors;
    int wide;
} cwb_shared_rows;

static inline int64_t cwb_slice_vectors(int64_t n_vectors, int64_t first)
{
    const int64_t left = n_vectors - first;
    return left < CWB_SCAN_MAX_VECTORS ? left : CWB_SCAN_MAX_VECTORS;
}

/* Largest sum of |E_t| / 2 over the splits of a column; scratch holds n_samples sums. */
static int32_t cwb_shared_scan(const cwb_shared_rows *r, const cwb_column *c, int32_t *scratch)
{
    const int64_t middle = c->n_forward, end = middle + c->n_backward;
    int64_t apart = 0;
    int32_t best = 0;
    for (int side = 0; side < (c->n_missing ? 2 : 1); side++) {
        memset(scratch, 0, (size_t)end * sizeof *scratch);
        apart = 0;
        for (int64_t first = 0; first < r->n_vectors; first += CWB_SCAN_MAX_VECTORS) {
            const int64_t vectors = cwb_slice_vectors(r->n_vectors, first);
            const int lanes = (int)vectors * CWB_SCAN_VECTOR;
            const int32_t *rows = r->rows + first * CWB_SCAN_VECTOR * r->n_samples;
            const int32_t *half = r->half + first * CWB_SCAN_VECTOR;
            int32_t with_missing[CWB_SCAN_MAX_VECTORS * CWB_SCAN_VECTOR];
            for (int l = 0; l < lanes; l++) {
                int64_t sum = half[l];
                for (int64_t p = end; p < end + c->n_missing; p++)
                    sum += rows[cwb_row(c, r->wide, p) * lanes + l];
                with_missing[l] = (int32_t)sum;
                apart += sum < 0 ? -sum : sum;
            }
            const cwb_shared_walk walk = cwb_shared_pick(r->wide, (int)vectors);
            walk(rows, c, 0, middle, side ? with_missing : half, scratch);
            walk(rows, c, middle, end, side ? half : with_missing, scratch + middle);
        }
        for (int64_t p = 0; p < end; p++) {
            const int32_t sum = scratch[p] & -(int32_t)(c->last[p] != 0);
            if (sum > best) best = sum;
        }
    }
    if (c->n_missing && apart > best) best = (int32_t)apart;
    return best;
}

/* The same, exact: units of 1/scale for |E|. `sums` holds a number a target. above is 1 always;
 * missing is the output of missing values, 0 where there are none. */
static void cwb_shared_start(const double *w, int64_t stride, int64_t n_targets, double scale,
                             const double *totals, const cwb_column *c, int wide, int with_missing,
                             double *sums)
{
    const int64_t end = c->n_forward + c->n_backward;
    for (int64_t t = 0; t < n_targets; t++) {
        sums[t] = -totals[t];
        for (int64_t p = end; with_missing && p < end + c->n_missing; p++)
            sums[t] += 2.0 * cwb_fixed(w[t * stride + cwb_row(c, wide, p)], scale);
    }
}

static double cwb_shared_step(const double *w, int64_t stride, int64_t n_targets, double scale,
                              int64_t row, double *sums)
{
    double all = 0.0;
    for (int64_t t = 0; t < n_targets; t++) {
        if (row >= 0) sums[t] += 2.0 * cwb_fixed(w[t * stride + row], scale);
        all += fabs(sums[t]);
    }
    return all;
}

static cwb_stump cwb_shared_settle(const double *w, int64_t stride, int64_t n_targets,
                                   double scale, const double *totals, const cwb_column *c,
                                   int wide, double *sums)
{
    const int64_t middle = c->n_forward, end = middle + c->n_backward;
    cwb_stump s = {-1.0, 1.0, 0.0, -1};
    for (int side = 1; side >= (c->n_missing ? -1 : 1); side -= 2) {
        /* Missing values above (side 1) count with the part that is walked downwards. */
        double down = -1.0;
        int64_t down_position = -1;
        cwb_shared_start(w, stride, n_targets, scale, totals, c, wide, side < 0, sums);
        for (int64_t p = 0; p < middle; p++) {
            const double all =
                cwb_shared_step(w, stride, n_targets, scale, cwb_row(c, wide, p), sums);
            if (all > s.edge && c->last[p]) {
                s.edge = all;
                s.position = p;
                s.missing = side;
            }
        }
        cwb_shared_start(w, stride, n_targets, scale, totals, c, wide, side > 0, sums);
        for (int64_t p = middle; p < end; p++) {
            const double all =
                cwb_shared_step(w, stride, n_targets, scale, cwb_row(c, wide, p), sums);
            if (all >= down && c->last[p]) {
                down = all;
                down_position = p;
            }
        }
        if (down > s.edge) {
            s.edge = down;
            s.position = down_position;
            s.missing = side;
        }
    }
    if (c->n_missing == 0) return s;
    cwb_shared_start(w, stride, n_targets, scale, totals, c, wide, 1, sums);
    const double apart = cwb_shared_step(w, stride, n_targets, scale, -1, sums);
    if (apart > s.edge) {
        s.edge = apart;
        s.position = end;
        s.missing = 1.0;
    }
    return s;
}

#endif
