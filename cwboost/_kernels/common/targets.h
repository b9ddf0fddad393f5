/* Instruction sets: which of them this compiler builds, their names and their numbers.
 *
 * How to add a kernel
 * -------------------
 * 1. Write its body as an ordinary C function in SUBJECT/NAME_body.h, without #pragma once:
 *
 *        static void CWB_NAME(halve)(double *x, int64_t n_bytes) {
 *            for (int64_t b = 0; b < n_bytes; b++)
 *                cwb_store(x + 8 * b, cwb_mul(cwb_load(x + 8 * b), cwb_splat(0.5)));
 *        }
 *
 *    CWB_NAME(halve) is halve_avx2 in the copy for AVX2, and so on. The operations (cwb_load and
 *    the like, eight doubles at a time) are those of common/lanes.h; CWB_REGISTER_BYTES, CWB_LANES
 *    and CWB_PARTS are the width of the registers. A part that one instruction set does better
 *    stands between #if CWB_IS(AVX512) and #else. At most 10 parameters: related ones are a struct.
 *    No vector type may be wider than CWB_REGISTER_BYTES: GCC takes such vectors apart badly.
 *
 * 2. In SUBJECT/SUBJECT.h, after #pragma once, declare what all copies share (constants, structs),
 *    then have the body, or a file that includes several, compiled once per instruction set:
 *
 *        #define CWB_BODY "subject/halve_body.h"
 *        #include "common/for_each_target.h"
 *
 *    In C, CWB_BEST(halve)(x, n_bytes) calls the copy for the set that the module has chosen.
 *
 * 3. In the Cython module, choose the set at import and name that copy:
 *
 *        from cwboost._kernels.common.cpu cimport cwb_set, instruction_set
 *        cdef extern from "subject/subject.h" nogil:
 *            void cwb_halve "CWB_BEST(halve)"(double *x, int64_t n_bytes)
 *        cwb_set = instruction_set()
 *
 * 4. Test it under every instruction set that the machine runs (tests/_kernels): the bits must be
 *    the same. Sums have eight lanes in one order (cwb_sum), whatever the register. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Instruction sets in the order of their numbers. The base is what every processor of the
 * architecture has: vectors of 16 bytes, by intrinsics or as the compiler lowers them. CWB_PORTABLE
 * builds the last alone. */
#if defined(__x86_64__) && !defined(CWB_PORTABLE)
#include <immintrin.h>
#define CWB_BUILDS_X86 1
#define CWB_N_SETS 3
#define CWB_SET_NAMES {"sse2", "avx2", "avx512"}
#define CWB_BEST(name) (cwb_set == 2 ? name##_avx512 : cwb_set == 1 ? name##_avx2 : name##_base)
#else
#if defined(__aarch64__) && !defined(CWB_PORTABLE)
#include <arm_neon.h>
#define CWB_BUILDS_NEON 1
#define CWB_SET_NAMES {"neon"}
#else
#define CWB_SET_NAMES {"portable"}
#endif
#define CWB_N_SETS 1
#define CWB_BEST(name) name##_base
#endif

/* The number of the set that a module has chosen, for CWB_BEST. */
static int cwb_set __attribute__((unused)) = 0;

/* CWB_NAME(f) is f_avx2 while CWB_TARGET is avx2. */
#define CWB_JOINED(name, target) name##_##target
#define CWB_JOIN(name, target) CWB_JOINED(name, target)
#define CWB_NAME(name) CWB_JOIN(name, CWB_TARGET)

/* CWB_IS(AVX2) in an #if: 1 in the copy for AVX2. Of BASE, which may be SSE2 or NEON, AVX2 and
 * AVX512. */
#define CWB_IS(target) (CWB_TARGET_NUMBER == CWB_NUMBER_##target)
#define CWB_NUMBER_BASE 1
#define CWB_NUMBER_AVX2 2
#define CWB_NUMBER_AVX512 3
#if defined(CWB_BUILDS_X86)
#define CWB_NUMBER_SSE2 CWB_NUMBER_BASE
#else
#define CWB_NUMBER_SSE2 0
#endif
#if defined(CWB_BUILDS_NEON)
#define CWB_NUMBER_NEON CWB_NUMBER_BASE
#else
#define CWB_NUMBER_NEON 0
#endif

#define CWB_INLINE static inline __attribute__((always_inline, unused))
#define CWB_ALIGNED(bytes) __attribute__((aligned(bytes)))
#define CWB_PREFETCH(address) __builtin_prefetch(address)

/* Before a loop of few turns over an array of registers, which stays in registers only if the loop
 * is unrolled. */
#if defined(__clang__)
#define CWB_UNROLL _Pragma("clang loop unroll(full)")
#else
#define CWB_UNROLL _Pragma("GCC unroll 16")
#endif
