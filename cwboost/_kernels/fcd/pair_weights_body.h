#define cwb_signed_mu CWB_NAME(cwb_signed_mu)

/* -mu_(i,c) = -w_i exp(F_c(i) - F_{y_i}(i)) of eight examples, of weights `w`, with scores `F` for
 * the class and `own` for their own classes. */
CWB_INLINE cwb_doubles cwb_signed_mu(cwb_doubles F, cwb_doubles own, cwb_doubles w) {
    return cwb_sub(cwb_zero(), cwb_mul(w, cwb_exp(cwb_sub(F, own))));
}

/* The pair weights of class c, with the sign of R. Costs 4n. */
static void CWB_NAME(pair_weights)(const cwb_master *m, int64_t c) {
    const double *F = m->scores + c * m->stride;
    double *r = m->R + c * m->stride;
    for (int64_t y = 0; y < m->n_classes; y++) {
        if (y == c) continue;
        const double *own = m->scores + y * m->stride;
        const int64_t start = m->starts[y], end = m->starts[y + 1];
        for (int64_t b = start >> 3; 8 * b < end; b++) {
            const cwb_doubles signed_mu = cwb_signed_mu(cwb_load(F + 8 * b), cwb_load(own + 8 * b),
                                                        cwb_load(m->example_weight + 8 * b));
            const cwb_mask valid = cwb_mask_of(cwb_valid(b, start, end));
            cwb_store(r + 8 * b, cwb_pick(valid, signed_mu, cwb_load(r + 8 * b)));
        }
    }
}
