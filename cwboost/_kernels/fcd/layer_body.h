/* Joint-sign tables of the examples of class b against every class c of one layer (one column per
 * class): tables[c][b][s][t] = sum of mu_(i,c) over these examples with h_b = s and h_c = t
 * (index 1 is +1). Costs n_classes times their number. Threads split the examples, not c, as they
 * do for tiles, so that each reads what it has written. */

#define cwb_joint_sums CWB_NAME(cwb_joint_sums)
#define cwb_joint_add CWB_NAME(cwb_joint_add)
#define cwb_joint_table CWB_NAME(cwb_joint_table)

typedef struct {
    cwb_doubles s00, s01, s10, s11;
} cwb_joint_sums;

/* Eight entries x of R, with the outputs of the columns of b (s) and c (t). One register after the
 * other: with the temporaries of both, AVX2 has too few of them for the sums. */
CWB_INLINE void cwb_joint_add(cwb_joint_sums *sums, cwb_doubles x, cwb_mask s, cwb_mask t) {
    CWB_UNROLL
    for (int k = 0; k < CWB_PARTS; k++) {
        const cwb_register on = cwb_r_keep(t.part[k], x.part[k]);
        const cwb_register off = cwb_r_drop(t.part[k], x.part[k]);
        sums->s00.part[k] = cwb_r_sub_unless(sums->s00.part[k], s.part[k], off);
        sums->s01.part[k] = cwb_r_sub_unless(sums->s01.part[k], s.part[k], on);
        sums->s10.part[k] = cwb_r_sub_where(sums->s10.part[k], s.part[k], off);
        sums->s11.part[k] = cwb_r_sub_where(sums->s11.part[k], s.part[k], on);
    }
}

/* The examples start to end - 1 of one class against class c. The bytes at both ends may hold
 * examples of other classes. Of large data, R is fetched `ahead` entries ahead. */
CWB_INLINE void cwb_joint_table(const double *r, const uint8_t *hb, const uint8_t *hc,
                                int64_t start, int64_t end, int64_t ahead, double *table) {
    const int64_t last = (end - 1) >> 3;
    cwb_joint_sums sums = {cwb_zero(), cwb_zero(), cwb_zero(), cwb_zero()};
    int64_t k = start >> 3;
    for (; k <= last && (8 * k < start || 8 * k + 8 > end); k++) {
        const cwb_doubles x = cwb_keep(cwb_mask_of(cwb_valid(k, start, end)), cwb_load(r + 8 * k));
        cwb_joint_add(&sums, x, cwb_mask_at(hb + k), cwb_mask_at(hc + k));
    }
    for (; 8 * k + 8 <= end; k++) {
        if (ahead) CWB_PREFETCH(r + 8 * k + ahead);
        cwb_joint_add(&sums, cwb_load(r + 8 * k), cwb_mask_at(hb + k), cwb_mask_at(hc + k));
    }
    if (k <= last) {
        const cwb_doubles x = cwb_keep(cwb_mask_of(cwb_valid(k, start, end)), cwb_load(r + 8 * k));
        cwb_joint_add(&sums, x, cwb_mask_at(hb + k), cwb_mask_at(hc + k));
    }
    table[0] = cwb_sum(sums.s00);
    table[1] = cwb_sum(sums.s01);
    table[2] = cwb_sum(sums.s10);
    table[3] = cwb_sum(sums.s11);
}

/* The tables of the examples of the classes first to beyond - 1. Of many small classes, several go
 * together, so that the loop over them reads a row of R from front to back. */
static void CWB_NAME(layer_table)(const cwb_master *m, int64_t first, int64_t beyond,
                                  const uint8_t *const *layer, double *tables) {
    const int64_t ahead = m->n_classes * m->stride < CWB_LARGE ? 0 : CWB_AHEAD;
    for (int64_t c = 0; c < m->n_classes; c++) {
        for (int64_t b = first; b < beyond; b++) {
            double *table = tables + 4 * (c * m->n_classes + b);
            if (b == c || m->starts[b] == m->starts[b + 1]) {
                for (int k = 0; k < 4; k++) table[k] = 0.0;
            } else {
                cwb_joint_table(m->R + c * m->stride, layer[b], layer[c], m->starts[b],
                                m->starts[b + 1], ahead, table);
            }
        }
    }
}
