/* Joint-sign tables of the examples of class b against every class c of one layer (one column per
 * class): tables[c][b][s][t] = sum of mu_(i,c) over these examples with h_b = s and h_c = t
 * (index 1 is +1). Costs n_classes times their number. Threads split the examples, not c, as they
 * do for tiles, so that each reads what it has written. */
static void CWB_NAME(layer_table)(const cwb_master *m, int64_t b, const uint8_t *const *layer,
                                  double *tables) {
    const int64_t start = m->starts[b], end = m->starts[b + 1];
    const uint8_t *hb = layer[b];
    for (int64_t c = 0; c < m->n_classes; c++) {
        const double *r = m->R + c * m->stride;
        const uint8_t *hc = layer[c];
        cwb_doubles s00 = cwb_zero(), s01 = cwb_zero(), s10 = cwb_zero(), s11 = cwb_zero();
        for (int64_t k = start >> 3; b != c && 8 * k < end; k++) {
            cwb_doubles x = cwb_load(r + 8 * k);
            /* The bytes at both ends may hold examples of other classes. */
            if (8 * k < start || 8 * k + 8 > end)
                x = cwb_keep(cwb_mask_of(cwb_valid(k, start, end)), x);
            const cwb_mask s = cwb_mask_at(hb + k), t = cwb_mask_at(hc + k), not_s = cwb_not(s);
            const cwb_doubles on = cwb_keep(t, x), off = cwb_keep(cwb_not(t), x);
            s00 = cwb_sub_where(s00, not_s, off);
            s01 = cwb_sub_where(s01, not_s, on);
            s10 = cwb_sub_where(s10, s, off);
            s11 = cwb_sub_where(s11, s, on);
        }
        double *table = tables + 4 * (c * m->n_classes + b);
        table[0] = cwb_sum(s00);
        table[1] = cwb_sum(s01);
        table[2] = cwb_sum(s10);
        table[3] = cwb_sum(s11);
    }
}
