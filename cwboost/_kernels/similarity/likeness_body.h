/* The likenesses of likeness.h. The compiler makes vectors of single precision of the loop. */
static void CWB_NAME(likeness_of_squares)(const float *restrict d, int64_t n, float factor,
                                          float unit, double *restrict out) {
    for (int64_t i = 0; i < n; i++) {
        const float grown = d[i] * factor + 1.0f, squared = grown * grown;
        const float alike = unit / (squared * squared);
        out[i] = (double)((alike + CWB_ROUND_FLOAT) - CWB_ROUND_FLOAT);
    }
}

static const cwb_likeness_kernels CWB_NAME(cwb_likeness_kernels) = {
    .of_squares = CWB_NAME(likeness_of_squares)};
