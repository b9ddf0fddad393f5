/* Sums over the rows of a node, see node_sums.h. */
static void CWB_NAME(totals)(const double *w, int64_t n, double *out) {
    double sum = 0.0, mass = 0.0, squares = 0.0;
    int64_t i = 0;
    if (n >= 8) {
        cwb_doubles sums = cwb_zero(), masses = cwb_zero(), all_squares = cwb_zero();
        const cwb_doubles rounds = cwb_splat(CWB_ROUND), coarse = cwb_splat(CWB_COARSE);
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
        const double q = (w[i] * CWB_COARSE + CWB_ROUND) - CWB_ROUND;
        sum += w[i];
        mass += fabs(w[i]);
        squares += q * q;
    }
    out[0] = sum;
    out[1] = mass;
    out[2] = (double)n;
    out[3] = squares;
}

static const cwb_node_kernels CWB_NAME(cwb_node_kernels) = {.totals = CWB_NAME(totals)};
