/* The sums of means.h: sums[f * width + t] += x[i * n_features + f] * weights[i * width + t]. */
#include "common/lanes.h"

/* Eight targets of `n` neighbouring features, whose sums stay in registers. */
CWB_INLINE void CWB_NAME(add_features)(const double *x, int64_t n_features, const double *weights,
                                       int64_t width, int64_t n_rows, double *sums, const int n) {
    cwb_doubles s[4];
    CWB_UNROLL
    for (int f = 0; f < n; f++) s[f] = cwb_load(sums + f * width);
    for (int64_t i = 0; i < n_rows; i++) {
        const cwb_doubles w = cwb_load(weights + i * width);
        CWB_UNROLL
        for (int f = 0; f < n; f++)
            s[f] = cwb_add(s[f], cwb_mul(cwb_splat(x[i * n_features + f]), w));
    }
    CWB_UNROLL
    for (int f = 0; f < n; f++) cwb_store(sums + f * width, s[f]);
}

static void CWB_NAME(add_means)(const double *x, int64_t n_features, const double *weights,
                                int64_t width, int64_t n_rows, double *sums) {
    for (int64_t t = 0; t < width; t += 8) {
        int64_t f = 0;
        for (; f + 4 <= n_features; f += 4)
            CWB_NAME(add_features)(x + f, n_features, weights + t, width, n_rows,
                                   sums + f * width + t, 4);
        for (; f < n_features; f++)
            CWB_NAME(add_features)(x + f, n_features, weights + t, width, n_rows,
                                   sums + f * width + t, 1);
    }
}

static const cwb_means_kernels CWB_NAME(cwb_means_kernels) = {.add = CWB_NAME(add_means)};
