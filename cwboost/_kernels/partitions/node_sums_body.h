/* Sums over the rows of a node, see node_sums.h. */

/* Adding and subtracting 1.5 x 2^52 rounds to integers. */
#define CWB_TO_INTEGER 6755399441055744.0

static void CWB_NAME(below)(const uint8_t *codes, const double *w, int64_t n, uint8_t last,
                            double *out) {
    double sum = 0.0, mass = 0.0;
    int64_t i = 0, count = 0;
    if (n >= 8) {
        cwb_doubles sums = cwb_zero(), masses = cwb_zero();
        for (; i + 8 <= n; i += 8) {
            const uint64_t which = cwb_bytes_up_to(codes + i, last);
            /* One multiplication collects one bit of every byte, another adds the bits up. */
            const uint64_t bits =
                ((which & UINT64_C(0x8040201008040201)) * UINT64_C(0x0101010101010101)) >> 56;
            count +=
                (int64_t)(((which & UINT64_C(0x0101010101010101)) * UINT64_C(0x0101010101010101)) >>
                          56);
            const cwb_doubles own = cwb_keep(cwb_mask_of((unsigned)bits), cwb_load(w + i));
            sums = cwb_add(sums, own);
            masses = cwb_add(masses, cwb_abs(own));
        }
        sum = cwb_sum(sums);
        mass = cwb_sum(masses);
    }
    for (; i < n; i++) {
        const double own = codes[i] <= last ? w[i] : 0.0;
        sum += own;
        mass += fabs(own);
        count += codes[i] <= last;
    }
    out[0] = sum;
    out[1] = mass;
    out[2] = (double)count;
}

static void CWB_NAME(totals)(const double *w, int64_t n, double *out) {
    double sum = 0.0, mass = 0.0, squares = 0.0;
    int64_t i = 0;
    if (n >= 8) {
        cwb_doubles sums = cwb_zero(), masses = cwb_zero(), all_squares = cwb_zero();
        const cwb_doubles rounds = cwb_splat(CWB_TO_INTEGER), coarse = cwb_splat(CWB_COARSE);
        for (; i + 8 <= n; i += 8) {
            const cwb_doubles own = cwb_load(w + i);
            const cwb_doubles q = cwb_sub(cwb_add(cwb_mul(own, coarse), rounds), rounds);
            sums = cwb_add(sums, own);
            masses = cwb_add(masses, cwb_abs(own));
            all_squares = cwb_add(all_squares, cwb_mul(q, q));
        }
        sum = cwb_sum(sums);
        mass = cwb_sum(masses);
        squares = cwb_sum(all_squares);
    }
    for (; i < n; i++) {
        const double q = (w[i] * CWB_COARSE + CWB_TO_INTEGER) - CWB_TO_INTEGER;
        sum += w[i];
        mass += fabs(w[i]);
        squares += q * q;
    }
    out[0] = sum;
    out[1] = mass;
    out[2] = (double)n;
    out[3] = squares;
}

static void CWB_NAME(range)(const uint8_t *codes, int64_t n, int32_t *low, int32_t *high) {
    uint8_t smallest = codes[0], largest = codes[0];
    for (int64_t i = 1; i < n; i++) {
        smallest = codes[i] < smallest ? codes[i] : smallest;
        largest = codes[i] > largest ? codes[i] : largest;
    }
    *low = smallest;
    *high = largest;
}

static const cwb_node_kernels CWB_NAME(cwb_node_kernels) = {
    .below = CWB_NAME(below),
    .totals = CWB_NAME(totals),
    .range = CWB_NAME(range),
};
#undef CWB_TO_INTEGER
