/* Sums over the weights of a node, in eight lanes, and outputs of a tree from the codes.
 *
 * A node's sums take one pass over its weights. For outputs, a node holds the set of rows that
 * reach it, one comparison of bytes gives the set that goes right, and a positive leaf adds its set
 * to the tree's: a byte per inner node and row, without a branch. */

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

/* Outputs of a tree on CWB_BYTES * turns rows. */
CWB_INLINE void CWB_NAME(block_outputs)(const cwb_coded *nodes, int64_t n_inner,
                                        const uint8_t *codes, int64_t stride, int turns,
                                        CWB_NAME(bytes) * sets, uint8_t *positive) {
    const CWB_NAME(bytes) none = {0};
    for (int64_t i = 0; i < n_inner + CWB_FIRST; i++) sets[i] = none;
    sets[CWB_FIRST] = ~none;
    for (int64_t i = 0; i < n_inner; i++) {
        const cwb_coded node = nodes[i];
        const CWB_NAME(bytes) here = sets[CWB_FIRST + i];
        const CWB_NAME(bytes) right =
            CWB_NAME(set_on_right)(codes + node.feature * stride, turns, node.first, node.width);
        sets[node.left] |= here & ~right;
        sets[node.right] |= here & right;
    }
    for (int j = 0; j < turns; j++) {
        const CWB_NAME(bytes) bytes = (sets[CWB_POSITIVE] >> j) & 1;
        memcpy(positive + CWB_BYTES * j, &bytes, sizeof bytes);
    }
}

/* Outputs of a tree, as bytes 0 or 1; columns of codes are `stride` apart. Reads up to 31 codes
 * beyond a column, writes up to 31 bytes beyond the last row. */
static void CWB_NAME(outputs_by_codes)(const cwb_coded *nodes, int64_t n_inner,
                                       const uint8_t *codes, int64_t stride, int64_t n_rows,
                                       void *reach, uint8_t *positive) {
    const int64_t block = CWB_BYTES * CWB_TURNS;
    for (int64_t row = 0; row < n_rows; row += block) {
        const int64_t left = n_rows - row;
        if (left >= block) {
            CWB_NAME(block_outputs)(nodes, n_inner, codes + row, stride, CWB_TURNS, reach,
                                    positive + row);
        } else {
            CWB_NAME(block_outputs)(nodes, n_inner, codes + row, stride,
                                    (int)((left + CWB_BYTES - 1) / CWB_BYTES), reach,
                                    positive + row);
        }
    }
}
#undef CWB_BYTES
#undef CWB_TURNS
