/* The walk of the search for one stump for all targets (shared.h): sum over lanes of |start +
 * prefix| at every position. As scan_body.h, with one sum across the lanes of a row per entry; its
 * cost grows with the width of the register, so AVX-512 walks as AVX2 does. */
#if CWB_IS(AVX512)
static void CWB_NAME(shared_walk)(const cwb_rows *rows, const cwb_column *c, int64_t from,
                                  int64_t to, const int32_t *start, int32_t *sums) {
    shared_walk_avx2(rows, c, from, to, start, sums);
}
#else
CWB_INLINE void CWB_NAME(shared_walk_parts)(const cwb_rows *rows, const cwb_column *c, int64_t from,
                                            int64_t to, const int32_t *start, int32_t *sums,
                                            const int parts, const int wide) {
    const int64_t lanes = parts * CWB_INTS;
    cwb_ints sum[CWB_MOST_PARTS];
    CWB_UNROLL
    for (int v = 0; v < parts; v++) sum[v] = cwb_ints_load(start + v * CWB_INTS);
    for (int64_t p = from; p < to; p++) {
        const int64_t i = wide ? (int64_t)((const uint32_t *)c->index)[p]
                               : (int64_t)((const uint16_t *)c->index)[p];
        const int32_t *row = rows->rows + i * lanes;
        int32_t lane[CWB_INTS], total = 0;
        cwb_ints all = cwb_ints_spread(0);
        CWB_UNROLL
        for (int v = 0; v < parts; v++) {
            sum[v] = cwb_ints_add(sum[v], cwb_ints_load(row + v * CWB_INTS));
            all = cwb_ints_add(all, cwb_ints_abs(sum[v]));
        }
        cwb_ints_store(lane, all);
        for (int l = 0; l < CWB_INTS; l++) total += lane[l];
        sums[p - from] += total;
    }
}

/* Add to `sums`, one number per position of [from, to). */
static void CWB_NAME(shared_walk)(const cwb_rows *rows, const cwb_column *c, int64_t from,
                                  int64_t to, const int32_t *start, int32_t *sums) {
    enum { P = CWB_PARTS_OF_UNIT };
    switch (2 * (rows->lanes / CWB_UNIT_LANES) + c->wide) {
        case 2:
            CWB_NAME(shared_walk_parts)(rows, c, from, to, start, sums, P, 0);
            break;
        case 3:
            CWB_NAME(shared_walk_parts)(rows, c, from, to, start, sums, P, 1);
            break;
        case 4:
            CWB_NAME(shared_walk_parts)(rows, c, from, to, start, sums, 2 * P, 0);
            break;
        case 5:
            CWB_NAME(shared_walk_parts)(rows, c, from, to, start, sums, 2 * P, 1);
            break;
        case 6:
            CWB_NAME(shared_walk_parts)(rows, c, from, to, start, sums, 3 * P, 0);
            break;
        case 7:
            CWB_NAME(shared_walk_parts)(rows, c, from, to, start, sums, 3 * P, 1);
            break;
        case 8:
            CWB_NAME(shared_walk_parts)(rows, c, from, to, start, sums, 4 * P, 0);
            break;
        default:
            CWB_NAME(shared_walk_parts)(rows, c, from, to, start, sums, 4 * P, 1);
            break;
    }
}
#endif
