/* Scores from columns. */

#if CWB_PARTS == 1
#define CWB_BYTES_AT_ONCE 8 /* bytes whose sums stay in registers over all columns */
#elif CWB_PARTS == 2
#define CWB_BYTES_AT_ONCE 4
#else
#define CWB_BYTES_AT_ONCE 2
#endif

#define cwb_add_bytes CWB_NAME(cwb_add_bytes)

/* Add x to the sums of the set bits of the bytes at h. */
CWB_INLINE void cwb_add_bytes(cwb_doubles *sums, const uint8_t *h, cwb_doubles x) {
#if CWB_IS(AVX512)
    /* Every lane holds all eight bytes and tests its bit of each byte in turn. */
    int64_t bytes;
    memcpy(&bytes, h, 8);
    const __m512i all = _mm512_set1_epi64(bytes),
                  bit = _mm512_set_epi64(128, 64, 32, 16, 8, 4, 2, 1);
    CWB_UNROLL
    for (int k = 0; k < CWB_BYTES_AT_ONCE; k++) {
        const cwb_mask m = {{_mm512_test_epi64_mask(all, _mm512_slli_epi64(bit, 8 * k))}};
        sums[k] = cwb_add_where(sums[k], m, x);
    }
#else
    CWB_UNROLL
    for (int k = 0; k < CWB_BYTES_AT_ONCE; k++) {
        sums[k] = cwb_add_where(sums[k], cwb_mask_at(h + k), x);
    }
#endif
}

/* F(i) += sum_j moves[j] h_j(i): 2 moves[j] where a bit is set, less the sum of the moves. Costs n
 * per column. */
static void CWB_NAME(add_columns)(double *scores, int64_t n_bytes, const uint8_t *const *columns,
                                  const double *moves, int64_t n_columns) {
    double sum_of_moves = 0.0;
    for (int64_t j = 0; j < n_columns; j++) sum_of_moves += moves[j];
    const cwb_doubles all = cwb_splat(sum_of_moves);
    int64_t b = 0;
    for (; b + CWB_BYTES_AT_ONCE <= n_bytes; b += CWB_BYTES_AT_ONCE) {
        cwb_doubles sums[CWB_BYTES_AT_ONCE];
        CWB_UNROLL
        for (int k = 0; k < CWB_BYTES_AT_ONCE; k++)
            sums[k] = cwb_sub(cwb_load(scores + 8 * (b + k)), all);
        for (int64_t j = 0; j < n_columns; j++) {
            const cwb_doubles twice = cwb_splat(2.0 * moves[j]);
            cwb_add_bytes(sums, columns[j] + b, twice);
        }
        CWB_UNROLL
        for (int k = 0; k < CWB_BYTES_AT_ONCE; k++) cwb_store(scores + 8 * (b + k), sums[k]);
    }
    for (; b < n_bytes; b++) {
        cwb_doubles sum = cwb_sub(cwb_load(scores + 8 * b), all);
        for (int64_t j = 0; j < n_columns; j++)
            sum = cwb_add_where(sum, cwb_mask_at(columns[j] + b), cwb_splat(2.0 * moves[j]));
        cwb_store(scores + 8 * b, sum);
    }
}

#undef CWB_BYTES_AT_ONCE
