/* Sums over the rows whose code is at most a bound, in eight lanes and one order. No include guard:
 * bodies of kernels include it once per instruction set. */

/* Eight truth values from bytes that are 0 or 0xFF. */
CWB_INLINE cwb_mask CWB_NAME(mask_of_bytes)(uint64_t which) {
#if CWB_IS(AVX512)
    return (cwb_mask){{_mm_movepi8_mask(_mm_cvtsi64_si128((int64_t)which))}};
#elif CWB_IS(AVX2)
    const __m128i bytes = _mm_cvtsi64_si128((int64_t)which);
    return (cwb_mask){{(cwb_register_mask)_mm256_cvtepi8_epi64(bytes),
                       (cwb_register_mask)_mm256_cvtepi8_epi64(_mm_srli_si128(bytes, 4))}};
#else
    return cwb_mask_of(cwb_bits_of_bytes(which));
#endif
}

/* Write the sum of w and of |w| where codes are at most `last`; return the number of these rows. */
CWB_INLINE int64_t CWB_NAME(sums_up_to)(const uint8_t *codes, const double *w, int64_t n,
                                        uint8_t last, double *out_sum, double *out_mass) {
    double sum = 0.0, mass = 0.0;
    int64_t i = 0, count = 0;
    if (n >= 8) {
        cwb_doubles sums = cwb_zero(), masses = cwb_zero();
        for (; i + 8 <= n; i += 8) {
            const uint64_t which = cwb_bytes_up_to(codes + i, last);
            const cwb_doubles own = cwb_keep(CWB_NAME(mask_of_bytes)(which), cwb_load(w + i));
            /* The multiplication adds up one bit of every byte. */
            count +=
                (int64_t)(((which & UINT64_C(0x0101010101010101)) * UINT64_C(0x0101010101010101)) >>
                          56);
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
    *out_sum = sum;
    *out_mass = mass;
    return count;
}
