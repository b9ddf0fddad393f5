/* The walk over the marks of a column (kept_rows.h): for instruction sets with a count of trailing
 * zeros of its own.
 *
 * CWB_KEPT_TOGETHER entries are written at a time, whether or not there are as many marks: the
 * processor would mispredict the end of a loop over the marks of a word.
 *
 * The function with `wide` is inlined, where it is constant. */

/* The bits of 64 bytes, each 0 or 0xFF. */
CWB_INLINE uint64_t CWB_NAME(bits_of)(const uint8_t *bytes) {
    uint64_t bits = 0;
#if CWB_IS(AVX512)
    bits = _mm512_movepi8_mask(_mm512_loadu_si512(bytes));
#elif CWB_IS(AVX2)
    for (int k = 0; k < 64; k += 32) {
        const __m256i some = _mm256_loadu_si256((const __m256i *)(bytes + k));
        bits |= (uint64_t)(uint32_t)_mm256_movemask_epi8(some) << k;
    }
#elif CWB_IS(SSE2)
    for (int k = 0; k < 64; k += 16) {
        const __m128i some = _mm_loadu_si128((const __m128i *)(bytes + k));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(some) << k;
    }
#else
    for (int k = 0; k < 64; k++) bits |= (uint64_t)(bytes[k] & 1) << k;
#endif
    return bits;
}

/* Bits of word w that stand for positions [from, to). */
CWB_INLINE uint64_t CWB_NAME(inside)(int64_t w, int64_t from, int64_t to) {
    uint64_t inside = ~(uint64_t)0;
    if (from > w << 6) inside <<= from & 63;
    if (to < (w + 1) << 6) inside &= ((uint64_t)1 << (to & 63)) - 1;
    return inside;
}

CWB_INLINE int64_t CWB_NAME(keep_part)(const cwb_column *c, const uint64_t *ends,
                                       const uint8_t *marks, int64_t from, int64_t to, int64_t at,
                                       cwb_column *left, const int wide) {
    uint8_t *last = left->last;
    for (int64_t w = from >> 6; w << 6 < to; w++) {
        const uint64_t inside = CWB_NAME(inside)(w, from, to), end = ends[w] & inside;
        uint64_t here = CWB_NAME(bits_of)(marks + (w << 6)) & inside, low = here & (0 - here);
        /* What ends before the first mark belongs to the entry before. */
        last[at - 1] |= (uint8_t)(0 - ((end & (low - 1)) != 0));
        for (int64_t next_at = at; here; at = next_at) {
            for (int k = 0; k < CWB_KEPT_TOGETHER; k++) {
                const uint64_t rest = here & (here - 1), next = rest & (0 - rest);
                const int64_t p = (w << 6) + (here ? __builtin_ctzll(here) : 0);
                if (wide) {
                    ((uint32_t *)left->index)[at + k] = ((const uint32_t *)c->index)[p];
                } else {
                    ((uint16_t *)left->index)[at + k] = ((const uint16_t *)c->index)[p];
                }
                last[at + k] = (uint8_t)(0 - ((end & (next - low)) != 0));
                next_at += here != 0;
                here = rest;
                low = next;
            }
        }
    }
    return at;
}

/* Write the marked positions among [from, to) at `at` and on, which is not the first entry; up to
 * CWB_KEPT_TOGETHER entries behind them hold anything. Returns the position behind them. */
static int64_t CWB_NAME(keep)(const cwb_column *c, const uint64_t *ends, const uint8_t *marks,
                              int64_t from, int64_t to, int64_t at, cwb_column *left) {
    return c->wide ? CWB_NAME(keep_part)(c, ends, marks, from, to, at, left, 1)
                   : CWB_NAME(keep_part)(c, ends, marks, from, to, at, left, 0);
}
