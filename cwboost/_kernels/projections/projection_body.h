/* The sums of projection.h; `width` is the row length of W, a multiple of CWB_PROJ_LANES. */
#include "common/lanes.h"

/* Registers of columns per group: with four rows per register, the sums stay in registers. */
#define CWB_AT_ONCE (CWB_PARTS < 2 ? CWB_PARTS : 2)

/* Adds eight columns for four rows of d doubles to sums[8 * row + column]. Row p of w has the
 * entries of feature[p]. */
static void CWB_NAME(project_rows)(const double *x, int64_t d, const double *w,
                                   const int32_t *feature, int64_t count, double *sums) {
    for (int part = 0; part < CWB_PARTS; part += CWB_AT_ONCE) {
        const double *column = w + CWB_LANES * part;
        cwb_register s[CWB_PROJ_ROWS][CWB_AT_ONCE];
        CWB_UNROLL
        for (int row = 0; row < CWB_PROJ_ROWS; row++) {
            CWB_UNROLL
            for (int v = 0; v < CWB_AT_ONCE; v++)
                s[row][v] = cwb_r_load(sums + CWB_PROJ_LANES * row + CWB_LANES * (part + v));
        }
        for (int64_t p = 0; p < count; p++) {
            CWB_UNROLL
            for (int row = 0; row < CWB_PROJ_ROWS; row++) {
                const cwb_register value = cwb_r_splat(x[row * d + feature[p]]);
                CWB_UNROLL
                for (int v = 0; v < CWB_AT_ONCE; v++) {
                    const cwb_register entry =
                        cwb_r_load(column + CWB_PROJ_LANES * p + CWB_LANES * v);
                    s[row][v] = s[row][v] + value * entry;
                }
            }
        }
        CWB_UNROLL
        for (int row = 0; row < CWB_PROJ_ROWS; row++) {
            CWB_UNROLL
            for (int v = 0; v < CWB_AT_ONCE; v++)
                cwb_r_store(sums + CWB_PROJ_LANES * row + CWB_LANES * (part + v), s[row][v]);
        }
    }
}

/* `n` registers of columns, from `first` on, of one row that is given by its non-zeros. */
CWB_INLINE void CWB_NAME(project_group)(const double *value, const int32_t *feature, int64_t count,
                                        const double *w, int64_t width, double *sums, const int n) {
    cwb_register s[4];
    CWB_UNROLL
    for (int v = 0; v < n; v++) s[v] = cwb_r_splat(0.0);
    for (int64_t p = 0; p < count; p++) {
        const double *row = w + feature[p] * width;
        const cwb_register x = cwb_r_splat(value[p]);
        CWB_UNROLL
        for (int v = 0; v < n; v++) s[v] = s[v] + x * cwb_r_load(row + CWB_LANES * v);
    }
    CWB_UNROLL
    for (int v = 0; v < n; v++) cwb_r_store(sums + CWB_LANES * v, s[v]);
}

/* All columns of one row, given by its non-zeros. */
static void CWB_NAME(project_stored)(const double *value, const int32_t *feature, int64_t count,
                                     const double *w, int64_t width, double *sums) {
    int64_t first = 0;
    for (; first + 4 * CWB_LANES <= width; first += 4 * CWB_LANES)
        CWB_NAME(project_group)(value, feature, count, w + first, width, sums + first, 4);
    for (; first < width; first += CWB_LANES)
        CWB_NAME(project_group)(value, feature, count, w + first, width, sums + first, 1);
}

/* Whether an entry of a row is not finite, or fewer than `few` are not zero. */
static int CWB_NAME(unknown_or_fewer)(const double *row, int64_t d, double few) {
    int64_t count = 0, unknown = 0;
    for (int64_t k = 0; k < d; k++) {
        count += row[k] != 0.0;
        unknown |= fabs(row[k]) <= DBL_MAX ? 0 : 1;
    }
    return unknown || (double)count < few;
}

#undef CWB_AT_ONCE
