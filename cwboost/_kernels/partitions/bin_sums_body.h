/* Sums of bins, see bin_sums.h. */

/* Adding and subtracting 1.5 x 2^52 rounds to integers. */
#define CWB_TO_INTEGER 6755399441055744.0

/* The rounded weights of the targets [first, first + lanes); zeros for those that do not exist. */
static void CWB_NAME(rounded_from)(const cwb_targets *w, int first, int lanes, int64_t from,
                                   int64_t to, double *rows) {
    for (int k = 0; k < lanes; k++) {
        const int t = first + k, exists = t < w->n_targets;
        const double *r = w->r + (exists ? t : 0) * w->stride;
        const double scale = exists ? w->scales[t] : 0.0;
        for (int64_t i = from; i < to; i++)
            rows[(i - from) * lanes + k] = (r[i] * scale + CWB_TO_INTEGER) - CWB_TO_INTEGER;
    }
}

static void CWB_NAME(rounded)(const cwb_targets *w, int64_t from, int64_t to, double *rows) {
    CWB_NAME(rounded_from)(w, 0, w->lanes, from, to, rows);
}

/* All sums are read before one is written: what may overlap is not added in vectors. */
CWB_INLINE void CWB_NAME(add_row)(double *restrict sums, const double *restrict row,
                                  const int lanes) {
    double own[8];
    for (int t = 0; t < lanes; t++) own[t] = sums[t] + row[t];
    for (int t = 0; t < lanes; t++) sums[t] = own[t];
}

/* The rounded weights of a block of examples, in lines of `lanes` and of `more` numbers. */
typedef struct {
    double first[CWB_BLOCK_ROWS * 8], rest[CWB_BLOCK_ROWS * 4];
} CWB_NAME(block);

/* One feature and n examples; `lanes` and `more` are constants where this is inlined. */
CWB_INLINE void CWB_NAME(add_rows)(const uint8_t *codes, const CWB_NAME(block) * rows, int64_t n,
                                   double *first, double *rest, const int lanes, const int more) {
    int64_t i = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; i + 8 <= n; i += 8) {
        uint64_t eight;
        memcpy(&eight, codes + i, 8);
        CWB_UNROLL
        for (int k = 0; k < 8; k++) {
            const int64_t code = (eight >> 8 * k) & 255;
            CWB_NAME(add_row)(first + code * lanes, rows->first + (i + k) * lanes, lanes);
            CWB_NAME(add_row)(rest + code * more, rows->rest + (i + k) * more, more);
        }
    }
#endif
    for (; i < n; i++) {
        CWB_NAME(add_row)(first + codes[i] * lanes, rows->first + i * lanes, lanes);
        CWB_NAME(add_row)(rest + codes[i] * more, rows->rest + i * more, more);
    }
}

#define CWB_ADD_ROWS(lanes, more)                                            \
    case 8 * lanes + more:                                                   \
        CWB_NAME(add_rows)(codes, &rows, end - i, first, rest, lanes, more); \
        break;

/* Ask for the weights and codes of the examples [from, to): many short pieces of memory, which
 * processors do not foresee. */
static void CWB_NAME(ask_for)(const cwb_targets *w, const cwb_codes *c, int64_t from, int64_t to) {
#if defined(__GNUC__)
    for (int t = 0; t < w->n_targets; t++)
        for (int64_t i = from; i < to; i += CWB_LINE)
            __builtin_prefetch(w->r + t * w->stride + i, 0, 2);
    for (int64_t f = 0; f < c->n_features; f++)
        for (int64_t i = from; i < to; i += 64)
            __builtin_prefetch(c->codes + f * c->code_stride + i, 0, 2);
#endif
}

static void CWB_NAME(bin_sums)(const cwb_targets *w, const cwb_codes *c, int64_t from, int64_t to,
                               double *out) {
    CWB_NAME(block) rows CWB_ALIGNED(64);
    double *out_of_rest = out + c->starts[c->n_features] * w->lanes;
    for (int64_t i = from; i < to; i += CWB_BLOCK_ROWS) {
        const int64_t end = to - i < CWB_BLOCK_ROWS ? to : i + CWB_BLOCK_ROWS;
        CWB_NAME(rounded_from)(w, 0, w->lanes, i, end, rows.first);
        CWB_NAME(rounded_from)(w, w->lanes, w->more, i, end, rows.rest);
        CWB_NAME(ask_for)(w, c, end, to - end < CWB_BLOCK_ROWS ? to : end + CWB_BLOCK_ROWS);
        for (int64_t f = 0; f < c->n_features; f++) {
            const uint8_t *codes = c->codes + f * c->code_stride + i;
            double *first = out + c->starts[f] * w->lanes;
            double *rest = out_of_rest + c->starts[f] * w->more;
            switch (8 * w->lanes + w->more) {
                CWB_ADD_ROWS(2, 0)
                CWB_ADD_ROWS(4, 0)
                CWB_ADD_ROWS(8, 0)
                CWB_ADD_ROWS(8, 2)
                CWB_ADD_ROWS(8, 4)
            }
        }
    }
}
#undef CWB_ADD_ROWS

/* Sums of squares of the weights of the examples [0, n), rounded more coarsely by 2^-26. */
static void CWB_NAME(squares)(const cwb_targets *w, int64_t n, double *out) {
    for (int t = 0; t < w->n_targets; t++) {
        const double *r = w->r + t * w->stride, scale = w->scales[t] * 0x1p-26;
        double lane[8] = {0.0}, sum = 0.0;
        int64_t i = 0;
        for (; i + 8 <= n; i += 8)
            for (int k = 0; k < 8; k++) {
                const double q = (r[i + k] * scale + CWB_TO_INTEGER) - CWB_TO_INTEGER;
                lane[k] += q * q;
            }
        for (int k = 0; k < 8; k++) sum += lane[k];
        for (; i < n; i++) {
            const double q = (r[i] * scale + CWB_TO_INTEGER) - CWB_TO_INTEGER;
            sum += q * q;
        }
        out[t] = sum;
    }
}

/* A byte with one bit for each of eight codes, set if the code is at most `last`. */
CWB_INLINE unsigned CWB_NAME(bits_up_to)(const uint8_t *codes, uint8_t last) {
    const uint64_t which = cwb_bytes_up_to(codes, last);
    /* The multiplication collects one bit of every byte. */
    return (unsigned)(((which & UINT64_C(0x8040201008040201)) * UINT64_C(0x0101010101010101)) >>
                      56);
}

/* Packed bits of n codes, a multiple of eight; `last` is the highest code below the threshold. */
static void CWB_NAME(sides)(const uint8_t *codes, int64_t n, uint8_t last, unsigned flip,
                            uint8_t *packed) {
    for (int64_t i = 0; i < n; i += 8)
        packed[i / 8] = (uint8_t)(CWB_NAME(bits_up_to)(codes + i, last) ^ flip);
}

static void CWB_NAME(set_missing)(const uint8_t *codes, int64_t n, uint8_t code, int positive,
                                  uint8_t *packed) {
    for (int64_t i = 0; i < n; i += 8) {
        const unsigned lower = code ? CWB_NAME(bits_up_to)(codes + i, (uint8_t)(code - 1)) : 0;
        const unsigned missing = CWB_NAME(bits_up_to)(codes + i, code) & ~lower;
        packed[i / 8] = (uint8_t)((packed[i / 8] & ~missing) | (positive ? missing : 0));
    }
}

static void CWB_NAME(whole_outputs)(const cwb_code_stump *stump, const uint8_t *codes, int64_t n,
                                    uint8_t *packed) {
    const unsigned flip = stump->above ? 255 : 0;
    if (stump->below <= 0 || stump->below > 255)
        memset(packed, (int)(stump->below <= 0 ? flip : flip ^ 255), (size_t)(n / 8));
    else
        CWB_NAME(sides)(codes, n, (uint8_t)(stump->below - 1), flip, packed);
    if (stump->missing >= 0)
        CWB_NAME(set_missing)(codes, n, (uint8_t)stump->missing, stump->missing_positive, packed);
}

static void CWB_NAME(outputs)(const cwb_code_stump *stump, const uint8_t *codes, int64_t n,
                              uint8_t *packed) {
    const int64_t whole = n / 8 * 8;
    CWB_NAME(whole_outputs)(stump, codes, whole, packed);
    if (whole == n) return;
    uint8_t rest[8] = {0};
    memcpy(rest, codes + whole, (size_t)(n - whole));
    CWB_NAME(whole_outputs)(stump, rest, 8, packed + n / 8);
    packed[n / 8] &= (uint8_t)((1 << (n - whole)) - 1);
}

static const cwb_bin_sum_kernels CWB_NAME(cwb_bin_sum_kernels) = {
    .bin_sums = CWB_NAME(bin_sums),
    .rounded = CWB_NAME(rounded),
    .squares = CWB_NAME(squares),
    .outputs = CWB_NAME(outputs),
};
#undef CWB_TO_INTEGER
