/* One register of int32 numbers, for the walks of the stump search. Included once per instruction
 * set by kernels_body.h. */
#define CWB_INTS (CWB_REGISTER_BYTES / 4)
#define cwb_ints CWB_NAME(cwb_ints)
#define cwb_ints_load CWB_NAME(cwb_ints_load)
#define cwb_ints_store CWB_NAME(cwb_ints_store)
#define cwb_ints_add CWB_NAME(cwb_ints_add)
#define cwb_ints_and CWB_NAME(cwb_ints_and)
#define cwb_ints_abs CWB_NAME(cwb_ints_abs)
#define cwb_ints_max CWB_NAME(cwb_ints_max)
#define cwb_ints_spread CWB_NAME(cwb_ints_spread) /* a byte, 0 or 0xFF, in all bytes */

#if CWB_IS(AVX512)
typedef __m512i cwb_ints;
CWB_INLINE cwb_ints cwb_ints_load(const int32_t *p) { return _mm512_loadu_si512(p); }
CWB_INLINE void cwb_ints_store(int32_t *p, cwb_ints a) { _mm512_storeu_si512(p, a); }
CWB_INLINE cwb_ints cwb_ints_add(cwb_ints a, cwb_ints b) { return _mm512_add_epi32(a, b); }
CWB_INLINE cwb_ints cwb_ints_and(cwb_ints a, cwb_ints b) { return _mm512_and_si512(a, b); }
CWB_INLINE cwb_ints cwb_ints_abs(cwb_ints a) { return _mm512_abs_epi32(a); }
CWB_INLINE cwb_ints cwb_ints_max(cwb_ints a, cwb_ints b) { return _mm512_max_epi32(a, b); }
CWB_INLINE cwb_ints cwb_ints_spread(uint8_t byte) { return _mm512_set1_epi8((char)byte); }
#elif CWB_IS(AVX2)
/* Intrinsics: compilers do not see |x| and max through the form below. */
typedef __m256i cwb_ints;
CWB_INLINE cwb_ints cwb_ints_load(const int32_t *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}
CWB_INLINE void cwb_ints_store(int32_t *p, cwb_ints a) { _mm256_storeu_si256((__m256i *)p, a); }
CWB_INLINE cwb_ints cwb_ints_add(cwb_ints a, cwb_ints b) { return _mm256_add_epi32(a, b); }
CWB_INLINE cwb_ints cwb_ints_and(cwb_ints a, cwb_ints b) { return _mm256_and_si256(a, b); }
CWB_INLINE cwb_ints cwb_ints_abs(cwb_ints a) { return _mm256_abs_epi32(a); }
CWB_INLINE cwb_ints cwb_ints_max(cwb_ints a, cwb_ints b) { return _mm256_max_epi32(a, b); }
CWB_INLINE cwb_ints cwb_ints_spread(uint8_t byte) { return _mm256_set1_epi8((char)byte); }
#else
typedef int32_t cwb_ints __attribute__((vector_size(CWB_REGISTER_BYTES)));
CWB_INLINE cwb_ints cwb_ints_max(cwb_ints a, cwb_ints b) { return b ^ ((a ^ b) & (a > b)); }
CWB_INLINE cwb_ints cwb_ints_spread(uint8_t byte) {
    const int32_t all = -(int32_t)(byte & 1);
    return (cwb_ints){all, all, all, all};
}
CWB_INLINE cwb_ints cwb_ints_load(const int32_t *p) {
    cwb_ints a;
    memcpy(&a, p, sizeof a);
    return a;
}
CWB_INLINE void cwb_ints_store(int32_t *p, cwb_ints a) { memcpy(p, &a, sizeof a); }
CWB_INLINE cwb_ints cwb_ints_add(cwb_ints a, cwb_ints b) { return a + b; }
CWB_INLINE cwb_ints cwb_ints_and(cwb_ints a, cwb_ints b) { return a & b; }
CWB_INLINE cwb_ints cwb_ints_abs(cwb_ints a) { return (a ^ (a >> 31)) - (a >> 31); }
#endif
