/* Includes the file CWB_BODY once per instruction set; see common/targets.h. No #pragma once: each
 * subject includes it once. */
#include "common/targets.h"

#define CWB_TARGET base
#define CWB_TARGET_NUMBER CWB_NUMBER_BASE
#define CWB_REGISTER_BYTES 16
#include "common/lanes.h"
#include CWB_BODY
#include "common/end_target.h"

#if defined(CWB_BUILDS_X86)

#define CWB_TARGET avx2
#define CWB_TARGET_NUMBER CWB_NUMBER_AVX2
#define CWB_REGISTER_BYTES 32
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif
#include "common/lanes.h"
#include CWB_BODY
#include "common/end_target.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#define CWB_TARGET avx512
#define CWB_TARGET_NUMBER CWB_NUMBER_AVX512
#define CWB_REGISTER_BYTES 64
#if defined(__clang__)
#pragma clang attribute push(                                                      \
    __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,bmi,bmi2,popcnt"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,bmi,bmi2,popcnt")
#endif
#include "common/lanes.h"
#include CWB_BODY
#include "common/end_target.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
#undef CWB_BODY
