/* Operations on eight examples that only these kernels need, beside those of common/lanes.h. */

#define cwb_choice CWB_NAME(cwb_choice)
#define cwb_choice_of CWB_NAME(cwb_choice_of)
#define cwb_choose CWB_NAME(cwb_choose)
#define cwb_min CWB_NAME(cwb_min)
#define cwb_r_min CWB_NAME(cwb_r_min)
#define cwb_r_sub_unless CWB_NAME(cwb_r_sub_unless)

/* Two numbers to choose from. */
typedef struct {
#if CWB_IS(AVX2)
    __m256d pair; /* `clear` in lanes 0 and 2, `set` in 1 and 3 */
#else
    cwb_doubles set, clear;
#endif
} cwb_choice;

CWB_INLINE cwb_choice cwb_choice_of(double set, double clear) {
#if CWB_IS(AVX2)
    return (cwb_choice){_mm256_setr_pd(clear, set, clear, set)};
#else
    return (cwb_choice){cwb_splat(set), cwb_splat(clear)};
#endif
}

/* `set` in lanes with the mask set, else `clear`: with AVX2 one permutation, by which each lane
 * takes a neighbour, in place of the three logical operations of cwb_pick. */
CWB_INLINE cwb_doubles cwb_choose(cwb_mask m, cwb_choice of) {
#if CWB_IS(AVX2)
#define PART(k, m) (cwb_register) _mm256_permutevar_pd(of.pair, (__m256i)m.part[k])
    return (cwb_doubles){{CWB_PER_PART(PART, m)}};
#undef PART
#else
    return cwb_pick(m, of.set, of.clear);
#endif
}

/* The smaller; y if either is NaN. */
CWB_INLINE cwb_register cwb_r_min(cwb_register x, cwb_register y) {
#if CWB_IS(AVX512)
    return _mm512_min_pd(x, y);
#elif CWB_IS(AVX2)
    return (cwb_register)_mm256_min_pd((__m256d)x, (__m256d)y);
#elif CWB_IS(SSE2)
    return (cwb_register)_mm_min_pd((__m128d)x, (__m128d)y);
#else
    return cwb_r_pick(x < y, x, y);
#endif
}
CWB_OF_2(cwb_doubles, cwb_min, cwb_r_min, cwb_doubles, cwb_doubles)

/* sum - x in lanes with the mask clear, else sum; in one register. */
CWB_INLINE cwb_register cwb_r_sub_unless(cwb_register sum, cwb_register_mask m, cwb_register x) {
#if CWB_IS(AVX512)
    return cwb_r_sub_where(sum, cwb_r_not(m), x);
#elif CWB_IS(AVX2)
    /* Not cwb_r_drop: the compiler would form the opposite of the mask in a register of its own. */
    return sum - (cwb_register)_mm256_andnot_pd((__m256d)m, (__m256d)x);
#else
    return sum - cwb_r_drop(m, x);
#endif
}
