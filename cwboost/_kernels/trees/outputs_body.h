/* Sums over the weights of a node, in eight lanes, and the leaves that rows reach, from the codes.
 *
 * A node's sums take one pass over its weights. For leaves, a node holds the set of rows that reach
 * it, and one comparison of bytes gives the set that goes right: a byte per inner node and row,
 * without a branch. */

/* Up to eight numbers, padded with zeros. */
CWB_INLINE cwb_doubles CWB_NAME(load_some)(const double *x, int64_t n) {
    double lane[8] = {0.0};
    memcpy(lane, x, (size_t)n * sizeof(double));
    return cwb_load(lane);
}

/* Sum and mass of rounded weights, which are integers. */
static void CWB_NAME(node_sums)(const double *weights, int64_t n, double *out) {
    cwb_doubles sums = cwb_zero(), masses = cwb_zero();
    for (int64_t i = 0; i < n; i += 8) {
        const cwb_doubles w =
            i + 8 <= n ? cwb_load(weights + i) : CWB_NAME(load_some)(weights + i, n - i);
        sums = cwb_add(sums, w);
        masses = cwb_add(masses, cwb_abs(w));
    }
    out[0] = cwb_sum(sums);
    out[1] = cwb_sum(masses);
}

/* The sum of |weight|, up to rounding. */
static double CWB_NAME(mass)(const double *weights, int64_t n) {
    cwb_doubles masses = cwb_zero();
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) masses = cwb_add(masses, cwb_abs(cwb_load(weights + i)));
    return cwb_sum(cwb_add(masses, cwb_abs(CWB_NAME(load_some)(weights + i, n - i))));
}

/* A register of bytes, all bits set if true. With AVX-512, half a register, since its comparisons
 * of bytes give masks, which would have to be turned back into bytes. */
#if CWB_IS(AVX512)
#define CWB_BYTES 32
#else
#define CWB_BYTES CWB_REGISTER_BYTES
#endif
typedef uint8_t CWB_NAME(bytes) __attribute__((vector_size(CWB_BYTES)));
CWB_INLINE CWB_NAME(bytes) CWB_NAME(in_range)(CWB_NAME(bytes) code, uint8_t first, uint8_t width) {
    return (CWB_NAME(bytes))((CWB_NAME(bytes))(code - first) < width);
}
#define CWB_TURNS 8 /* one bit per turn of a set's byte */

/* Of CWB_BYTES * turns rows those that go right at a node: row CWB_BYTES * j + lane is bit j of
 * byte `lane`. */
CWB_INLINE CWB_NAME(bytes)
    CWB_NAME(set_on_right)(const uint8_t *codes, int turns, uint8_t first, uint8_t width) {
    CWB_NAME(bytes) right = {0}, code;
    for (int j = 0; j < turns; j++) {
        memcpy(&code, codes + CWB_BYTES * j, sizeof code);
        right |= CWB_NAME(in_range)(code, first, width) & (uint8_t)(1 << j);
    }
    return right;
}

/* The places that CWB_BYTES * turns rows reach. */
CWB_INLINE void CWB_NAME(block_leaves)(const cwb_coded *nodes, int64_t n_inner, int n_leaves,
                                       const uint8_t *codes, int64_t stride, int turns,
                                       CWB_NAME(bytes) * sets, uint8_t *leaves) {
    const CWB_NAME(bytes) none = {0};
    CWB_NAME(bytes) bits[8];
    for (int64_t i = 0; i < n_inner + n_leaves; i++) sets[i] = none;
    sets[n_leaves] = ~none;
    for (int64_t i = 0; i < n_inner; i++) {
        const cwb_coded node = nodes[i];
        const CWB_NAME(bytes) here = sets[n_leaves + i];
        const CWB_NAME(bytes) right =
            CWB_NAME(set_on_right)(codes + node.feature * stride, turns, node.first, node.width);
        sets[node.left] |= here & ~right;
        sets[node.right] |= here & right;
    }
    int n_bits = 0;
    for (; 1 << n_bits < n_leaves; n_bits++) {
        bits[n_bits] = none; /* rows of the leaves whose place has the bit */
        for (int k = 1 << n_bits; k < n_leaves; k = (k + 1) | 1 << n_bits) bits[n_bits] |= sets[k];
    }
    for (int j = 0; j < turns; j++) {
        CWB_NAME(bytes) bytes = none;
        for (int b = 0; b < n_bits; b++) bytes |= ((bits[b] >> j) & 1) << b;
        memcpy(leaves + CWB_BYTES * j, &bytes, sizeof bytes);
    }
}

/* The place among up to 256 leaves that each row reaches; columns of codes are `stride` apart.
 * Reads up to 31 codes beyond a column, writes up to 31 bytes beyond the last row. */
static void CWB_NAME(leaves_by_codes)(const cwb_coded *nodes, int64_t n_inner, int n_leaves,
                                      const uint8_t *codes, int64_t stride, int64_t n_rows,
                                      void *reach, uint8_t *leaves) {
    const int64_t block = CWB_BYTES * CWB_TURNS;
    for (int64_t row = 0; row < n_rows; row += block) {
        const int64_t left = n_rows - row;
        if (left >= block) {
            CWB_NAME(block_leaves)(nodes, n_inner, n_leaves, codes + row, stride, CWB_TURNS, reach,
                                   leaves + row);
        } else {
            CWB_NAME(block_leaves)(nodes, n_inner, n_leaves, codes + row, stride,
                                   (int)((left + CWB_BYTES - 1) / CWB_BYTES), reach, leaves + row);
        }
    }
}
#undef CWB_BYTES
#undef CWB_TURNS
