/* Loops over tasks that threads share.
 *
 * One thread does them without a parallel region: OpenMP makes a team for each region and ends it
 * with a system call, which takes 0.6 to 0.9 microseconds, as long as a pass over a hundred
 * examples of ten classes. */
#pragma once

#include <stdint.h>

#ifdef _OPENMP
#define CWB_PRAGMA(text) _Pragma(#text)
#else
#define CWB_PRAGMA(text)
#endif

/* Do a statement, the last argument, for i = 0 to n - 1 on `n_threads` threads, a variable;
 * `when` is a schedule clause, as in CWB_TASKS(schedule(static), i, n, work(i);). */
#define CWB_TASKS(when, i, n, ...)                               \
    if (n_threads == 1) {                                        \
        for (int64_t i = 0; i < (n); i++) {                      \
            __VA_ARGS__                                          \
        }                                                        \
    } else {                                                     \
        CWB_PRAGMA(omp parallel for when num_threads(n_threads)) \
        for (int64_t i = 0; i < (n); i++) {                      \
            __VA_ARGS__                                          \
        }                                                        \
    }
