/* Codes, sets of rows and scores of a block, see trees.h. */
#include "common/lanes.h"

/* Trees of more inner nodes are better walked; graded ones too, whose places must have a byte. */
static const int64_t CWB_NAME(max_reached) = 128;
static const int64_t CWB_NAME(max_cells) = CWB_IS(AVX512) ? 127 : 0;

/* One bit per lane of a register: x > y, or x <= y. Both are false for NaN. */
CWB_INLINE unsigned CWB_NAME(above)(cwb_register x, cwb_register y) {
    return cwb_r_bits(cwb_r_below(y, x));
}
CWB_INLINE unsigned CWB_NAME(at_most)(cwb_register x, cwb_register y) {
#if CWB_IS(AVX512)
    return cwb_r_bits(_mm512_cmp_pd_mask(x, y, _CMP_LE_OQ));
#else
    return cwb_r_bits(x <= y);
#endif
}

/* The set of the 64 values at `x` that go right. */
CWB_INLINE uint64_t CWB_NAME(goes_right)(const double *x, double threshold, int missing_right) {
    const cwb_register t = cwb_r_splat(threshold);
    uint64_t set = 0;
    if (missing_right) {
        CWB_UNROLL
        for (int i = 0; i < CWB_BLOCK; i += CWB_LANES)
            set |= (uint64_t)CWB_NAME(at_most)(cwb_r_load(x + i), t) << i;
        return ~set;
    }
    CWB_UNROLL
    for (int i = 0; i < CWB_BLOCK; i += CWB_LANES)
        set |= (uint64_t)CWB_NAME(above)(cwb_r_load(x + i), t) << i;
    return set;
}

/* The set of the 64 codes that are at least `least`, which is positive. */
CWB_INLINE uint64_t CWB_NAME(codes_from)(const uint8_t *codes, uint8_t least) {
#if CWB_IS(AVX512)
    return _cvtmask64_u64(
        _mm512_cmpge_epu8_mask(_mm512_loadu_si512(codes), _mm512_set1_epi8((char)least)));
#elif CWB_IS(AVX2)
    const __m256i bound = _mm256_set1_epi8((char)least);
    uint64_t set = 0;
    CWB_UNROLL
    for (int i = 0; i < CWB_BLOCK; i += 32) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(codes + i));
        const __m256i from = _mm256_cmpeq_epi8(_mm256_max_epu8(x, bound), x);
        set |= (uint64_t)(uint32_t)_mm256_movemask_epi8(from) << i;
    }
    return set;
#elif CWB_IS(SSE2)
    const __m128i bound = _mm_set1_epi8((char)least);
    uint64_t set = 0;
    CWB_UNROLL
    for (int i = 0; i < CWB_BLOCK; i += 16) {
        const __m128i x = _mm_loadu_si128((const __m128i *)(codes + i));
        const __m128i from = _mm_cmpeq_epi8(_mm_max_epu8(x, bound), x);
        set |= (uint64_t)(uint32_t)_mm_movemask_epi8(from) << i;
    }
    return set;
#elif CWB_IS(NEON)
    const uint8x16_t bound = vdupq_n_u8(least);
    const uint8x16_t bits = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    uint8x16_t part[4];
    CWB_UNROLL
    for (int i = 0; i < 4; i++) part[i] = vandq_u8(vcgeq_u8(vld1q_u8(codes + 16 * i), bound), bits);
    const uint8x16_t quarters = vpaddq_u8(vpaddq_u8(part[0], part[1]), vpaddq_u8(part[2], part[3]));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)), 0);
#else
    uint64_t set = 0;
    for (int i = 0; i < CWB_BLOCK; i++) set |= (uint64_t)(codes[i] >= least) << i;
    return set;
#endif
}

/* Codes of a block of values. */
static void CWB_NAME(code)(const cwb_trees *trees, const double *x, uint8_t *codes) {
    for (int64_t c = 0; c < trees->n_codings; c++) {
        const cwb_coding coding = trees->codings[c];
        const double *table = trees->thresholds + coding.table;
        const double *values = x + (int64_t)coding.feature * CWB_BLOCK;
        const int64_t low = (int64_t)coding.low * CWB_BLOCK;
        const int64_t high = (int64_t)coding.high * CWB_BLOCK;
        for (int i = 0; i < CWB_BLOCK; i += CWB_ABREAST) {
            uint8_t rank[CWB_ABREAST] = {0};
            for (int s = coding.steps - 1; s >= 0; s--) {
                const double *middle = table + ((1 << s) - 1);
                CWB_UNROLL
                for (int k = 0; k < CWB_ABREAST; k++)
                    rank[k] |= (uint8_t)((middle[rank[k]] < values[i + k]) << s);
            }
            if (low >= 0)
                for (int k = i; k < i + CWB_ABREAST; k++) codes[low + k] = rank[k - i];
            if (high >= 0)
                for (int k = i; k < i + CWB_ABREAST; k++)
                    codes[high + k] = values[k] != values[k] ? 255 : rank[k - i];
        }
    }
}

/* The functions below are compiled for each kind of rows, a constant. `nodes` are those of a tree,
 * and `x` are the codes or values of a block, or of it from some row on. */
CWB_INLINE const void *CWB_NAME(nodes_of)(const cwb_trees *trees, int64_t t, const int kind) {
    if (kind == CWB_CODES) return trees->coded + trees->start[t];
    return trees->nodes + trees->start[t];
}

CWB_INLINE const void *CWB_NAME(rows_from)(const cwb_block *block, int64_t row, const int kind) {
    if (kind == CWB_CODES) return block->codes + row;
    return block->values + row;
}

/* The set of the 64 rows that go right at an inner node; `left` becomes the left child's place. */
CWB_INLINE uint64_t CWB_NAME(right_of)(const void *nodes, int32_t place, const void *x,
                                       const int kind, uint32_t *left) {
    if (kind == CWB_CODES) {
        const cwb_coded_node node = ((const cwb_coded_node *)nodes)[place];
        *left = node.next >> 8;
        return CWB_NAME(codes_from)((const uint8_t *)x + node.at, (uint8_t)-node.next);
    }
    const cwb_node *node = (const cwb_node *)nodes + place;
    const double *values = (const double *)x + (int64_t)node->feature * CWB_BLOCK;
    *left = (uint32_t)node->left;
    const int missing_right = kind == CWB_ANY && node->missing_right;
    return CWB_NAME(goes_right)(values, node->threshold, missing_right);
}

/* The place to which row k goes from another place. */
CWB_INLINE uint32_t CWB_NAME(step)(const void *nodes, uint32_t place, const void *x, int k,
                                   const int kind) {
    if (kind == CWB_CODES) {
        const cwb_coded_node *node = (const cwb_coded_node *)nodes + place;
        return (node->next + ((const uint8_t *)x)[(uint64_t)node->at + k]) >> 8;
    }
    const cwb_node *node = (const cwb_node *)nodes + place;
    const double value = ((const double *)x)[(uint64_t)(uint32_t)node->feature * CWB_BLOCK + k];
    unsigned right = value > node->threshold;
    if (kind == CWB_ANY) right |= (value != value) & (unsigned)node->missing_right;
    return (uint32_t)node->left + right;
}

/* The places of the leaves of n rows abreast, whose steps do not wait for each other. */
CWB_INLINE void CWB_NAME(walk)(const cwb_trees *trees, int64_t t, const void *x, const int n,
                               const int kind, uint32_t *out) {
    const void *nodes = CWB_NAME(nodes_of)(trees, t, kind);
    const int32_t height = trees->height[t];
    uint32_t place[CWB_ABREAST];
    CWB_UNROLL
    for (int k = 0; k < n; k++) place[k] = 0;
    for (int32_t level = 0; level < height; level++) {
        uint32_t moved = 0;
        CWB_UNROLL
        for (int k = 0; k < n; k++) {
            const uint32_t next = CWB_NAME(step)(nodes, place[k], x, k, kind);
            moved |= next ^ place[k];
            place[k] = next;
        }
        if (kind != CWB_CODES && !moved) break;
    }
    CWB_UNROLL
    for (int k = 0; k < n; k++) out[k] = place[k];
}

/* The same for up to eight rows. */
CWB_INLINE void CWB_NAME(walk_some)(const cwb_trees *trees, int64_t t, const cwb_block *block,
                                    int64_t row, const int kind, uint32_t *place) {
    const void *x = CWB_NAME(rows_from)(block, row, kind);
    if (kind != CWB_CODES && block->n_rows == 1)
        CWB_NAME(walk)(trees, t, x, 1, kind, place);
    else
        CWB_NAME(walk)(trees, t, x, CWB_ABREAST, kind, place);
}

/* Of values, three rows that are walked cost about as much as two nodes that rows reach. */
CWB_INLINE int CWB_NAME(is_walked)(const cwb_trees *trees, int64_t t, const cwb_block *block,
                                   const int kind) {
    if (kind != CWB_CODES && 3 * trees->n_inner[t] > 2 * block->n_rows) return 1;
    return trees->n_inner[t] > trees->max_reached;
}

/* The rows that reach each node of a tree. */
CWB_INLINE void CWB_NAME(reach_nodes)(const void *nodes, const int32_t *order, int64_t n_inner,
                                      const void *x, const int kind, uint64_t *reach) {
    reach[0] = ~UINT64_C(0);
    for (int64_t i = 0; i < n_inner; i++) {
        uint32_t left;
        const uint64_t here = reach[order[i]];
        const uint64_t right = here & CWB_NAME(right_of)(nodes, order[i], x, kind, &left);
        reach[left] = here ^ right;
        reach[left + 1] = right;
    }
}

/* Rows on which a tree is +1. */
CWB_INLINE uint64_t CWB_NAME(tree_set)(const cwb_trees *trees, int64_t t, const cwb_block *block,
                                       const int kind, uint64_t *reach) {
    const void *nodes = CWB_NAME(nodes_of)(trees, t, kind);
    const int8_t *output = trees->output + trees->start[t];
    uint64_t set = 0;
    if (CWB_NAME(is_walked)(trees, t, block, kind)) {
        for (int64_t row = 0; row < block->n_rows; row += CWB_ABREAST) {
            uint32_t place[CWB_ABREAST] = {0};
            CWB_NAME(walk_some)(trees, t, block, row, kind, place);
            CWB_UNROLL
            for (int k = 0; k < CWB_ABREAST; k++) {
                const uint64_t is_positive = kind == CWB_CODES
                                                 ? ((const cwb_coded_node *)nodes)[place[k]].at
                                                 : output[place[k]] > 0;
                set |= is_positive << (row + k);
            }
        }
        return set;
    }
    const int32_t *order = trees->order + trees->order_start[t];
    const int64_t n_inner = trees->n_inner[t];
    const int64_t n_order = trees->order_start[t + 1] - trees->order_start[t];
    CWB_NAME(reach_nodes)(nodes, order, n_inner, CWB_NAME(rows_from)(block, 0, kind), kind, reach);
    for (int64_t i = n_inner; i < n_order; i++) set |= reach[order[i]];
    return set;
}

/* out[t - first] = the rows on which tree t is +1, for t in [first, last). `reach` is scratch for
 * one set per node of the largest tree that is not walked. */
static void CWB_NAME(sets)(const cwb_trees *trees, int64_t first, int64_t last,
                           const cwb_block *block, uint64_t *reach, uint64_t *out) {
    for (int64_t t = first; t < last; t++) {
        if (trees->coded)
            out[t - first] = CWB_NAME(tree_set)(trees, t, block, CWB_CODES, reach);
        else if (block->simple)
            out[t - first] = CWB_NAME(tree_set)(trees, t, block, CWB_SIMPLE, reach);
        else
            out[t - first] = CWB_NAME(tree_set)(trees, t, block, CWB_ANY, reach);
    }
}

/* The leaf of each row from the rows that reach each leaf of a graded tree that is not walked. */
CWB_INLINE void CWB_NAME(places_from)(const int32_t *leaves, int64_t n, const uint64_t *reach,
                                      uint32_t *place) {
#if CWB_IS(AVX512)
    __m512i bytes = _mm512_setzero_si512();
    for (int64_t i = 0; i < n; i++)
        bytes = _mm512_mask_mov_epi8(bytes, _cvtu64_mask64(reach[leaves[i]]),
                                     _mm512_set1_epi8((char)leaves[i]));
    uint8_t own[CWB_BLOCK];
    _mm512_storeu_si512(own, bytes);
    for (int row = 0; row < CWB_BLOCK; row++) place[row] = own[row];
#else
    for (int64_t i = 0; i < n; i++)
        for (int row = 0; row < CWB_BLOCK; row++)
            if (reach[leaves[i]] >> row & 1) place[row] = (uint32_t)leaves[i];
#endif
}

CWB_INLINE void CWB_NAME(places_of)(const cwb_trees *trees, int64_t t, const cwb_block *block,
                                    const int kind, uint64_t *reach, uint32_t *place) {
    if (trees->is_graded && !CWB_NAME(is_walked)(trees, t, block, kind)) {
        const int32_t *order = trees->order + trees->order_start[t];
        const int64_t n_inner = trees->n_inner[t];
        CWB_NAME(reach_nodes)(CWB_NAME(nodes_of)(trees, t, kind), order, n_inner,
                              CWB_NAME(rows_from)(block, 0, kind), kind, reach);
        CWB_NAME(places_from)(order + n_inner, n_inner + 1, reach, place);
        return;
    }
    for (int64_t row = 0; row < block->n_rows; row += CWB_ABREAST)
        CWB_NAME(walk_some)(trees, t, block, row, kind, place + row);
}

/* place[row] = the leaf of tree t in which a row is; room for 64. `reach` as for `sets`. */
static void CWB_NAME(places)(const cwb_trees *trees, int64_t t, const cwb_block *block,
                             uint64_t *reach, uint32_t *place) {
    if (trees->coded)
        CWB_NAME(places_of)(trees, t, block, CWB_CODES, reach, place);
    else if (block->simple)
        CWB_NAME(places_of)(trees, t, block, CWB_SIMPLE, reach, place);
    else
        CWB_NAME(places_of)(trees, t, block, CWB_ANY, reach, place);
}

/* Eight whole numbers of one byte. */
CWB_INLINE cwb_doubles CWB_NAME(load_bytes)(const int8_t *p) {
#if CWB_IS(AVX512)
    const __m128i bytes = _mm_loadl_epi64((const __m128i *)p);
    return (cwb_doubles){{_mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(bytes))}};
#elif CWB_IS(AVX2)
    const __m256i ints = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p));
    return (cwb_doubles){{(cwb_register)_mm256_cvtepi32_pd(_mm256_castsi256_si128(ints)),
                          (cwb_register)_mm256_cvtepi32_pd(_mm256_extracti128_si256(ints, 1))}};
#else
    double x[8];
    CWB_UNROLL
    for (int k = 0; k < 8; k++) x[k] = (double)p[k];
    return cwb_load(x);
#endif
}

/* scores[row, s] += output[place[row], s] * coef[s] for all s below `width`; 64 rows can be
 * written. */
static void CWB_NAME(add_outputs)(const int8_t *output, int64_t width, const uint32_t *place,
                                  int64_t n_rows, const double *coef, double *scores) {
    if (width == 1) {
        int8_t own[CWB_BLOCK] = {0};
        for (int64_t row = 0; row < n_rows; row++) own[row] = output[place[row]];
        const cwb_doubles factor = cwb_splat(coef[0]);
        for (int i = 0; i < CWB_BLOCK; i += 8) {
            const cwb_doubles step = cwb_mul(CWB_NAME(load_bytes)(own + i), factor);
            cwb_store(scores + i, cwb_add(cwb_load(scores + i), step));
        }
        return;
    }
    for (int64_t row = 0; row < n_rows; row++, scores += width) {
        const int8_t *own = output + place[row] * width;
        for (int64_t s = 0; s < width; s += 8) {
            const cwb_doubles step = cwb_mul(CWB_NAME(load_bytes)(own + s), cwb_load(coef + s));
            cwb_store(scores + s, cwb_add(cwb_load(scores + s), step));
        }
    }
}

/* scores[0:64] += value on the rows of a set, -value on the others. */
static void CWB_NAME(add_set)(uint64_t set, double value, double *scores) {
    const cwb_doubles plus = cwb_splat(value), minus = cwb_splat(-value);
    for (int j = 0; j < 8; j++) {
        const cwb_mask m = cwb_mask_of((unsigned)(set >> (8 * j)) & 0xFF);
        cwb_store(scores + 8 * j, cwb_add(cwb_load(scores + 8 * j), cwb_pick(m, plus, minus)));
    }
}
