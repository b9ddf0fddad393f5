/* Edges of many columns at once: products of one row of R with packed bits.
 *
 * The columns of a class share the row, so sums over four examples are formed once for all 16 ways
 * that the four bits can be set, and a column adds one such sum per half byte, which saves most
 * additions. With AVX-512, one instruction looks up eight columns. */

#define CWB_EDGE_AHEAD 16  /* columns that are fetched ahead */
#define CWB_EDGE_BLOCK 64  /* bytes of bits: their tables take half of the first cache */
#define CWB_EDGE_COLUMNS 4 /* columns at once, whose additions are independent */

#define cwb_edge_tables CWB_NAME(cwb_edge_tables)
#define cwb_edge_some CWB_NAME(cwb_edge_some)
#define cwb_edge_columns CWB_NAME(cwb_edge_columns)
#define cwb_edge_eight CWB_NAME(cwb_edge_eight)

/* tables[16 m + s] = sum of the examples 4 m + b whose bit b is set in s. Adds the sums of all four
 * to `total`. */
static double cwb_edge_tables(const double *r, int64_t n_bytes, double *tables, double total) {
    for (int64_t m = 0; m < 2 * n_bytes; m++, r += 4, tables += 16) {
#if CWB_IS(AVX512)
        const __m512d two = _mm512_add_pd(_mm512_maskz_mov_pd(0xaa, _mm512_set1_pd(r[0])),
                                          _mm512_maskz_mov_pd(0xcc, _mm512_set1_pd(r[1])));
        const __m512d three = _mm512_add_pd(two, _mm512_maskz_mov_pd(0xf0, _mm512_set1_pd(r[2])));
        _mm512_storeu_pd(tables, three);
        _mm512_storeu_pd(tables + 8, _mm512_add_pd(three, _mm512_set1_pd(r[3])));
#elif CWB_IS(AVX2)
        const __m256d zero = _mm256_setzero_pd(), third = _mm256_broadcast_sd(r + 2);
        const __m256d fourth = _mm256_broadcast_sd(r + 3);
        const __m256d two = _mm256_add_pd(_mm256_blend_pd(zero, _mm256_broadcast_sd(r), 0xa),
                                          _mm256_blend_pd(zero, _mm256_broadcast_sd(r + 1), 0xc));
        const __m256d three = _mm256_add_pd(two, third);
        _mm256_storeu_pd(tables, two);
        _mm256_storeu_pd(tables + 4, three);
        _mm256_storeu_pd(tables + 8, _mm256_add_pd(two, fourth));
        _mm256_storeu_pd(tables + 12, _mm256_add_pd(three, fourth));
#else
        const double low[4] = {0.0, r[0], r[1], r[0] + r[1]};
        for (int s = 0; s < 4; s++) {
            tables[s] = low[s];
            tables[s + 4] = low[s] + r[2];
            tables[s + 8] = low[s] + r[3];
            tables[s + 12] = low[s] + r[2] + r[3];
        }
#endif
        total += ((r[0] + r[1]) + r[2]) + r[3];
    }
    return total;
}

#if CWB_IS(BASE)
/* The sums over a block of `n` columns: low half bytes in one sum, high half bytes in another. */
CWB_INLINE void cwb_edge_some(const double *tables, const uint8_t *bits, int64_t stride,
                              int64_t n_bytes, int n, double *sums) {
    double low[CWB_EDGE_COLUMNS] = {0.0}, high[CWB_EDGE_COLUMNS] = {0.0};
    for (int64_t b = 0; b < n_bytes; b++, tables += 32) {
        CWB_UNROLL
        for (int k = 0; k < n; k++) {
            const unsigned byte = bits[k * stride + b];
            low[k] += tables[byte & 15];
            high[k] += tables[16 + (byte >> 4)];
        }
    }
    CWB_UNROLL
    for (int k = 0; k < n; k++) sums[k] += low[k] + high[k];
}

/* Looking up half bytes one by one gains nothing from vectors, so this copy serves all sets: with
 * AVX2, GCC vectorises the sums, which takes a third longer. */
static void cwb_edge_columns(const double *tables, const uint8_t *bits, int64_t stride,
                             int64_t n_bytes, int64_t n_columns, double *sums) {
    int64_t j = 0;
    for (; j + CWB_EDGE_COLUMNS <= n_columns; j += CWB_EDGE_COLUMNS) {
        for (int k = 0; k < CWB_EDGE_COLUMNS; k++)
            CWB_PREFETCH(bits + (j + CWB_EDGE_AHEAD + k) * stride);
        cwb_edge_some(tables, bits + j * stride, stride, n_bytes, CWB_EDGE_COLUMNS, sums + j);
    }
    for (; j < n_columns; j++)
        cwb_edge_some(tables, bits + j * stride, stride, n_bytes, 1, sums + j);
}

#elif CWB_IS(AVX512)
/* Eight columns, one per lane: eight bytes of each column at a time, shifted half byte by half byte
 * to the low end of the lane, where they choose among the 16 sums. */
static void cwb_edge_eight(const double *tables, const uint8_t *h, int64_t stride, int64_t n_bytes,
                           double *sums) {
    const int64_t whole = n_bytes & ~(int64_t)7;
    /* A block is one or two cache lines per column, too few for the hardware prefetcher. */
    for (int k = 0; k < 8; k++) {
        CWB_PREFETCH(h + (CWB_EDGE_AHEAD + k) * stride);
        CWB_PREFETCH(h + (CWB_EDGE_AHEAD + k) * stride + n_bytes - 1);
    }
    __m512d low = _mm512_setzero_pd(), high = _mm512_setzero_pd();
    for (int64_t b = 0; b < whole; b += 8, h += 8) {
        int64_t v[8];
        CWB_UNROLL
        for (int k = 0; k < 8; k++) memcpy(&v[k], h + k * stride, 8);
        __m512i at = _mm512_set_epi64(v[7], v[6], v[5], v[4], v[3], v[2], v[1], v[0]);
        CWB_UNROLL
        for (int k = 0; k < 8; k++, tables += 32) {
            const __m512i up = _mm512_srli_epi64(at, 4);
            low = _mm512_add_pd(low, _mm512_permutex2var_pd(_mm512_loadu_pd(tables), at,
                                                            _mm512_loadu_pd(tables + 8)));
            high = _mm512_add_pd(high, _mm512_permutex2var_pd(_mm512_loadu_pd(tables + 16), up,
                                                              _mm512_loadu_pd(tables + 24)));
            at = _mm512_srli_epi64(at, 8);
        }
    }
    double lows[8], highs[8];
    _mm512_storeu_pd(lows, low);
    _mm512_storeu_pd(highs, high);
    for (int k = 0; k < 8; k++) {
        const double *rest = tables;
        for (int64_t b = 0; b < n_bytes - whole; b++, rest += 32) {
            lows[k] += rest[h[k * stride + b] & 15];
            highs[k] += rest[16 + (h[k * stride + b] >> 4)];
        }
        sums[k] += lows[k] + highs[k];
    }
}
#endif

/* edges[j] = sum_i r_i h_j(i) of columns j = 0..n_columns-1 (rows of `bits`): twice the sum over
 * set bits less the sum of all. Costs n / 4 per column, and 4n. */
static void CWB_NAME(edges)(const double *r, int64_t n_bytes, const uint8_t *bits, int64_t stride,
                            int64_t n_columns, double *edges) {
    double tables[32 * CWB_EDGE_BLOCK] CWB_ALIGNED(64);
    double total = 0.0;
    for (int64_t j = 0; j < n_columns; j++) edges[j] = 0.0;
    for (int64_t first = 0; first < n_bytes; first += CWB_EDGE_BLOCK) {
        const int64_t n = n_bytes - first < CWB_EDGE_BLOCK ? n_bytes - first : CWB_EDGE_BLOCK;
        const uint8_t *h = bits + first;
        int64_t j = 0;
        total = cwb_edge_tables(r + 8 * first, n, tables, total);
#if CWB_IS(AVX512)
        for (; j + 8 <= n_columns; j += 8)
            cwb_edge_eight(tables, h + j * stride, stride, n, edges + j);
#endif
        cwb_edge_columns_base(tables, h + j * stride, stride, n, n_columns - j, edges + j);
    }
    for (int64_t j = 0; j < n_columns; j++) edges[j] = 2.0 * edges[j] - total;
}

#undef CWB_EDGE_AHEAD
#undef CWB_EDGE_BLOCK
#undef CWB_EDGE_COLUMNS
