/* The scan of a stump search: the largest |E| / 2 of one feature for many targets at once.
 *
 * A walk starts from -T/2 and adds rows k(i) in the order of the feature: |sum| is |E| / 2 of a
 * threshold there, and counts at the ends of blocks of equal values. One pass serves all targets:
 * per entry one row of 4 x lanes bytes, with two to four operations per register. The error of an
 * int32 sum over m examples is at most m (1/2 + 2^-21).
 *
 * The functions with `parts`, `wide`, `ends` or `kind` are inlined where these are constants. */

#define CWB_FLAGS 8 /* positions whose flags are read at once */
#define CWB_LINE 16 /* numbers per cache line: each line of a row is fetched ahead */

/* Add the rows of positions [from, to) to the sums; raise the maxima after those that end a block:
 * all of them (`ends` 1), none (0), or those whose flag, a mask over the maximum, is set (-1). */
CWB_INLINE void CWB_NAME(walk_on)(const cwb_rows *rows, const cwb_column *c, int64_t from,
                                  int64_t to, cwb_ints *sum, cwb_ints *top, const int parts,
                                  const int wide, const int ends) {
    const int64_t lanes = parts * CWB_INTS;
    const uint16_t *narrow_index = (const uint16_t *)c->index;
    const uint32_t *wide_index = (const uint32_t *)c->index;
    for (int64_t p = from; p < to; p++) {
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
            sum[v] += cwb_ints_load(row + v * CWB_INTS);
            if (!ends) continue;
            const cwb_ints size = cwb_ints_abs(sum[v]);
            top[v] = cwb_ints_max(ends < 0 ? size & end : size, top[v]);
        }
    }
}

/* The same for a chunk of a column with that `kind` of ends. The branch of CWB_FEW_END is taken for
 * several positions at a time, mostly the same way; the others have none to mispredict. */
CWB_INLINE void CWB_NAME(walk_chunk_of)(const cwb_rows *rows, const cwb_column *c, int64_t from,
                                        int64_t to, cwb_ints *sum, cwb_ints *top, const int parts,
                                        const int wide, const int kind) {
    for (; kind == CWB_FEW_END && from + CWB_FLAGS <= to; from += CWB_FLAGS) {
        uint64_t flags;
        memcpy(&flags, c->last + from, sizeof flags);
        if (flags) {
            CWB_NAME(walk_on)(rows, c, from, from + CWB_FLAGS, sum, top, parts, wide, -1);
        } else {
            CWB_NAME(walk_on)(rows, c, from, from + CWB_FLAGS, sum, top, parts, wide, 0);
        }
    }
    CWB_NAME(walk_on)(rows, c, from, to, sum, top, parts, wide, kind == CWB_ALL_END ? 1 : -1);
}

/* Walk positions [from, to) from the sums at `start`; raise `best` and fill the trace, if any. */
CWB_INLINE void CWB_NAME(walk_parts)(const cwb_rows *rows, const cwb_column *c, int64_t from,
                                     int64_t to, const int32_t *start, int32_t *best,
                                     int32_t *trace, const int parts, const int wide,
                                     const int kind) {
    const int64_t chunk = cwb_chunk(c), lanes = parts * CWB_INTS;
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
        CWB_NAME(walk_chunk_of)(rows, c, from, chunk_end, sum, top, parts, wide, kind);
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

/* The same for rows of `parts` registers, compiled for each kind of column. Those with a wide index
 * wait for the memory, whatever they compute. */
CWB_INLINE void CWB_NAME(walk_column)(const cwb_rows *rows, const cwb_column *c, int64_t from,
                                      int64_t to, const int32_t *start, int32_t *best,
                                      int32_t *trace, const int parts) {
    if (c->wide) {
        CWB_NAME(walk_parts)(rows, c, from, to, start, best, trace, parts, 1, CWB_SOME_END);
    } else if (c->ends == CWB_ALL_END) {
        CWB_NAME(walk_parts)(rows, c, from, to, start, best, trace, parts, 0, CWB_ALL_END);
    } else if (c->ends == CWB_FEW_END) {
        CWB_NAME(walk_parts)(rows, c, from, to, start, best, trace, parts, 0, CWB_FEW_END);
    } else {
        CWB_NAME(walk_parts)(rows, c, from, to, start, best, trace, parts, 0, CWB_SOME_END);
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
    switch (rows->lanes / CWB_UNIT_LANES) {
        case 1:
            CWB_NAME(walk_column)(rows, c, from, to, start, best, trace, P);
            break;
        case 2:
            CWB_NAME(walk_column)(rows, c, from, to, start, best, trace, 2 * P);
            break;
        case 3:
            CWB_NAME(walk_column)(rows, c, from, to, start, best, trace, 3 * P);
            break;
        default:
            CWB_NAME(walk_column)(rows, c, from, to, start, best, trace, 4 * P);
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

#undef CWB_FLAGS
#undef CWB_LINE
