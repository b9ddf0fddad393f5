/* The operations of lanes.h under one name for every instruction set: each expands according to
 * CWB_TARGET. */
#pragma once

/* One register. */
#define cwb_register CWB_NAME(cwb_register)
#define cwb_register_mask CWB_NAME(cwb_register_mask)
#define cwb_r_splat CWB_NAME(cwb_r_splat)
#define cwb_r_load CWB_NAME(cwb_r_load)
#define cwb_r_gather CWB_NAME(cwb_r_gather)
#define cwb_r_store CWB_NAME(cwb_r_store)
#define cwb_r_mask CWB_NAME(cwb_r_mask)
#define cwb_r_not CWB_NAME(cwb_r_not)
#define cwb_r_and CWB_NAME(cwb_r_and)
#define cwb_r_pick CWB_NAME(cwb_r_pick)
#define cwb_r_keep CWB_NAME(cwb_r_keep)
#define cwb_r_drop CWB_NAME(cwb_r_drop)
#define cwb_r_add_where CWB_NAME(cwb_r_add_where)
#define cwb_r_sub_where CWB_NAME(cwb_r_sub_where)
#define cwb_r_below CWB_NAME(cwb_r_below)
#define cwb_r_abs CWB_NAME(cwb_r_abs)
#define cwb_r_max CWB_NAME(cwb_r_max)
#define cwb_r_signs CWB_NAME(cwb_r_signs)
#define cwb_r_bits CWB_NAME(cwb_r_bits)
#define cwb_r_scale CWB_NAME(cwb_r_scale)

/* Eight examples. */
#define cwb_doubles CWB_NAME(cwb_doubles)
#define cwb_mask CWB_NAME(cwb_mask)
#define cwb_mask_table CWB_NAME(cwb_mask_table)
#define cwb_zero CWB_NAME(cwb_zero)
#define cwb_splat CWB_NAME(cwb_splat)
#define cwb_load CWB_NAME(cwb_load)
#define cwb_gather CWB_NAME(cwb_gather)
#define cwb_store CWB_NAME(cwb_store)
#define cwb_add CWB_NAME(cwb_add)
#define cwb_sub CWB_NAME(cwb_sub)
#define cwb_mul CWB_NAME(cwb_mul)
#define cwb_abs CWB_NAME(cwb_abs)
#define cwb_max CWB_NAME(cwb_max)
#define cwb_sum CWB_NAME(cwb_sum)
#define cwb_signs CWB_NAME(cwb_signs)
#define cwb_scale CWB_NAME(cwb_scale)
#define cwb_mask_of CWB_NAME(cwb_mask_of)
#define cwb_mask_at CWB_NAME(cwb_mask_at)
#define cwb_not CWB_NAME(cwb_not)
#define cwb_and CWB_NAME(cwb_and)
#define cwb_below CWB_NAME(cwb_below)
#define cwb_pick CWB_NAME(cwb_pick)
#define cwb_keep CWB_NAME(cwb_keep)
#define cwb_drop CWB_NAME(cwb_drop)
#define cwb_add_where CWB_NAME(cwb_add_where)
#define cwb_sub_where CWB_NAME(cwb_sub_where)

/* Mask of the examples in byte `byte` that lie within [start, end). */
static inline unsigned cwb_valid(int64_t byte, int64_t start, int64_t end) {
    const int64_t from = start - 8 * byte, beyond = end - 8 * byte;
    unsigned valid = from < 8 && beyond > 0 ? 0xffu : 0u;
    if (from > 0 && from < 8) valid &= 0xffu << from;
    if (beyond > 0 && beyond < 8) valid &= 0xffu >> (8 - beyond);
    return valid & 0xffu;
}
