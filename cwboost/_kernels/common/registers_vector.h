/* AVX2 and the base: vectors of GCC and clang as wide as a register. A mask has all bits of a
 * lane set or none; two logical operations select a lane, which are fast on every processor (a
 * blend takes two or three on many). */
typedef double cwb_register __attribute__((vector_size(CWB_REGISTER_BYTES)));
typedef int64_t cwb_register_mask __attribute__((vector_size(CWB_REGISTER_BYTES)));

CWB_INLINE cwb_register cwb_r_load(const double *p) {
    cwb_register x;
    memcpy(&x, p, sizeof x);
    return x;
}
CWB_INLINE void cwb_r_store(double *p, cwb_register x) { memcpy(p, &x, sizeof x); }
#if CWB_LANES == 4
CWB_INLINE cwb_register cwb_r_gather(const double *p, const int32_t *i) {
    return (cwb_register){p[i[0]], p[i[1]], p[i[2]], p[i[3]]};
}
CWB_INLINE cwb_register cwb_r_splat(double x) { return (cwb_register){x, x, x, x}; }
#else
CWB_INLINE cwb_register cwb_r_gather(const double *p, const int32_t *i) {
    return (cwb_register){p[i[0]], p[i[1]]};
}
CWB_INLINE cwb_register cwb_r_splat(double x) { return (cwb_register){x, x}; }
#endif
CWB_INLINE cwb_register_mask cwb_r_not(cwb_register_mask m) { return ~m; }
CWB_INLINE cwb_register_mask cwb_r_and(cwb_register_mask m, cwb_register_mask n) { return m & n; }
CWB_INLINE cwb_register cwb_r_pick(cwb_register_mask m, cwb_register x, cwb_register y) {
    const cwb_register_mask bits = (cwb_register_mask)y;
    return (cwb_register)(bits ^ (((cwb_register_mask)x ^ bits) & m));
}
CWB_INLINE cwb_register cwb_r_keep(cwb_register_mask m, cwb_register x) {
    return (cwb_register)((cwb_register_mask)x & m);
}
CWB_INLINE cwb_register cwb_r_drop(cwb_register_mask m, cwb_register x) {
    return (cwb_register)((cwb_register_mask)x & ~m);
}
CWB_INLINE cwb_register cwb_r_add_where(cwb_register sum, cwb_register_mask m, cwb_register x) {
    return sum + cwb_r_keep(m, x);
}
CWB_INLINE cwb_register cwb_r_sub_where(cwb_register sum, cwb_register_mask m, cwb_register x) {
    return sum - cwb_r_keep(m, x);
}
CWB_INLINE cwb_register_mask cwb_r_below(cwb_register x, cwb_register y) { return x < y; }
CWB_INLINE cwb_register cwb_r_abs(cwb_register x) {
    return (cwb_register)((cwb_register_mask)x & INT64_MAX);
}
CWB_INLINE cwb_register cwb_r_max(cwb_register x, cwb_register y) {
#if CWB_IS(AVX2)
    return (cwb_register)_mm256_max_pd((__m256d)x, (__m256d)y);
#elif CWB_IS(SSE2)
    return (cwb_register)_mm_max_pd((__m128d)x, (__m128d)y);
#else
    return cwb_r_pick(x > y, x, y);
#endif
}
CWB_INLINE unsigned cwb_r_signs(cwb_register x) {
#if CWB_IS(AVX2)
    return (unsigned)_mm256_movemask_pd((__m256d)x);
#elif CWB_IS(SSE2)
    return (unsigned)_mm_movemask_pd((__m128d)x);
#else
    const cwb_register_mask bits = (cwb_register_mask)x;
    return (unsigned)((uint64_t)bits[0] >> 63) | (unsigned)((uint64_t)bits[1] >> 63) << 1;
#endif
}
CWB_INLINE unsigned cwb_r_bits(cwb_register_mask m) { return cwb_r_signs((cwb_register)m); }
CWB_INLINE cwb_register cwb_r_scale(cwb_register x, cwb_register k) {
    return (cwb_register)((cwb_register_mask)x + ((cwb_register_mask)k << 52));
}
