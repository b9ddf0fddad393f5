/* Sums of bins, see bin_sums.h. */

/* The rounded weights of the targets [first, first + lanes) for the examples [from, to), in rows of
 * `lanes` numbers; zeros for targets that do not exist. */
CWB_INLINE void CWB_NAME(round_rows)(const cwb_targets *w, int first, const int lanes, int64_t from,
                                     int64_t to, double *rows) {
    for (int k = 0; k < lanes; k++) {
        const int t = first + k, exists = t < w->n_targets;
        const double *r = w->r + (exists ? t : 0) * w->stride;
        const double scale = exists ? w->scales[t] : 0.0;
        for (int64_t i = from; i < to; i++)
            rows[(i - from) * lanes + k] = (r[i] * scale + CWB_ROUND) - CWB_ROUND;
    }
}

#if CWB_IS(AVX2) || CWB_IS(AVX512)
/* The rounded weights of four examples of target t. */
CWB_INLINE __m256d CWB_NAME(round_four)(const cwb_targets *w, int t, int64_t from) {
    const __m256d shift = _mm256_set1_pd(CWB_ROUND);
    const int exists = t < w->n_targets;
    const double *r = w->r + (exists ? t : 0) * w->stride + from;
    CWB_PREFETCH(r + CWB_WEIGHTS_AHEAD);
    const __m256d scale = _mm256_set1_pd(exists ? w->scales[t] : 0.0);
    const __m256d x = _mm256_mul_pd(_mm256_loadu_pd(r), scale);
    return _mm256_sub_pd(_mm256_add_pd(x, shift), shift);
}

/* Rows of four targets and four examples, `lanes` numbers apart: transposed in registers. */
CWB_INLINE void CWB_NAME(round_tile)(const cwb_targets *w, int first, int64_t from, int lanes,
                                     double *rows) {
    __m256d q[4];
    for (int k = 0; k < 4; k++) q[k] = CWB_NAME(round_four)(w, first + k, from);
    const __m256d a = _mm256_unpacklo_pd(q[0], q[1]), b = _mm256_unpackhi_pd(q[0], q[1]);
    const __m256d c = _mm256_unpacklo_pd(q[2], q[3]), d = _mm256_unpackhi_pd(q[2], q[3]);
    _mm256_storeu_pd(rows, _mm256_permute2f128_pd(a, c, 0x20));
    _mm256_storeu_pd(rows + lanes, _mm256_permute2f128_pd(b, d, 0x20));
    _mm256_storeu_pd(rows + 2 * lanes, _mm256_permute2f128_pd(a, c, 0x31));
    _mm256_storeu_pd(rows + 3 * lanes, _mm256_permute2f128_pd(b, d, 0x31));
}
#endif

/* The same for any number of lanes. */
static void CWB_NAME(rounded)(const cwb_targets *w, int first, int lanes, int64_t from, int64_t to,
                              double *rows) {
    int64_t i = from;
#if CWB_IS(AVX2) || CWB_IS(AVX512)
    if (lanes % 4 == 0)
        for (; i + 4 <= to; i += 4)
            for (int k = 0; k < lanes; k += 4)
                CWB_NAME(round_tile)(w, first + k, i, lanes, rows + (i - from) * lanes + k);
#endif
    /* A few rows at a time, which stay in the first cache while one target after the other comes.
     */
    for (; i < to; i += CWB_ROUNDED_ROWS) {
        const int64_t end = to - i < CWB_ROUNDED_ROWS ? to : i + CWB_ROUNDED_ROWS;
        CWB_NAME(round_rows)(w, first, lanes, i, end, rows + (i - from) * lanes);
    }
}

/* Add the squares of the weights of the examples [from, to), rounded more coarsely by 2^-26. */
static void CWB_NAME(squares)(const cwb_targets *w, int64_t from, int64_t to, double *out) {
    const cwb_doubles shift = cwb_splat(CWB_ROUND);
    for (int t = 0; t < w->n_targets; t++) {
        const double *r = w->r + t * w->stride, scale = w->scales[t] * 0x1p-26;
        const cwb_doubles scales = cwb_splat(scale);
        cwb_doubles sums = cwb_zero();
        int64_t i = from;
        for (; i + 8 <= to; i += 8) {
            const cwb_doubles q = cwb_mul(cwb_load(r + i), scales);
            const cwb_doubles whole = cwb_sub(cwb_add(q, shift), shift);
            sums = cwb_add(sums, cwb_mul(whole, whole));
        }
        out[t] += cwb_sum(sums);
        for (; i < to; i++) {
            const double q = (r[i] * scale + CWB_ROUND) - CWB_ROUND;
            out[t] += q * q;
        }
    }
}

/* Add a row of up to four numbers to the sums of one code of each of one or two features. All sums
 * are read before one is written: what may overlap is not added in vectors. */
CWB_INLINE void CWB_NAME(add_short)(double *const sums[2], const double *restrict row,
                                    const int features, const int lanes) {
    double own[2][4];
    for (int g = 0; g < features; g++)
        for (int t = 0; t < lanes; t++) own[g][t] = sums[g][t] + row[t];
    for (int g = 0; g < features; g++)
        for (int t = 0; t < lanes; t++) sums[g][t] = own[g][t];
}

/* The same for a line of eight numbers. */
CWB_INLINE void CWB_NAME(add_line)(double *const sums[2], const double *row, const int features) {
    const cwb_doubles x = cwb_load(row), own = cwb_add(cwb_load(sums[0]), x);
    if (features == 2) cwb_store(sums[1], cwb_add(cwb_load(sums[1]), x));
    cwb_store(sums[0], own);
}

/* The codes of a block of examples in one feature, and its sums of the first and of the remaining
 * targets. */
typedef struct {
    const uint8_t *codes;
    double *first, *rest;
} CWB_NAME(feature);

/* The rounded weights of a block of examples, in lines of `lanes` and of `more` numbers. */
typedef struct {
    const double *first, *rest;
    int64_t n;
} CWB_NAME(block);

/* Example i of a block, and its codes in one or two features. */
CWB_INLINE void CWB_NAME(add_example)(const CWB_NAME(feature) * f, const uint64_t *codes,
                                      CWB_NAME(block) rows, int64_t i, const int features,
                                      const int lanes, const int more) {
    double *first[2] = {NULL, NULL}, *rest[2] = {NULL, NULL};
    for (int g = 0; g < features; g++) {
        first[g] = f[g].first + codes[g] * (uint64_t)lanes;
        rest[g] = f[g].rest + codes[g] * (uint64_t)more;
    }
    if (lanes == 8)
        CWB_NAME(add_line)(first, rows.first + i * lanes, features);
    else
        CWB_NAME(add_short)(first, rows.first + i * lanes, features, lanes);
    CWB_NAME(add_short)(rest, rows.rest + i * more, features, more);
}

/* A block and one or two features, which share what is read of an example; `features`, `lanes` and
 * `more` are constants where this is inlined. */
CWB_INLINE void CWB_NAME(add_rows)(const CWB_NAME(feature) * of_features, CWB_NAME(block) rows,
                                   const int features, const int lanes, const int more) {
    /* A copy of their own, so that no store can change the addresses. */
    const CWB_NAME(feature) f[2] = {of_features[0], of_features[features - 1]};
    int64_t i = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; i + 8 <= rows.n; i += 8) {
        uint64_t eight[2];
        for (int g = 0; g < features; g++) memcpy(&eight[g], f[g].codes + i, 8);
        CWB_UNROLL
        for (int k = 0; k < 8; k++) {
            uint64_t codes[2];
            for (int g = 0; g < features; g++) codes[g] = (eight[g] >> 8 * k) & 255;
            CWB_NAME(add_example)(f, codes, rows, i + k, features, lanes, more);
        }
    }
#endif
    for (; i < rows.n; i++) {
        uint64_t codes[2];
        for (int g = 0; g < features; g++) codes[g] = f[g].codes[i];
        CWB_NAME(add_example)(f, codes, rows, i, features, lanes, more);
    }
}

#define CWB_ADD_ROWS(lanes, more)                         \
    case 8 * lanes + more:                                \
        if (features == 2)                                \
            CWB_NAME(add_rows)(f, *rows, 2, lanes, more); \
        else                                              \
            CWB_NAME(add_rows)(f, *rows, 1, lanes, more); \
        break;

/* A block and the features [first, first + features). */
static void CWB_NAME(add_features)(const cwb_targets *w, const cwb_codes *c, int64_t i,
                                   int64_t first, int features, const CWB_NAME(block) * rows,
                                   double *sums) {
    double *rest = sums + c->starts[c->n_features] * w->lanes;
    CWB_NAME(feature) f[2];
    for (int g = 0; g < features; g++) {
        f[g].codes = c->codes + (first + g) * c->code_stride + i;
        f[g].first = sums + c->starts[first + g] * w->lanes;
        f[g].rest = rest + c->starts[first + g] * w->more;
    }
    switch (8 * w->lanes + w->more) {
        CWB_ADD_ROWS(2, 0)
        CWB_ADD_ROWS(4, 0)
        CWB_ADD_ROWS(8, 0)
        CWB_ADD_ROWS(8, 2)
        CWB_ADD_ROWS(8, 4)
    }
}
#undef CWB_ADD_ROWS

static void CWB_NAME(bin_sums)(const cwb_targets *w, const cwb_codes *c, int64_t from, int64_t to,
                               const cwb_bin_sums *out) {
    double *first = out->rows, *rest = out->rows + CWB_BLOCK_ROWS * w->lanes;
    for (int64_t i = from; i < to; i += CWB_BLOCK_ROWS) {
        const int64_t end = to - i < CWB_BLOCK_ROWS ? to : i + CWB_BLOCK_ROWS;
        const CWB_NAME(block) rows = {first, rest, end - i};
        /* Weights are read twice, the second time from the first cache. */
        for (int64_t j = i; j < end; j += CWB_ROUNDED_ROWS) {
            const int64_t stop = end - j < CWB_ROUNDED_ROWS ? end : j + CWB_ROUNDED_ROWS;
            CWB_NAME(rounded)(w, 0, w->lanes, j, stop, first + (j - i) * w->lanes);
            CWB_NAME(rounded)(w, w->lanes, w->more, j, stop, rest + (j - i) * w->more);
            CWB_NAME(squares)(w, j, stop, out->squares);
        }
        for (int64_t f = 0; f < c->n_features; f += 2) {
            const int features = c->n_features - f < 2 ? 1 : 2;
            CWB_NAME(add_features)(w, c, i, f, features, &rows, out->sums);
        }
    }
}

static const cwb_bin_sum_kernels CWB_NAME(cwb_bin_sum_kernels) = {
    .bin_sums = CWB_NAME(bin_sums),
};
