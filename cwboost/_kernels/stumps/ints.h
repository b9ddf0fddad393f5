/* One register of int32 numbers, for the walks of the stump search. Included once per instruction
 * set by kernels_body.h. */
#define CWB_INTS (CWB_REGISTER_BYTES / 4)
#define cwb_ints CWB_NAME(cwb_ints)
#define cwb_ints_load CWB_NAME(cwb_ints_load)
#define cwb_ints_store CWB_NAME(cwb_ints_store)
#define cwb_ints_abs CWB_NAME(cwb_ints_abs)
#define cwb_ints_max CWB_NAME(cwb_ints_max)
#define cwb_ints_spread CWB_NAME(cwb_ints_spread)

typedef int32_t cwb_ints __attribute__((vector_size(CWB_REGISTER_BYTES)));

CWB_INLINE cwb_ints cwb_ints_load(const int32_t *p) {
    cwb_ints a;
    memcpy(&a, p, sizeof a);
    return a;
}
CWB_INLINE void cwb_ints_store(int32_t *p, cwb_ints a) { memcpy(p, &a, sizeof a); }

/* A byte, 0 or 0xFF, in all bytes. */
CWB_INLINE cwb_ints cwb_ints_spread(uint8_t byte) { return (cwb_ints){0} + (int8_t)byte; }

/* Intrinsics: compilers do not see |x| and max through the last form. */
#if CWB_IS(AVX512)
CWB_INLINE cwb_ints cwb_ints_abs(cwb_ints a) { return (cwb_ints)_mm512_abs_epi32((__m512i)a); }
CWB_INLINE cwb_ints cwb_ints_max(cwb_ints a, cwb_ints b) {
    return (cwb_ints)_mm512_max_epi32((__m512i)a, (__m512i)b);
}
#elif CWB_IS(AVX2)
CWB_INLINE cwb_ints cwb_ints_abs(cwb_ints a) { return (cwb_ints)_mm256_abs_epi32((__m256i)a); }
CWB_INLINE cwb_ints cwb_ints_max(cwb_ints a, cwb_ints b) {
    return (cwb_ints)_mm256_max_epi32((__m256i)a, (__m256i)b);
}
#else
CWB_INLINE cwb_ints cwb_ints_abs(cwb_ints a) { return (a ^ (a >> 31)) - (a >> 31); }
CWB_INLINE cwb_ints cwb_ints_max(cwb_ints a, cwb_ints b) { return b ^ ((a ^ b) & (a > b)); }
#endif
