/* Sums of bins, see bin_sums.h. */

/* Adding and subtracting 1.5 x 2^52 rounds to integers. */
#define CWB_TO_INTEGER 6755399441055744.0

static void CWB_NAME(rounded)(const cwb_targets *w, int64_t from, int64_t to, double *rows) {
    for (int t = 0; t < w->lanes; t++) {
        const double *r = w->r + (t < w->n_targets ? t : 0) * w->stride;
        const double scale = t < w->n_targets ? w->scales[t] : 0.0;
        for (int64_t i = from; i < to; i++)
            rows[(i - from) * w->lanes + t] = (r[i] * scale + CWB_TO_INTEGER) - CWB_TO_INTEGER;
    }
}

/* One feature and n examples; `lanes` is a constant where this is inlined. */
CWB_INLINE void CWB_NAME(add_rows)(const uint8_t *codes, const double *restrict rows, int64_t n,
                                   double *restrict out, const int lanes) {
    for (int64_t i = 0; i < n; i++) {
        double *sums = out + (int64_t)codes[i] * lanes;
        /* All sums are read before one is written: what may overlap is not added in vectors. */
        double own[8];
        for (int t = 0; t < lanes; t++) own[t] = sums[t] + rows[i * lanes + t];
        for (int t = 0; t < lanes; t++) sums[t] = own[t];
    }
}

#define CWB_ADD_ROWS(lanes)                                    \
    case lanes:                                                \
        CWB_NAME(add_rows)(codes, rows, end - i, sums, lanes); \
        break;

static void CWB_NAME(bin_sums)(const cwb_targets *w, const cwb_codes *c, int64_t from, int64_t to,
                               double *out) {
    double rows[CWB_BLOCK_ROWS * CWB_MOST_TARGETS] CWB_ALIGNED(64);
    for (int64_t i = from; i < to; i += CWB_BLOCK_ROWS) {
        const int64_t end = to - i < CWB_BLOCK_ROWS ? to : i + CWB_BLOCK_ROWS;
        CWB_NAME(rounded)(w, i, end, rows);
        for (int64_t f = 0; f < c->n_features; f++) {
            const uint8_t *codes = c->codes + f * c->code_stride + i;
            double *sums = out + c->starts[f] * w->lanes;
            switch (w->lanes) {
                CWB_ADD_ROWS(2)
                CWB_ADD_ROWS(4)
                CWB_ADD_ROWS(8)
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

static const cwb_bin_sum_kernels CWB_NAME(cwb_bin_sum_kernels) = {
    .bin_sums = CWB_NAME(bin_sums),
    .rounded = CWB_NAME(rounded),
    .squares = CWB_NAME(squares),
};
#undef CWB_TO_INTEGER
