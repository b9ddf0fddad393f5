/* The operations on eight examples, put together from those on registers. An array of registers
 * stays in registers only if its places are constants, so CWB_PER_PART lists the parts, of(k, ...)
 * for each k. CWB_OF_1 to CWB_OF_3 define a function of one to three values by what it does to a
 * register of each. */
typedef struct {
    cwb_register part[CWB_PARTS];
} cwb_doubles;

typedef struct {
    cwb_register_mask part[CWB_PARTS];
} cwb_mask;

#define CWB_1(k, of, x) of((x).part[k])
#define CWB_2(k, of, x, y) of((x).part[k], (y).part[k])
#define CWB_3(k, of, x, y, z) of((x).part[k], (y).part[k], (z).part[k])
#define CWB_OF_1(result, name, of, type) \
    CWB_INLINE result name(type x) { return (result){{CWB_PER_PART(CWB_1, of, x)}}; }
#define CWB_OF_2(result, name, of, type_x, type_y) \
    CWB_INLINE result name(type_x x, type_y y) { return (result){{CWB_PER_PART(CWB_2, of, x, y)}}; }
#define CWB_OF_3(result, name, of, type_x, type_y, type_z)   \
    CWB_INLINE result name(type_x x, type_y y, type_z z) {   \
        return (result){{CWB_PER_PART(CWB_3, of, x, y, z)}}; \
    }
#define CWB_R_ADD(x, y) ((x) + (y))
#define CWB_R_SUB(x, y) ((x) - (y))
#define CWB_R_MUL(x, y) ((x) * (y))

/* x in every lane. */
CWB_INLINE cwb_doubles cwb_splat(double x) {
#define PART(k, x) cwb_r_splat(x)
    return (cwb_doubles){{CWB_PER_PART(PART, x)}};
#undef PART
}

CWB_INLINE cwb_doubles cwb_zero(void) { return cwb_splat(0.0); }

/* p at eight places. */
CWB_INLINE cwb_doubles cwb_gather(const double *p, const int32_t *places) {
#define PART(k, p) cwb_r_gather(p, places + CWB_LANES * (k))
    return (cwb_doubles){{CWB_PER_PART(PART, p)}};
#undef PART
}

CWB_INLINE cwb_doubles cwb_load(const double *p) {
#define PART(k, p) cwb_r_load(p + CWB_LANES * (k))
    return (cwb_doubles){{CWB_PER_PART(PART, p)}};
#undef PART
}

CWB_INLINE void cwb_store(double *p, cwb_doubles x) {
    CWB_UNROLL
    for (int k = 0; k < CWB_PARTS; k++) cwb_r_store(p + CWB_LANES * k, x.part[k]);
}

CWB_OF_2(cwb_doubles, cwb_add, CWB_R_ADD, cwb_doubles, cwb_doubles)
CWB_OF_2(cwb_doubles, cwb_sub, CWB_R_SUB, cwb_doubles, cwb_doubles)
CWB_OF_2(cwb_doubles, cwb_mul, CWB_R_MUL, cwb_doubles, cwb_doubles)
CWB_OF_1(cwb_doubles, cwb_abs, cwb_r_abs, cwb_doubles)

/* The larger; y if either is NaN. */
CWB_OF_2(cwb_doubles, cwb_max, cwb_r_max, cwb_doubles, cwb_doubles)

/* x * 2^n with n the integer in the lowest bits of k. */
CWB_OF_2(cwb_doubles, cwb_scale, cwb_r_scale, cwb_doubles, cwb_doubles)

/* The sum over the lanes: ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)). */
CWB_INLINE double cwb_sum(cwb_doubles x) {
#if CWB_IS(AVX512)
    const __m256d four =
        _mm256_add_pd(_mm512_castpd512_pd256(x.part[0]), _mm512_extractf64x4_pd(x.part[0], 1));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
#elif CWB_PARTS == 2
    const cwb_register four = x.part[0] + x.part[1];
    return (four[0] + four[2]) + (four[1] + four[3]);
#else
    const cwb_register two = (x.part[0] + x.part[2]) + (x.part[1] + x.part[3]);
    return two[0] + two[1];
#endif
}

/* The mask of a byte of bits. */
#if CWB_IS(AVX512)
CWB_INLINE cwb_mask cwb_mask_of(unsigned byte) { return (cwb_mask){{(__mmask8)byte}}; }

/* Loaded into a mask register directly, which compilers do not do. */
CWB_INLINE cwb_mask cwb_mask_at(const uint8_t *p) {
    cwb_mask m;
    __asm__("kmovb %1, %0" : "=k"(m.part[0]) : "m"(*p));
    return m;
}
#else
/* One lane of a register per bit of the index. */
#if CWB_LANES == 4
static const int64_t cwb_mask_table[16][4] CWB_ALIGNED(32) = {
    {0, 0, 0, 0},   {-1, 0, 0, 0},   {0, -1, 0, 0},   {-1, -1, 0, 0},
    {0, 0, -1, 0},  {-1, 0, -1, 0},  {0, -1, -1, 0},  {-1, -1, -1, 0},
    {0, 0, 0, -1},  {-1, 0, 0, -1},  {0, -1, 0, -1},  {-1, -1, 0, -1},
    {0, 0, -1, -1}, {-1, 0, -1, -1}, {0, -1, -1, -1}, {-1, -1, -1, -1}};
#else
static const int64_t cwb_mask_table[4][2] CWB_ALIGNED(16) = {{0, 0}, {-1, 0}, {0, -1}, {-1, -1}};
#endif
CWB_INLINE cwb_register_mask cwb_r_mask(int k, unsigned byte) {
    const unsigned at = (byte >> (CWB_LANES * k)) & ((1u << CWB_LANES) - 1);
    cwb_register_mask m;
    memcpy(&m, cwb_mask_table[at], sizeof m);
    return m;
}
CWB_INLINE cwb_mask cwb_mask_of(unsigned byte) {
    return (cwb_mask){{CWB_PER_PART(cwb_r_mask, byte)}};
}
CWB_INLINE cwb_mask cwb_mask_at(const uint8_t *p) { return cwb_mask_of(*p); }
#endif

CWB_OF_1(cwb_mask, cwb_not, cwb_r_not, cwb_mask)
CWB_OF_2(cwb_mask, cwb_and, cwb_r_and, cwb_mask, cwb_mask)

/* x < y in each lane; false if either is NaN. */
CWB_OF_2(cwb_mask, cwb_below, cwb_r_below, cwb_doubles, cwb_doubles)

/* x in lanes with the mask set, else y. */
CWB_OF_3(cwb_doubles, cwb_pick, cwb_r_pick, cwb_mask, cwb_doubles, cwb_doubles)

/* x in lanes with the mask set, else zero. */
CWB_OF_2(cwb_doubles, cwb_keep, cwb_r_keep, cwb_mask, cwb_doubles)

/* Zero in lanes with the mask set, else x. */
CWB_OF_2(cwb_doubles, cwb_drop, cwb_r_drop, cwb_mask, cwb_doubles)

/* sum + x in lanes with the mask set, else sum; sum must not be -0. */
CWB_OF_3(cwb_doubles, cwb_add_where, cwb_r_add_where, cwb_doubles, cwb_mask, cwb_doubles)
CWB_OF_3(cwb_doubles, cwb_sub_where, cwb_r_sub_where, cwb_doubles, cwb_mask, cwb_doubles)

/* A byte with the bit of each lane whose sign is set. */
CWB_INLINE unsigned cwb_signs(cwb_doubles x) {
    unsigned byte = 0;
    CWB_UNROLL
    for (int k = 0; k < CWB_PARTS; k++) byte |= cwb_r_signs(x.part[k]) << (CWB_LANES * k);
    return byte;
}
