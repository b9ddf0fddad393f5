/* Sums of bins, in the order of memory (bins.h): S of all lanes, then M, per bin. One pass over the
 * rows of a block serves every column and reads two bytes per entry, its place in the block. */
CWB_INLINE void CWB_NAME(bin_sums_parts)(const int32_t *rows, const cwb_blocked *c, int64_t block,
                                         int32_t *bins, const int parts) {
    const uint32_t *starts = c->starts + block * c->n_bins;
    const int lanes = parts * CWB_INTS;
    cwb_ints sum[CWB_MOST_PARTS], mass[CWB_MOST_PARTS];
    rows += (block << CWB_BLOCK_BITS) * lanes;
    for (int64_t k = 0; k < c->n_bins; k++, bins += 2 * lanes) {
        CWB_UNROLL
        for (int v = 0; v < parts; v++) {
            sum[v] = cwb_ints_load(bins + v * CWB_INTS);
            mass[v] = cwb_ints_load(bins + lanes + v * CWB_INTS);
        }
        for (uint32_t e = starts[k]; e < starts[k + 1]; e++) {
            const int32_t *row = rows + (int64_t)c->local[e] * lanes;
            CWB_UNROLL
            for (int v = 0; v < parts; v++) {
                const cwb_ints x = cwb_ints_load(row + v * CWB_INTS);
                sum[v] = cwb_ints_add(sum[v], x);
                mass[v] = cwb_ints_add(mass[v], cwb_ints_abs(x));
            }
        }
        CWB_UNROLL
        for (int v = 0; v < parts; v++) {
            cwb_ints_store(bins + v * CWB_INTS, sum[v]);
            cwb_ints_store(bins + lanes + v * CWB_INTS, mass[v]);
        }
    }
}

/* Add the entries of one block to the bins of a column. */
static void CWB_NAME(bin_sums)(const cwb_rows *rows, const cwb_blocked *c, int64_t block,
                               int32_t *bins) {
    enum { P = CWB_PARTS_OF_UNIT };
#if CWB_IS(AVX512)
    if (rows->lanes % CWB_INTS) {
        bin_sums_avx2(rows, c, block, bins);
        return;
    }
#endif
    switch (rows->lanes / CWB_UNIT_LANES) {
        case 1:
            CWB_NAME(bin_sums_parts)(rows->rows, c, block, bins, P);
            break;
        case 2:
            CWB_NAME(bin_sums_parts)(rows->rows, c, block, bins, 2 * P);
            break;
        case 3:
            CWB_NAME(bin_sums_parts)(rows->rows, c, block, bins, 3 * P);
            break;
        default:
            CWB_NAME(bin_sums_parts)(rows->rows, c, block, bins, 4 * P);
            break;
    }
}
