/* Run-time dispatch by function multiversioning, for every kernel that gains from wide vectors.
 *
 * Write a function once, over the vector types below (GCC and clang lower them to whatever the
 * processor has), and put CWBOOST_CLONES before it: the loader picks the widest version that the
 * processor runs. Lanes are summed in a fixed order and the build turns contraction off, so every
 * version gives the same bits. Without GCC-style vectors or ifuncs the macro is empty and the
 * same source compiles to the baseline instruction set.
 */
#ifndef CWBOOST_SIMD_H
#define CWBOOST_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define CWBOOST_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
/* For the few places where mask registers beat what the compiler makes of vector masks; test
 * __builtin_cpu_supports before use. */
#define CWBOOST_X86_INTRINSICS 1
#include <immintrin.h>
#else
#define CWBOOST_CLONES
#endif

#define CWBOOST_INLINE static inline __attribute__((always_inline))

typedef double cwb_f64x8 __attribute__((vector_size(64)));
typedef int64_t cwb_i64x8 __attribute__((vector_size(64)));
typedef float cwb_f32x16 __attribute__((vector_size(64)));
typedef int32_t cwb_i32x16 __attribute__((vector_size(64)));
typedef float cwb_f32x8 __attribute__((vector_size(32)));
typedef int32_t cwb_i32x8 __attribute__((vector_size(32)));

#endif
