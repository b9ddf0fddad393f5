/* The walk of the search for one stump for all targets (shared.h). */

/* Pass positions [from, to) of a column, whose E_t are in `sums`, and keep the largest sum of
 * |E_t|: of equal ones the first, downwards the last, which has the lowest threshold. */
static void CWB_NAME(shared_walk)(const cwb_together *t, const cwb_column *c, int64_t from,
                                  int64_t to, int downwards, double *sums, cwb_stump *best) {
    for (int64_t p = from; p < to; p++) {
        const double *row = t->rows + cwb_row(c, p) * t->lanes;
        cwb_doubles all = cwb_zero();
        for (int64_t k = 0; k < t->lanes; k += 8) {
            const cwb_doubles sum = cwb_add(cwb_load(sums + k), cwb_load(row + k));
            cwb_store(sums + k, sum);
            all = cwb_add(all, cwb_abs(sum));
        }
        if (!c->last[p]) continue;
        const double edge = cwb_sum(all);
        if (edge > best->edge || (downwards && edge == best->edge)) {
            best->edge = edge;
            best->position = p;
        }
    }
}
