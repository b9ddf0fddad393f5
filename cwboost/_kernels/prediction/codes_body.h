/* Codes of values and trees on codes, see codes.h. */
#include "common/lanes.h"

/* The set of the 64 codes that are at least `least`, which is positive. */
CWB_INLINE uint64_t CWB_NAME(codes_from)(const uint8_t *codes, uint8_t least) {
#if CWB_IS(AVX512)
    return _cvtmask64_u64(
        _mm512_cmpge_epu8_mask(_mm512_loadu_si512(codes), _mm512_set1_epi8((char)least)));
#elif CWB_IS(AVX2)
    const __m256i bound = _mm256_set1_epi8((char)least);
    uint64_t set = 0;
    CWB_UNROLL
    for (int i = 0; i < CWB_CODED_BLOCK; i += 32) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(codes + i));
        const __m256i from = _mm256_cmpeq_epi8(_mm256_max_epu8(x, bound), x);
        set |= (uint64_t)(uint32_t)_mm256_movemask_epi8(from) << i;
    }
    return set;
#elif CWB_IS(SSE2)
    const __m128i bound = _mm_set1_epi8((char)least);
    uint64_t set = 0;
    CWB_UNROLL
    for (int i = 0; i < CWB_CODED_BLOCK; i += 16) {
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
    for (int i = 0; i < CWB_CODED_BLOCK; i++) set |= (uint64_t)(codes[i] >= least) << i;
    return set;
#endif
}

static void CWB_NAME(code)(const cwb_coded_trees *trees, const double *x, uint8_t *codes) {
    for (int64_t c = 0; c < trees->n_codings; c++) {
        const cwb_coding coding = trees->codings[c];
        const double *table = trees->thresholds + coding.table;
        const double *values = x + (int64_t)coding.feature * CWB_CODED_BLOCK;
        const int64_t low = (int64_t)coding.low * CWB_CODED_BLOCK;
        const int64_t high = (int64_t)coding.high * CWB_CODED_BLOCK;
        for (int i = 0; i < CWB_CODED_BLOCK; i += CWB_CODED_ABREAST) {
            uint8_t rank[CWB_CODED_ABREAST] = {0};
            for (int s = coding.steps - 1; s >= 0; s--) {
                const double *middle = table + ((1 << s) - 1);
                CWB_UNROLL
                for (int k = 0; k < CWB_CODED_ABREAST; k++)
                    rank[k] |= (uint8_t)((middle[rank[k]] < values[i + k]) << s);
            }
            if (low >= 0)
                for (int k = i; k < i + CWB_CODED_ABREAST; k++) codes[low + k] = rank[k - i];
            if (high >= 0)
                for (int k = i; k < i + CWB_CODED_ABREAST; k++)
                    codes[high + k] = values[k] != values[k] ? 255 : rank[k - i];
        }
    }
}

/* The rows that reach each node. */
CWB_INLINE void CWB_NAME(reach_nodes)(const cwb_coded_node *nodes, const int32_t *order,
                                      int64_t n_inner, const uint8_t *codes, uint64_t *reach) {
    reach[0] = ~UINT64_C(0);
    for (int64_t i = 0; i < n_inner; i++) {
        const cwb_coded_node node = nodes[order[i]];
        const uint64_t here = reach[order[i]];
        const uint64_t right = here & CWB_NAME(codes_from)(codes + node.at, (uint8_t)-node.next);
        reach[node.next >> 8] = here ^ right;
        reach[(node.next >> 8) + 1] = right;
    }
}

/* Rows on which a tree is +1, from the rows that reach each node. */
CWB_INLINE uint64_t CWB_NAME(reached)(const cwb_coded_node *nodes, const int32_t *order,
                                      int64_t n_inner, int64_t n_order, const uint8_t *codes,
                                      uint64_t *reach) {
    uint64_t set = 0;
    CWB_NAME(reach_nodes)(nodes, order, n_inner, codes, reach);
    for (int64_t i = n_inner; i < n_order; i++) set |= reach[order[i]];
    return set;
}

/* The places of the leaves of eight rows abreast, whose steps do not wait for each other. */
CWB_INLINE void CWB_NAME(walk_eight)(const cwb_coded_node *nodes, int32_t height,
                                     const uint8_t *own, uint32_t *place) {
    CWB_UNROLL
    for (int k = 0; k < CWB_CODED_ABREAST; k++) place[k] = 0;
    for (int32_t level = 0; level < height; level++) {
        CWB_UNROLL
        for (int k = 0; k < CWB_CODED_ABREAST; k++) {
            const cwb_coded_node *node = nodes + place[k];
            place[k] = (node->next + (own + k)[node->at]) >> 8;
        }
    }
}

/* Rows on which a tree is +1, from walks. */
CWB_INLINE uint64_t CWB_NAME(walked)(const cwb_coded_node *nodes, int32_t height,
                                     const uint8_t *codes, int64_t n_rows) {
    uint64_t set = 0;
    for (int64_t row = 0; row < n_rows; row += CWB_CODED_ABREAST) {
        uint32_t place[CWB_CODED_ABREAST];
        CWB_NAME(walk_eight)(nodes, height, codes + row, place);
        CWB_UNROLL
        for (int k = 0; k < CWB_CODED_ABREAST; k++)
            set |= (uint64_t)nodes[place[k]].at << (row + k);
    }
    return set;
}

/* Outputs of a graded tree, leaf by leaf, from the rows that reach each. */
CWB_INLINE void CWB_NAME(graded_by_leaf)(const cwb_coded_trees *trees, int64_t t,
                                         const uint8_t *codes, uint64_t *reach, double *out) {
    const int64_t start = trees->start[t];
    const int32_t *order = trees->order + trees->order_start[t];
    const int64_t n_order = trees->order_start[t + 1] - trees->order_start[t];
    CWB_NAME(reach_nodes)(trees->nodes + start, order, trees->n_inner[t], codes, reach);
    for (int64_t i = trees->n_inner[t]; i < n_order; i++) {
        const cwb_doubles value = cwb_splat((double)trees->output[start + order[i]]);
        const uint64_t set = reach[order[i]];
        for (int j = 0; j < CWB_CODED_BLOCK / 8; j++) {
            const cwb_mask mask = cwb_mask_of((unsigned)(set >> (8 * j)) & 0xFF);
            cwb_store(out + 8 * j, cwb_pick(mask, value, cwb_load(out + 8 * j)));
        }
    }
}

static void CWB_NAME(graded)(const cwb_coded_trees *trees, int64_t t, const uint8_t *codes,
                             int64_t n_rows, uint64_t *reach, double *out) {
    const int64_t start = trees->start[t];
    if (trees->height[t] < 0) {
        CWB_NAME(graded_by_leaf)(trees, t, codes, reach, out);
        return;
    }
    for (int64_t row = 0; row < n_rows; row += CWB_CODED_ABREAST) {
        uint32_t place[CWB_CODED_ABREAST];
        CWB_NAME(walk_eight)(trees->nodes + start, trees->height[t], codes + row, place);
        CWB_UNROLL
        for (int k = 0; k < CWB_CODED_ABREAST; k++)
            out[row + k] = (double)trees->output[start + place[k]];
    }
}

static void CWB_NAME(sets)(const cwb_coded_trees *trees, int64_t first, int64_t last,
                           const uint8_t *codes, int64_t n_rows, uint64_t *reach, uint64_t *out) {
    for (int64_t t = first; t < last; t++) {
        const cwb_coded_node *nodes = trees->nodes + trees->start[t];
        const int64_t begin = trees->order_start[t];
        if (trees->height[t] >= 0)
            out[t - first] = CWB_NAME(walked)(nodes, trees->height[t], codes, n_rows);
        else
            out[t - first] = CWB_NAME(reached)(nodes, trees->order + begin, trees->n_inner[t],
                                               trees->order_start[t + 1] - begin, codes, reach);
    }
}

static const cwb_code_kernels CWB_NAME(cwb_code_kernels) = {
    .code = CWB_NAME(code),
    .sets = CWB_NAME(sets),
    .graded = CWB_NAME(graded),
    .max_reached = CWB_IS(PLAIN) ? 16 : 128,
};
