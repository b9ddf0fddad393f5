/* The instruction sets that the processor runs; asked only here. */
#pragma once

#include "common/targets.h"

static const char *const cwb_set_names[] = CWB_SET_NAMES;

/* 1 if the processor and the operating system run instruction set `set`; for_each_target.h
 * lists the extensions that the kernels of a set use. */
static int cwb_runs(int set) {
#if defined(CWB_BUILDS_X86)
    __builtin_cpu_init();
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                     __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    if (set == 1) return avx2;
    if (set == 2)
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
    return set >= 0 && set < CWB_N_SETS;
}
