/* The walk of leaves.h. */

CWB_INLINE int CWB_NAME(step_of_one)(const cwb_leaf_step *steps, const uint8_t *codes,
                                     int32_t *node) {
    const cwb_leaf_step step = steps[*node];
    const int32_t after = step.child + ((uint8_t)(codes[step.feature] - step.first) < step.width);
    const int moved = after != *node;
    *node = after;
    return moved;
}

#if CWB_IS(AVX512)
/* Sixteen examples take a step; `lanes` are the distances of their codes. Of each the four bytes
 * are loaded among which its code is: so they lie in one row. */
CWB_INLINE int CWB_NAME(step_of_sixteen)(const cwb_leaf_step *steps, const uint8_t *codes,
                                         __m512i lanes, int32_t *nodes) {
    const __m512i byte = _mm512_set1_epi32(255), node = _mm512_loadu_si512(nodes);
    const __m512i child = _mm512_i32gather_epi32(node, steps, 8);
    const __m512i rest = _mm512_i32gather_epi32(node, (const char *)steps + 4, 8);
    const __m512i feature = _mm512_srli_epi32(rest, 16), three = _mm512_set1_epi32(3);
    const __m512i at = _mm512_add_epi32(lanes, _mm512_andnot_si512(three, feature));
    const __m512i bits = _mm512_slli_epi32(_mm512_and_si512(feature, three), 3);
    const __m512i code = _mm512_srlv_epi32(_mm512_i32gather_epi32(at, codes, 1), bits);
    const __m512i past = _mm512_and_si512(_mm512_sub_epi32(code, rest), byte);
    const __m512i width = _mm512_and_si512(_mm512_srli_epi32(rest, 8), byte);
    const __mmask16 right = _mm512_cmplt_epu32_mask(past, width);
    const __m512i after = _mm512_mask_add_epi32(child, right, child, _mm512_set1_epi32(1));
    _mm512_storeu_si512(nodes, after);
    return _mm512_cmpneq_epi32_mask(after, node) != 0;
}
#endif

static void CWB_NAME(walk)(const cwb_leaf_step *steps, const uint8_t *codes, int64_t stride,
                           int64_t n, int32_t root, int32_t *nodes) {
    int moved = 1;
    for (int64_t i = 0; i < n; i++) nodes[i] = root;
#if CWB_IS(AVX512)
    const __m512i numbers = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i lanes = _mm512_mullo_epi32(numbers, _mm512_set1_epi32((int32_t)stride));
    const int64_t together = stride % 4 == 0 ? n / 16 * 16 : 0;
#else
    const int64_t together = 0;
#endif
    while (moved) {
        moved = 0;
#if CWB_IS(AVX512)
        for (int64_t i = 0; i < together; i += 16)
            moved |= CWB_NAME(step_of_sixteen)(steps, codes + i * stride, lanes, nodes + i);
#endif
        for (int64_t i = together; i < n; i++)
            moved |= CWB_NAME(step_of_one)(steps, codes + i * stride, nodes + i);
    }
}

static const cwb_leaf_kernels CWB_NAME(cwb_leaf_kernels) = {.walk = CWB_NAME(walk)};
