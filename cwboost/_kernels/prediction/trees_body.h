/* Sets of rows and scores of a block, see trees.h. */
#include "common/lanes.h"

/* One bit per lane of a register: x > y, or x <= y. Both are false for NaN. */
#if CWB_IS(AVX512)
CWB_INLINE unsigned CWB_NAME(above)(cwb_register x, cwb_register y) {
    return _cvtmask8_u32(_mm512_cmp_pd_mask(x, y, _CMP_GT_OQ));
}
CWB_INLINE unsigned CWB_NAME(at_most)(cwb_register x, cwb_register y) {
    return _cvtmask8_u32(_mm512_cmp_pd_mask(x, y, _CMP_LE_OQ));
}
#else
CWB_INLINE unsigned CWB_NAME(bits_of)(cwb_register_mask m) {
#if CWB_IS(AVX2)
    return (unsigned)_mm256_movemask_pd((__m256d)m);
#elif CWB_IS(SSE2)
    return (unsigned)_mm_movemask_pd((__m128d)m);
#elif CWB_IS(PLAIN)
    return (unsigned)m;
#else
    return (unsigned)((m[0] & 1) | (m[1] & 2));
#endif
}
CWB_INLINE unsigned CWB_NAME(above)(cwb_register x, cwb_register y) {
    return CWB_NAME(bits_of)(x > y);
}
CWB_INLINE unsigned CWB_NAME(at_most)(cwb_register x, cwb_register y) {
    return CWB_NAME(bits_of)(x <= y);
}
#endif

/* The set of the 64 values at `x` that go right. */
CWB_INLINE uint64_t CWB_NAME(goes_right)(const double *x, double threshold, int missing_right) {
    const cwb_register t = cwb_r_splat(threshold);
    uint64_t set = 0;
    if (missing_right) {
        for (int i = 0; i < CWB_BLOCK; i += CWB_LANES)
            set |= (uint64_t)CWB_NAME(at_most)(cwb_r_load(x + i), t) << i;
        return ~set;
    }
    for (int i = 0; i < CWB_BLOCK; i += CWB_LANES)
        set |= (uint64_t)CWB_NAME(above)(cwb_r_load(x + i), t) << i;
    return set;
}

/* 1 if a value is a code of a node's category set, or is NaN and NaN goes right. */
CWB_INLINE uint64_t CWB_NAME(in_set)(const cwb_trees *trees, const cwb_inner *node, double value) {
    const int64_t first = trees->set_start[node->set];
    const double n_codes = 8.0 * (double)(trees->set_start[node->set + 1] - first);
    if (value != value) return node->flags & CWB_MISSING_RIGHT;
    if (!(value >= 0.0 && value < n_codes)) return 0;
    const int64_t code = (int64_t)value;
    return (uint64_t)(trees->set_bits[first + (code >> 3)] >> (code & 7)) & 1;
}

/* The set of the 64 values at `x` that go right at a node. */
CWB_INLINE uint64_t CWB_NAME(right_of)(const cwb_trees *trees, const cwb_inner *node,
                                       const double *x) {
    uint64_t set = 0;
    if (!(node->flags & CWB_CATEGORIES))
        return CWB_NAME(goes_right)(x, node->threshold, node->flags & CWB_MISSING_RIGHT);
    for (int i = 0; i < CWB_BLOCK; i++) set |= CWB_NAME(in_set)(trees, node, x[i]) << i;
    return set;
}

/* Rows on which a tree is +1. */
CWB_INLINE uint64_t CWB_NAME(tree_set)(const cwb_trees *trees, const cwb_inner *nodes,
                                       int64_t n_inner, const double *x, uint64_t *reach) {
    memset(reach, 0, (size_t)(n_inner + CWB_FIRST) * sizeof *reach);
    reach[CWB_FIRST] = ~UINT64_C(0);
    for (int64_t i = 0; i < n_inner; i++) {
        const cwb_inner node = nodes[CWB_FIRST + i];
        const uint64_t here = reach[CWB_FIRST + i];
        const uint64_t right =
            CWB_NAME(right_of)(trees, &node, x + (int64_t)node.feature * CWB_BLOCK);
        reach[node.child[0]] |= here & ~right;
        reach[node.child[1]] |= here & right;
    }
    return reach[CWB_POSITIVE];
}

/* 1 if a value goes right at a node. If `simple`, no node has categories and no value is NaN. */
CWB_INLINE unsigned CWB_NAME(is_right)(const cwb_trees *trees, const cwb_inner *node, double value,
                                       const int simple) {
    if (simple) return value > node->threshold;
    if (node->flags & CWB_CATEGORIES) return (unsigned)CWB_NAME(in_set)(trees, node, value);
    return (value > node->threshold) | ((value != value) & (unsigned)node->flags);
}

/* Outputs of a tree on n neighbouring rows. Their steps do not wait for each other, and a row that
 * is at a leaf stays there. */
CWB_INLINE uint64_t CWB_NAME(walk_abreast)(const cwb_trees *trees, const cwb_inner *nodes,
                                           const double *x, const int n, const int simple) {
    uint32_t place[CWB_ABREAST], all;
    uint64_t set = 0;
    CWB_UNROLL
    for (int k = 0; k < n; k++) place[k] = CWB_FIRST;
    do {
        all = 0;
        CWB_UNROLL
        for (int k = 0; k < n; k++) {
            const cwb_inner *node = nodes + place[k];
            const double value = x[(uint64_t)(uint32_t)node->feature * CWB_BLOCK + k];
            place[k] = (uint32_t)node->child[CWB_NAME(is_right)(trees, node, value, simple)];
            all |= place[k];
        }
    } while (all >= CWB_FIRST);
    CWB_UNROLL
    for (int k = 0; k < n; k++) set |= (uint64_t)place[k] << k;
    return set;
}

/* Rows on which a tree is +1. */
CWB_INLINE uint64_t CWB_NAME(walk)(const cwb_trees *trees, const cwb_inner *nodes, const double *x,
                                   int64_t n_rows, const int simple) {
    uint64_t set = 0;
    int64_t row = 0;
    for (; row + CWB_ABREAST <= n_rows; row += CWB_ABREAST)
        set |= CWB_NAME(walk_abreast)(trees, nodes, x + row, CWB_ABREAST, simple) << row;
    for (; row < n_rows; row++)
        set |= CWB_NAME(walk_abreast)(trees, nodes, x + row, 1, simple) << row;
    return set;
}

static void CWB_NAME(block_sets)(const cwb_trees *trees, int64_t first, int64_t last,
                                 const double *x, int64_t n_rows, int simple, uint64_t *reach,
                                 uint64_t *out) {
    for (int64_t t = first; t < last; t++) {
        const cwb_inner *tree = trees->nodes + trees->start[t];
        const int64_t n_inner = trees->start[t + 1] - trees->start[t] - CWB_FIRST;
        uint64_t set = 0;
        if (n_inner == 0) {
            if (trees->constant[t]) set = ~set;
        } else if (trees->walk[t] || n_rows < 8) {
            set = simple ? CWB_NAME(walk)(trees, tree, x, n_rows, 1)
                         : CWB_NAME(walk)(trees, tree, x, n_rows, 0);
        } else {
            set = CWB_NAME(tree_set)(trees, tree, n_inner, x, reach);
        }
        out[t - first] = set;
    }
}

/* Outputs of a graded tree on n neighbouring rows, as in walk_abreast. */
CWB_INLINE void CWB_NAME(graded_abreast)(const cwb_trees *trees, int64_t t, const double *x,
                                         const int n, const int simple, double *out) {
    const int64_t start = trees->start[t];
    const cwb_inner *nodes = trees->nodes + start;
    uint32_t place[CWB_ABREAST];
    CWB_UNROLL
    for (int k = 0; k < n; k++) place[k] = 0;
    for (int32_t level = 0; level < trees->height[t]; level++) {
        CWB_UNROLL
        for (int k = 0; k < n; k++) {
            const cwb_inner *node = nodes + place[k];
            const double value = x[(uint64_t)(uint32_t)node->feature * CWB_BLOCK + k];
            place[k] = (uint32_t)node->child[CWB_NAME(is_right)(trees, node, value, simple)];
        }
    }
    CWB_UNROLL
    for (int k = 0; k < n; k++) out[k] = (double)trees->output[start + place[k]];
}

CWB_INLINE void CWB_NAME(graded_rows)(const cwb_trees *trees, int64_t t, const double *x,
                                      int64_t n_rows, const int simple, double *out) {
    int64_t row = 0;
    for (; row + CWB_ABREAST <= n_rows; row += CWB_ABREAST)
        CWB_NAME(graded_abreast)(trees, t, x + row, CWB_ABREAST, simple, out + row);
    for (; row < n_rows; row++) CWB_NAME(graded_abreast)(trees, t, x + row, 1, simple, out + row);
}

static void CWB_NAME(graded_values)(const cwb_trees *trees, int64_t t, const double *x,
                                    int64_t n_rows, int simple, double *out) {
    if (simple)
        CWB_NAME(graded_rows)(trees, t, x, n_rows, 1, out);
    else
        CWB_NAME(graded_rows)(trees, t, x, n_rows, 0, out);
}

static void CWB_NAME(add_graded)(const double *outputs, double value, double *scores) {
    const cwb_doubles factor = cwb_splat(value);
    for (int i = 0; i < CWB_BLOCK; i += 8)
        cwb_store(scores + i,
                  cwb_add(cwb_load(scores + i), cwb_mul(cwb_load(outputs + i), factor)));
}

static void CWB_NAME(add_set)(uint64_t set, double value, double *scores) {
    const cwb_doubles plus = cwb_splat(value), minus = cwb_splat(-value);
    for (int j = 0; j < 8; j++) {
        const cwb_mask m = cwb_mask_of((unsigned)(set >> (8 * j)) & 0xFF);
        cwb_store(scores + 8 * j, cwb_add(cwb_load(scores + 8 * j), cwb_pick(m, plus, minus)));
    }
}

static const cwb_evaluation_kernels CWB_NAME(cwb_evaluation_kernels) = {
    .block_sets = CWB_NAME(block_sets),
    .graded = CWB_NAME(graded_values),
    .add_graded = CWB_NAME(add_graded),
    .add_set = CWB_NAME(add_set),
};
