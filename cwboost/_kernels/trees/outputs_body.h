/* Sums over the weights of a node, in eight lanes, and outputs of a tree from the codes.
 *
 * A node's sums take one pass over its weights. For outputs, a node holds the set of rows that
 * reach it, one comparison of bytes gives the set that goes right, and a positive leaf adds its set
 * to the tree's: a byte per inner node and row, without a branch. */
CWB_INLINE double CWB_NAME(sum_of_lanes)(cwb_doubles x) {
    double lane[8], sum = 0.0;
    cwb_store(lane, x);
    for (int k = 0; k < 8; k++) sum += lane[k];
    return sum;
}

/* Up to eight numbers, padded with zeros. */
CWB_INLINE cwb_doubles CWB_NAME(load_some)(const double *x, int64_t n) {
    double lane[8] = {0.0};
    memcpy(lane, x, (size_t)n * sizeof(double));
    return cwb_load(lane);
}

/* Sum and mass of a node, and the sum of squares. */
static void CWB_NAME(node_sums)(const double *weights, int64_t n, double *sum, double *mass,
                                double *squares) {
    cwb_doubles sums = cwb_zero(), masses = cwb_zero(), squared = cwb_zero();
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const cwb_doubles w = cwb_load(weights + i);
        sums = cwb_add(sums, w);
        masses = cwb_add(masses, cwb_abs(w));
        squared = cwb_add(squared, cwb_mul(w, w));
    }
    const cwb_doubles last = CWB_NAME(load_some)(weights + i, n - i);
    *sum = CWB_NAME(sum_of_lanes)(cwb_add(sums, last));
    *mass = CWB_NAME(sum_of_lanes)(cwb_add(masses, cwb_abs(last)));
    *squares = CWB_NAME(sum_of_lanes)(cwb_add(squared, cwb_mul(last, last)));
}

/* The largest |weight|, and the sum of all weights. */
static void CWB_NAME(largest_and_sum)(const double *weights, int64_t n, double *largest,
                                      double *sum) {
    cwb_doubles sums = cwb_zero(), most = cwb_zero();
    double lane[8];
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const cwb_doubles w = cwb_load(weights + i);
        most = cwb_max(cwb_abs(w), most);
        sums = cwb_add(sums, w);
    }
    const cwb_doubles last = CWB_NAME(load_some)(weights + i, n - i);
    cwb_store(lane, cwb_max(cwb_abs(last), most));
    *largest = 0.0;
    for (int k = 0; k < 8; k++) *largest = lane[k] > *largest ? lane[k] : *largest;
    *sum = CWB_NAME(sum_of_lanes)(cwb_add(sums, last));
}

/* A register of bytes, all bits set if true. With AVX-512, half a register, since its comparisons
 * of bytes give masks, which would have to be turned back into bytes. */
#if CWB_IS(PLAIN)
#define CWB_BYTES 1
typedef uint8_t CWB_NAME(bytes);
CWB_INLINE uint8_t CWB_NAME(in_range)(uint8_t code, uint8_t first, uint8_t width) {
    return (uint8_t)-((uint8_t)(code - first) < width);
}
#else
#if CWB_IS(AVX512)
#define CWB_BYTES 32
#else
#define CWB_BYTES CWB_REGISTER_BYTES
#endif
typedef uint8_t CWB_NAME(bytes) __attribute__((vector_size(CWB_BYTES)));
CWB_INLINE CWB_NAME(bytes) CWB_NAME(in_range)(CWB_NAME(bytes) code, uint8_t first, uint8_t width) {
    return (CWB_NAME(bytes))((CWB_NAME(bytes))(code - first) < width);
}
#endif
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
                                        const uint8_t *codes, int64_t n_rows, int turns,
                                        CWB_NAME(bytes) * sets, uint8_t *positive) {
    const CWB_NAME(bytes) none = {0};
    for (int64_t i = 0; i < n_inner + CWB_FIRST; i++) sets[i] = none;
    sets[CWB_FIRST] = ~none;
    for (int64_t i = 0; i < n_inner; i++) {
        const cwb_coded node = nodes[i];
        const CWB_NAME(bytes) here = sets[CWB_FIRST + i];
        const CWB_NAME(bytes) right =
            CWB_NAME(set_on_right)(codes + node.feature * n_rows, turns, node.first, node.width);
        sets[node.left] |= here & ~right;
        sets[node.right] |= here & right;
    }
    for (int j = 0; j < turns; j++) {
        const CWB_NAME(bytes) bytes = (sets[CWB_POSITIVE] >> j) & 1;
        memcpy(positive + CWB_BYTES * j, &bytes, sizeof bytes);
    }
}

/* Outputs of a tree, as bytes 0 or 1. Reads up to 31 codes beyond a column, writes up to 31 bytes
 * beyond the last row. */
static void CWB_NAME(outputs_by_codes)(const cwb_coded *nodes, int64_t n_inner,
                                       const uint8_t *codes, int64_t n_rows, void *reach,
                                       uint8_t *positive) {
    const int64_t block = CWB_BYTES * CWB_TURNS;
    for (int64_t row = 0; row < n_rows; row += block) {
        const int64_t left = n_rows - row;
        if (left >= block) {
            CWB_NAME(block_outputs)(nodes, n_inner, codes + row, n_rows, CWB_TURNS, reach,
                                    positive + row);
        } else {
            CWB_NAME(block_outputs)(nodes, n_inner, codes + row, n_rows,
                                    (int)((left + CWB_BYTES - 1) / CWB_BYTES), reach,
                                    positive + row);
        }
    }
}
#undef CWB_BYTES
#undef CWB_TURNS
