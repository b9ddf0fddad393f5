/* The largest gain of each of eight features, from histograms of integers (screen.h). One pass over
 * the bins, two with missing values: 64 bytes per bin, with a dozen operations per register. */

/* A register of 64-bit integers, those below 2^52 as doubles, and back to memory. */
#if CWB_IS(PLAIN)
typedef uint64_t CWB_NAME(words);
CWB_INLINE cwb_register CWB_NAME(numbers)(uint64_t x) { return (double)x; }
CWB_INLINE uint64_t CWB_NAME(low_half)(uint64_t x) { return x & UINT64_C(0xFFFFFFFF); }
#else
typedef uint64_t CWB_NAME(words) __attribute__((vector_size(CWB_REGISTER_BYTES)));
/* Without the conversion that SSE2 and AVX2 lack: the bits of 2^52 + x. */
CWB_INLINE cwb_register CWB_NAME(numbers)(CWB_NAME(words) x) {
    return (cwb_register)(x | UINT64_C(0x4330000000000000)) - cwb_r_splat(4503599627370496.0);
}
CWB_INLINE CWB_NAME(words) CWB_NAME(low_half)(CWB_NAME(words) x) {
    return x & UINT64_C(0xFFFFFFFF);
}
#endif

/* Some features' largest gains so far, as fractions. */
typedef struct {
    cwb_register num, den;
} CWB_NAME(fractions);

/* Take the gains num / den that are larger. */
CWB_INLINE void CWB_NAME(raise)(cwb_register num, cwb_register den, CWB_NAME(fractions) * best) {
    const cwb_register_mask larger = cwb_r_below(best->num * den, num * best->den);
    best->num = cwb_r_pick(larger, num, best->num);
    best->den = cwb_r_pick(larger, den, best->den);
}

/* Raise the largest gains by those of all prefixes of n bins beyond `total`. With the sums l, a of
 * the left side and S, A of both the gain of gini is
 * l^2 / a + (S - l)^2 / (A - a) - S^2 / A = (l A - a S)^2 / (A a (A - a)), and with the positive
 * part p of a, l = 2 p - a. Even and odd bins have separate maxima, so that they are independent.
 * Clears the bins if `clear` is set. */
CWB_INLINE void CWB_NAME(screen_gini)(uint64_t *hist, int32_t n, CWB_NAME(words) total,
                                      cwb_sums node, int clear, CWB_NAME(fractions) * best) {
    const CWB_NAME(words) none = {0};
    const cwb_register mass = cwb_r_splat(node.mass), twice = cwb_r_splat(2.0 * node.mass);
    const cwb_register both = cwb_r_splat(node.mass + node.sum);
    CWB_NAME(fractions) even_odd[2] = {*best, *best};
    CWB_NAME(words) here;
    for (int32_t bin = 0; bin < n; bin += 2) {
        CWB_UNROLL
        for (int odd = 0; odd < 2; odd++) {
            memcpy(&here, hist + 8 * (bin + odd), sizeof here);
            if (clear) memcpy(hist + 8 * (bin + odd), &none, sizeof none);
            total += here;
            const cwb_register left_mass = CWB_NAME(numbers)(total >> 32);
            const cwb_register positive = CWB_NAME(numbers)(CWB_NAME(low_half)(total));
            const cwb_register x = positive * twice - left_mass * both;
            CWB_NAME(raise)(x * x, left_mass * (mass - left_mass), even_odd + odd);
        }
    }
    CWB_NAME(raise)(even_odd[1].num, even_odd[1].den, even_odd);
    *best = even_odd[0];
}

/* The same for the criterion edge, |l| + |S - l| - |S|. */
CWB_INLINE void CWB_NAME(screen_edge)(uint64_t *hist, int32_t n, CWB_NAME(words) total,
                                      cwb_sums node, int clear, CWB_NAME(fractions) * best) {
    const CWB_NAME(words) none = {0};
    const cwb_register sum = cwb_r_splat(node.sum), size = cwb_r_splat(fabs(node.sum));
    CWB_NAME(words) here;
    for (int32_t bin = 0; bin < n; bin++) {
        memcpy(&here, hist + 8 * bin, sizeof here);
        if (clear) memcpy(hist + 8 * bin, &none, sizeof none);
        total += here;
        const cwb_register positive = CWB_NAME(numbers)(CWB_NAME(low_half)(total));
        const cwb_register left = positive + positive - CWB_NAME(numbers)(total >> 32);
        const cwb_register gain = cwb_r_abs(left) + cwb_r_abs(sum - left) - size;
        best->num = cwb_r_max(gain, best->num);
    }
}

CWB_INLINE void CWB_NAME(screen_pass)(int criterion, uint64_t *hist, int32_t n,
                                      const uint64_t *start, cwb_sums node, int clear,
                                      CWB_NAME(fractions) * best) {
    CWB_NAME(words) total;
    memcpy(&total, start, sizeof total);
    if (criterion == CWB_GINI) {
        CWB_NAME(screen_gini)(hist, n, total, node, clear, best);
    } else {
        CWB_NAME(screen_edge)(hist, n, total, node, clear, best);
    }
}

/* In units, into `gains`; clears the histograms. n_bins are the features' bins of values; the code
 * behind these is "missing". `total` is the sum of all. Missing values are the last code: on the
 * right of every prefix, and "values against missing" is one of them; then on the left. */
static void CWB_NAME(screen_gains)(int criterion, uint64_t *hist, const int32_t *n_bins,
                                   uint64_t total, double *gains) {
    const double mass = (double)(total >> 32);
    const cwb_sums node = {2.0 * (double)(total & UINT64_C(0xFFFFFFFF)) - mass, mass};
    const uint64_t none[8] = {0};
    uint64_t missing[8] = {0}, any = 0;
    CWB_NAME(fractions) best[CWB_PARTS];
    int32_t n = 0;
    for (int k = 0; k < CWB_SCREENED; k++) {
        n = n_bins[k] > n ? n_bins[k] : n;
        if (n_bins[k] == CWB_BINS) continue; /* no code is left for missing values */
        missing[k] = hist[8 * n_bins[k] + k];
        any |= missing[k];
    }
    const int32_t n_codes = n < CWB_BINS ? n + 1 : CWB_BINS; /* one more, empty, if odd */
    for (int k = 0; k < CWB_PARTS; k++) {
        best[k].num = cwb_r_splat(0.0);
        best[k].den = cwb_r_splat(1.0);
        if (any)
            CWB_NAME(screen_pass)(criterion, hist + CWB_LANES * k, n_codes, none, node, 0,
                                  best + k);
    }
    for (int k = 0; any && k < CWB_SCREENED; k++)
        if (n_bins[k] < CWB_BINS) hist[8 * n_bins[k] + k] = 0;
    for (int k = 0; k < CWB_PARTS; k++) {
        CWB_NAME(screen_pass)(criterion, hist + CWB_LANES * k, n_codes, missing + CWB_LANES * k,
                              node, 1, best + k);
        if (criterion == CWB_GINI && mass > 0.0)
            best[k].num = best[k].num / (best[k].den * cwb_r_splat(mass));
        cwb_r_store(gains + CWB_LANES * k, best[k].num);
    }
}
