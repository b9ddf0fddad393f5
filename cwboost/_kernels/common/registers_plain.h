/* Plain C: a register holds one double. A mask has all bits set or none: a branch on data would
 * often be mispredicted. */
typedef double cwb_register;
typedef uint64_t cwb_register_mask;

#define cwb_r_bits CWB_NAME(cwb_r_bits)
#define cwb_r_of_bits CWB_NAME(cwb_r_of_bits)

CWB_INLINE uint64_t cwb_r_bits(cwb_register x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
CWB_INLINE cwb_register cwb_r_of_bits(uint64_t bits) {
    cwb_register x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
CWB_INLINE cwb_register cwb_r_splat(double x) { return x; }
CWB_INLINE cwb_register cwb_r_load(const double *p) { return *p; }
CWB_INLINE void cwb_r_store(double *p, cwb_register x) { *p = x; }
CWB_INLINE cwb_register_mask cwb_r_not(cwb_register_mask m) { return ~m; }
CWB_INLINE cwb_register_mask cwb_r_and(cwb_register_mask m, cwb_register_mask n) { return m & n; }
CWB_INLINE cwb_register cwb_r_pick(cwb_register_mask m, cwb_register x, cwb_register y) {
    return cwb_r_of_bits(cwb_r_bits(y) ^ ((cwb_r_bits(x) ^ cwb_r_bits(y)) & m));
}
CWB_INLINE cwb_register cwb_r_keep(cwb_register_mask m, cwb_register x) {
    return cwb_r_of_bits(cwb_r_bits(x) & m);
}
CWB_INLINE cwb_register cwb_r_drop(cwb_register_mask m, cwb_register x) {
    return cwb_r_of_bits(cwb_r_bits(x) & ~m);
}
CWB_INLINE cwb_register cwb_r_add_where(cwb_register sum, cwb_register_mask m, cwb_register x) {
    return sum + cwb_r_keep(m, x);
}
CWB_INLINE cwb_register cwb_r_sub_where(cwb_register sum, cwb_register_mask m, cwb_register x) {
    return sum - cwb_r_keep(m, x);
}
CWB_INLINE cwb_register_mask cwb_r_below(cwb_register x, cwb_register y) {
    return 0 - (uint64_t)(x < y);
}
CWB_INLINE cwb_register cwb_r_abs(cwb_register x) { return fabs(x); }
CWB_INLINE cwb_register cwb_r_max(cwb_register x, cwb_register y) { return x > y ? x : y; }
CWB_INLINE unsigned cwb_r_signs(cwb_register x) { return (unsigned)(cwb_r_bits(x) >> 63); }
CWB_INLINE cwb_register cwb_r_scale(cwb_register x, cwb_register k) {
    return cwb_r_of_bits(cwb_r_bits(x) + (cwb_r_bits(k) << 52));
}
