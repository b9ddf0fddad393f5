/* The values of kernel_values.h. The compiler makes vectors of single precision of the loop. */
static void CWB_NAME(kernel_values_of_squares)(const float *restrict d, int64_t n, float factor,
                                               float unit, double *restrict out) {
    for (int64_t i = 0; i < n; i++) {
        const float grown = d[i] * factor + 1.0f, squared = grown * grown;
        const float value = unit / (squared * squared);
        out[i] = (double)((value + CWB_ROUND_FLOAT) - CWB_ROUND_FLOAT);
    }
}
