/* Exact search of one column for one target, which decides between stumps.
 *
 * Sums are of q(i) (kernels.h): integers below 2^53 in doubles, hence exact, so that equal
 * partitions of the examples have equal edges and ties are ties. Among equal edges the lowest
 * threshold wins. Cost: one addition per position; with a trace, only in chunks that may hold the
 * winner, and a faster sum in the chunks between these.
 *
 * The functions with `wide` are inlined, where it is constant. */
CWB_INLINE int64_t CWB_NAME(row_at)(const cwb_column *c, int64_t p, const int wide) {
    return wide ? (int64_t)((const uint32_t *)c->index)[p]
                : (int64_t)((const uint16_t *)c->index)[p];
}

/* Sum of q over the missing examples. */
CWB_INLINE double CWB_NAME(missing_sum)(const cwb_target *t, const cwb_column *c) {
    const int64_t first = c->n_forward + c->n_backward;
    double sum = 0.0;
    for (int64_t p = first; p < first + c->n_missing; p++)
        sum += cwb_fixed(t->r[cwb_row(c, p)], t->scale);
    return sum;
}

/* The best split of the examples with a value, whose total is `present`. */
CWB_INLINE cwb_stump CWB_NAME(settle_present)(const cwb_target *t, const cwb_column *c,
                                              double present, const int wide) {
    const int64_t middle = c->n_forward, end = middle + c->n_backward;
    cwb_stump up = {-1.0, 0.0, 0.0, -1}, down = up;
    double sum = present;
    for (int64_t p = 0; p < middle; p++) {
        sum -= 2.0 * cwb_fixed(t->r[CWB_NAME(row_at)(c, p, wide)], t->scale);
        if (fabs(sum) > up.edge && c->last[p]) {
            up.edge = fabs(sum);
            up.above = sum;
            up.position = p;
        }
    }
    sum = -present;
    for (int64_t p = middle; p < end; p++) {
        sum += 2.0 * cwb_fixed(t->r[CWB_NAME(row_at)(c, p, wide)], t->scale);
        if (fabs(sum) >= down.edge && c->last[p]) {
            down.edge = fabs(sum);
            down.above = sum;
            down.position = p;
        }
    }
    return down.edge > up.edge ? down : up;
}

static cwb_stump CWB_NAME(settle_column)(const cwb_target *t, const cwb_column *c) {
    const double missing = CWB_NAME(missing_sum)(t, c), present = t->total - missing;
    cwb_stump s = c->wide ? CWB_NAME(settle_present)(t, c, present, 1)
                          : CWB_NAME(settle_present)(t, c, present, 0);
    s.missing = missing;
    if (c->n_missing == 0) return s;
    if (s.position >= 0) s.edge += fabs(missing);
    if (missing * present < 0.0 && fabs(missing) + fabs(present) > s.edge) {
        s.edge = fabs(missing) + fabs(present);
        s.above = -present;
        s.position = c->n_forward + c->n_backward;
    }
    return s;
}

/* Sum of q over positions [from, to), exact, in eight sums at a time. */
CWB_INLINE double CWB_NAME(skip)(const cwb_target *t, const cwb_column *c, int64_t from, int64_t to,
                                 const int wide) {
    const cwb_doubles scale = cwb_splat(t->scale), round = cwb_splat(CWB_ROUND);
    cwb_doubles sums = cwb_zero();
    int64_t p = from;
    for (; p + 8 <= to; p += 8) {
        double x[8];
        for (int l = 0; l < 8; l++) x[l] = t->r[CWB_NAME(row_at)(c, p + l, wide)];
        sums = cwb_add(sums, cwb_sub(cwb_add(cwb_mul(cwb_load(x), scale), round), round));
    }
    double sum = cwb_sum(sums);
    for (; p < to; p++) sum += cwb_fixed(t->r[CWB_NAME(row_at)(c, p, wide)], t->scale);
    return sum;
}

/* Results of a walk over chunks. */
typedef struct {
    cwb_stump best;
    double sum, up, down; /* at the present position; the largest; the largest of -sum */
} CWB_NAME(walked);

/* Walk positions [from, to). Downwards, of equal edges the last has the lowest threshold. */
CWB_INLINE void CWB_NAME(walk_chunk)(const cwb_target *t, const cwb_column *c, int64_t from,
                                     int64_t to, const int downwards, const int wide,
                                     CWB_NAME(walked) * seen) {
    CWB_NAME(walked) s = *seen;
    const double sign = downwards ? 2.0 : -2.0;
    for (int64_t p = from; p < to; p++) {
        s.sum += sign * cwb_fixed(t->r[CWB_NAME(row_at)(c, p, wide)], t->scale);
        if (!c->last[p]) continue;
        if (s.sum > s.up) s.up = s.sum;
        if (-s.sum > s.down) s.down = -s.sum;
        if (fabs(s.sum) > s.best.edge || (downwards && fabs(s.sum) == s.best.edge)) {
            s.best.edge = fabs(s.sum);
            s.best.above = s.sum;
            s.best.position = p;
        }
    }
    *seen = s;
}

CWB_INLINE int CWB_NAME(chunk_counts)(const cwb_traced *t, int64_t chunk) {
    return (double)t->trace[(2 * chunk + 1) * t->lanes + t->lane] >= t->least;
}

/* Search one part of a column, whose first chunk is `chunk`; returns 1 if any chunk counts. */
CWB_INLINE int CWB_NAME(settle_part)(const cwb_target *t, const cwb_column *c,
                                     const cwb_traced *traced, int64_t chunk, const int downwards,
                                     const int wide, CWB_NAME(walked) * seen) {
    const int64_t length = cwb_chunk(c), start = downwards ? c->n_forward : 0;
    const int64_t end = downwards ? start + c->n_backward : c->n_forward;
    int64_t first = chunk, beyond = chunk + cwb_part_chunks(c, end - start);
    while (beyond > chunk && !CWB_NAME(chunk_counts)(traced, beyond - 1)) beyond--;
    while (first < beyond && !CWB_NAME(chunk_counts)(traced, first)) first++;
    const int counts = first < beyond;
    const double sign = downwards ? 2.0 : -2.0;
    seen->sum = downwards ? -t->total : t->total;
    if (!traced->alone) {
        first = chunk;
    } else if (counts) {
        const int32_t sum = traced->trace[2 * first * traced->lanes + traced->lane];
        seen->sum = sign / CWB_COARSE * sum;
    }
    for (int64_t k = first; k < beyond; k++) {
        const int64_t from = start + (k - chunk) * length;
        const int64_t to = end - from < length ? end : from + length;
        if (CWB_NAME(chunk_counts)(traced, k)) {
            CWB_NAME(walk_chunk)(t, c, from, to, downwards, wide, seen);
        } else {
            seen->sum += sign * CWB_NAME(skip)(t, c, from, to, wide);
        }
    }
    return counts;
}

/* For a column with a trace: only chunks that may hold the winner are searched, and the others
 * summed. With `alone`, sums may start at such a chunk from the scan's value there: that shifts
 * all E alike and keeps their order. If the largest E and the largest -E are too close to order,
 * or both parts have such chunks, the position is -2. */
CWB_INLINE cwb_stump CWB_NAME(settle_chunks)(const cwb_target *t, const cwb_column *c,
                                             const cwb_traced *traced, const int wide) {
    const cwb_stump none = {-1.0, 0.0, 0.0, -1};
    CWB_NAME(walked) seen = {none, 0.0, 0.0, 0.0};
    int parts = CWB_NAME(settle_part)(t, c, traced, 0, 0, wide, &seen);
    cwb_stump s = seen.best;
    seen.best = none;
    parts += CWB_NAME(settle_part)(t, c, traced, cwb_part_chunks(c, c->n_forward), 1, wide, &seen);
    if (seen.best.edge > s.edge) s = seen.best;
    if (traced->alone && (parts > 1 || fabs(seen.up - seen.down) <= traced->doubt)) s.position = -2;
    return s;
}

/* The best split of a column for one target. */
static cwb_stump CWB_NAME(settle)(const cwb_target *t, const cwb_column *c,
                                  const cwb_traced *traced) {
    if (!cwb_chunks(c)) return CWB_NAME(settle_column)(t, c);
    cwb_stump s = {-1.0, 0.0, 0.0, -2};
    cwb_traced here = *traced;
    for (; s.position == -2; here.alone = 0)
        s = c->wide ? CWB_NAME(settle_chunks)(t, c, &here, 1)
                    : CWB_NAME(settle_chunks)(t, c, &here, 0);
    return s;
}
