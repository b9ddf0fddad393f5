/* AVX-512: a register holds eight doubles, and a byte of bits is a mask register. */
typedef __m512d cwb_register;
typedef __mmask8 cwb_register_mask;

CWB_INLINE cwb_register cwb_r_splat(double x) { return _mm512_set1_pd(x); }
CWB_INLINE cwb_register cwb_r_load(const double *p) { return _mm512_loadu_pd(p); }
CWB_INLINE cwb_register cwb_r_gather(const double *p, const int32_t *i) {
    return _mm512_set_pd(p[i[7]], p[i[6]], p[i[5]], p[i[4]], p[i[3]], p[i[2]], p[i[1]], p[i[0]]);
}
CWB_INLINE void cwb_r_store(double *p, cwb_register x) { _mm512_storeu_pd(p, x); }
CWB_INLINE cwb_register_mask cwb_r_not(cwb_register_mask m) { return _knot_mask8(m); }
CWB_INLINE cwb_register_mask cwb_r_and(cwb_register_mask m, cwb_register_mask n) {
    return _kand_mask8(m, n);
}
CWB_INLINE cwb_register cwb_r_pick(cwb_register_mask m, cwb_register x, cwb_register y) {
    return _mm512_mask_blend_pd(m, y, x);
}
CWB_INLINE cwb_register cwb_r_keep(cwb_register_mask m, cwb_register x) {
    return _mm512_maskz_mov_pd(m, x);
}
CWB_INLINE cwb_register cwb_r_drop(cwb_register_mask m, cwb_register x) {
    return _mm512_mask_mov_pd(x, m, _mm512_setzero_pd());
}
CWB_INLINE cwb_register cwb_r_add_where(cwb_register sum, cwb_register_mask m, cwb_register x) {
    return _mm512_mask_add_pd(sum, m, sum, x);
}
CWB_INLINE cwb_register cwb_r_sub_where(cwb_register sum, cwb_register_mask m, cwb_register x) {
    return _mm512_mask_sub_pd(sum, m, sum, x);
}
CWB_INLINE cwb_register_mask cwb_r_below(cwb_register x, cwb_register y) {
    return _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ);
}
CWB_INLINE cwb_register cwb_r_abs(cwb_register x) { return _mm512_abs_pd(x); }
CWB_INLINE cwb_register cwb_r_max(cwb_register x, cwb_register y) { return _mm512_max_pd(x, y); }
CWB_INLINE unsigned cwb_r_signs(cwb_register x) {
    return _cvtmask8_u32(_mm512_movepi64_mask(_mm512_castpd_si512(x)));
}
CWB_INLINE unsigned cwb_r_bits(cwb_register_mask m) { return _cvtmask8_u32(m); }
CWB_INLINE cwb_register cwb_r_scale(cwb_register x, cwb_register k) {
    const __m512i exponent = _mm512_slli_epi64(_mm512_castpd_si512(k), 52);
    return _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(x), exponent));
}
