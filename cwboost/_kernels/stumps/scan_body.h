/* The scan of a stump search: the largest |E| / 2 of one feature for many targets at once.
 *
 * A walk starts from -T/2 and adds rows k(i) in the order of the feature: |sum| is |E| / 2 of a
 * threshold there, and counts at the ends of blocks of equal values. One pass serves all targets:
 * per entry one row of 4 x lanes bytes, with two or three operations per register. The error of an
 * int32 sum over m examples is at most m (1/2 + 2^-21).
 *
 * The functions with `parts` and `wide` are inlined where both are constants. */

#define CWB_LINE 16 /* numbers per cache line: each line of a row is fetched ahead */

/* Walk positions [from, to) from the sums at `start`; raise `best` and fill the trace, if any. The
 * flag of a position is a mask over the maximum: the loop has no branch to mispredict. */
CWB_INLINE void CWB_NAME(walk_parts)(const cwb_rows *rows, const cwb_column *c, int64_t from,
                                     int64_t to, const int32_t *start, int32_t *best,
                                     int32_t *trace, const int parts, const int wide) {
    const int64_t chunk = cwb_chunk(c), lanes = parts * CWB_INTS;
    const uint16_t *narrow_index = (const uint16_t *)c->index;
    const uint32_t *wide_index = (const uint32_t *)c->index;
    cwb_ints sum[CWB_MOST_PARTS], top[CWB_MOST_PARTS];
    CWB_UNROLL
    for (int v = 0; v < parts; v++) sum[v] = cwb_ints_load(start + v * CWB_INTS);
    while (from < to) {
        const int64_t chunk_end = to - from < chunk ? to : from + chunk;
        CWB_UNROLL
        for (int v = 0; v < parts; v++) {
            if (trace) cwb_ints_store(trace + v * CWB_INTS, sum[v]);
            top[v] = cwb_ints_spread(0);
        }
        for (int64_t p = from; p < chunk_end; p++) {
            const int64_t i = wide ? (int64_t)wide_index[p] : (int64_t)narrow_index[p];
            const int64_t ahead = wide ? (int64_t)wide_index[p + CWB_READ_AHEAD]
                                       : (int64_t)narrow_index[p + CWB_READ_AHEAD];
            const int32_t *row = rows->rows + i * lanes;
            const cwb_ints end = cwb_ints_spread(c->last[p]);
            CWB_UNROLL
            for (int64_t l = 0; l < lanes; l += CWB_LINE) {
                CWB_PREFETCH(rows->rows + ahead * lanes + l);
            }
            CWB_UNROLL
            for (int v = 0; v < parts; v++) {
                sum[v] = cwb_ints_add(sum[v], cwb_ints_load(row + v * CWB_INTS));
                top[v] = cwb_ints_max(cwb_ints_and(cwb_ints_abs(sum[v]), end), top[v]);
            }
        }
        CWB_UNROLL
        for (int v = 0; v < parts; v++) {
            const cwb_ints all = cwb_ints_load(best + v * CWB_INTS);
            if (trace) cwb_ints_store(trace + lanes + v * CWB_INTS, top[v]);
            cwb_ints_store(best + v * CWB_INTS, cwb_ints_max(all, top[v]));
        }
        if (trace) trace += 2 * lanes;
        from = chunk_end;
    }
}

/* trace may be NULL. */
static void CWB_NAME(walk)(const cwb_rows *rows, const cwb_column *c, int64_t from, int64_t to,
                           const int32_t *start, int32_t *best, int32_t *trace) {
    enum { P = CWB_PARTS_OF_UNIT };
#if CWB_IS(AVX512)
    if (rows->lanes % CWB_INTS) {
        walk_avx2(rows, c, from, to, start, best, trace);
        return;
    }
#endif
    switch (2 * (rows->lanes / CWB_UNIT_LANES) + c->wide) {
        case 2:
            CWB_NAME(walk_parts)(rows, c, from, to, start, best, trace, P, 0);
            break;
        case 3:
            CWB_NAME(walk_parts)(rows, c, from, to, start, best, trace, P, 1);
            break;
        case 4:
            CWB_NAME(walk_parts)(rows, c, from, to, start, best, trace, 2 * P, 0);
            break;
        case 5:
            CWB_NAME(walk_parts)(rows, c, from, to, start, best, trace, 2 * P, 1);
            break;
        case 6:
            CWB_NAME(walk_parts)(rows, c, from, to, start, best, trace, 3 * P, 0);
            break;
        case 7:
            CWB_NAME(walk_parts)(rows, c, from, to, start, best, trace, 3 * P, 1);
            break;
        case 8:
            CWB_NAME(walk_parts)(rows, c, from, to, start, best, trace, 4 * P, 0);
            break;
        default:
            CWB_NAME(walk_parts)(rows, c, from, to, start, best, trace, 4 * P, 1);
            break;
    }
}

/* Missing values take the side that agrees with the sign of their sum M: they add |M| to any
 * split of the present ones, whose total is T - M. best starts as the split of present against
 * missing, |E| / 2 = |M - T/2|; shifted is -(T - M)/2; extra is |M|/2. */
static void CWB_NAME(scan_with_missing)(const cwb_rows *rows, const cwb_column *c, int32_t *best) {
    const int64_t middle = c->n_forward, end = middle + c->n_backward;
    int32_t shifted[CWB_SCAN_LANES], extra[CWB_SCAN_LANES], top[CWB_SCAN_LANES] = {0};
    for (int l = 0; l < rows->lanes; l++) {
        int64_t sum = 0;
        for (int64_t p = end; p < end + c->n_missing; p++)
            sum += rows->rows[cwb_row(c, p) * rows->lanes + l];
        const int64_t apart = sum + rows->half[l];
        shifted[l] = (int32_t)(rows->half[l] + (sum >> 1));
        extra[l] = (int32_t)((sum < 0 ? -sum : sum) >> 1);
        best[l] = (int32_t)(apart < 0 ? -apart : apart);
    }
    CWB_NAME(walk)(rows, c, 0, middle, shifted, top, NULL);
    CWB_NAME(walk)(rows, c, middle, end, shifted, top, NULL);
    for (int l = 0; l < rows->lanes; l++)
        if (top[l] + extra[l] > best[l]) best[l] = top[l] + extra[l];
}

/* Largest |E| / 2 of every lane into `best`; the trace is filled if cwb_chunks() is not 0. */
static void CWB_NAME(scan)(const cwb_rows *rows, const cwb_column *c, int32_t *best,
                           int32_t *trace) {
    const int64_t middle = c->n_forward, end = middle + c->n_backward;
    if (c->n_missing) {
        CWB_NAME(scan_with_missing)(rows, c, best);
        return;
    }
    if (!cwb_chunks(c)) trace = NULL;
    memset(best, 0, (size_t)rows->lanes * sizeof *best);
    CWB_NAME(walk)(rows, c, 0, middle, rows->half, best, trace);
    if (trace) trace += 2 * cwb_part_chunks(c, middle) * rows->lanes;
    CWB_NAME(walk)(rows, c, middle, end, rows->half, best, trace);
}

#undef CWB_LINE
