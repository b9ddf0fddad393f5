/* Codes of n values, see binning.h; of NaN `n_bins`. */

#if CWB_IS(AVX2) || CWB_IS(AVX512)
/* The number of 16 ascending bounds that lie below x. */
CWB_INLINE int CWB_NAME(bounds_below)(const double *bounds, double x) {
    const cwb_register v = cwb_r_splat(x);
    unsigned below = 0;
    CWB_UNROLL
    for (int k = 0; k < 16; k += CWB_LANES)
        below |= cwb_r_bits(cwb_r_below(cwb_r_load(bounds + k), v)) << k;
    return __builtin_popcount(below);
}

/* Two steps of sixteen: the last of each sixteen bounds first, then those of one sixteen. */
static void CWB_NAME(codes)(const double *values, int64_t n, const double *bounds, int n_bins,
                            uint8_t *codes) {
    double last[16];
    for (int k = 0; k < 16; k++) last[k] = bounds[16 * k + 15];
    for (int64_t i = 0; i < n; i++) {
        const int first = 16 * CWB_NAME(bounds_below)(last, values[i]);
        const int code = first + CWB_NAME(bounds_below)(bounds + first, values[i]);
        codes[i] = (uint8_t)(isnan(values[i]) ? n_bins : code);
    }
}
#else
#define CWB_TOGETHER 16 /* values searched in step: none waits for another */

/* All searches halve the same numbers of bounds, so that they take no branch on a comparison. */
static void CWB_NAME(codes)(const double *values, int64_t n, const double *bounds, int n_bins,
                            uint8_t *codes) {
    for (int64_t first = 0; first < n; first += CWB_TOGETHER) {
        const int64_t m = n - first < CWB_TOGETHER ? n - first : CWB_TOGETHER;
        double value[CWB_TOGETHER];
        int64_t low[CWB_TOGETHER] = {0};
        for (int64_t k = 0; k < CWB_TOGETHER; k++) value[k] = values[first + (k < m ? k : 0)];
        for (int length = n_bins, half; length > 1; length -= half) {
            half = length / 2;
            for (int k = 0; k < CWB_TOGETHER; k++)
                low[k] += bounds[low[k] + half - 1] < value[k] ? half : 0;
        }
        for (int64_t k = 0; k < m; k++)
            codes[first + k] = (uint8_t)(isnan(value[k]) ? n_bins : low[k]);
    }
}
#undef CWB_TOGETHER
#endif
