"""The instruction set of all kernels, chosen once, when the first is imported; and OpenMP.

The set is the widest that the processor runs, or the one that the environment variable
``CWBOOST_INSTRUCTION_SET`` names. All give the same bits.
"""

import os

from cwboost._kernels.common.openmp cimport (
    CWBOOST_HAS_OPENMP, omp_get_max_threads, omp_set_max_active_levels)

cdef extern from "common/cpu.h" nogil:
    enum:
        CWB_N_SETS
    const char* const cwb_set_names[]
    int cwb_runs(int) noexcept


def available():
    """Return the names of the instruction sets that run here, the widest first."""
    return [cwb_set_names[k].decode() for k in range(CWB_N_SETS - 1, -1, -1) if cwb_runs(k)]


def chosen():
    """Return the name of the instruction set in use."""
    return cwb_set_names[number].decode()


def has_openmp():
    """Return True if the kernels were built with OpenMP."""
    return CWBOOST_HAS_OPENMP == 1


def max_threads():
    """Return the number of threads that OpenMP offers, 1 without it."""
    return omp_get_max_threads()


def run_alone():
    """Make every parallel region that the calling thread enters run on that thread alone.

    A forked process has only the calling thread. The OpenMP runtime would wait without end for
    the other threads of its team, which the child does not have. Threads that the child starts
    have teams of their own.
    """
    omp_set_max_active_levels(0)


cdef int instruction_set() noexcept nogil:
    """Return the number of the chosen set, for `cwb_set` of targets.h."""
    return number


def choose():
    """Return the number of the instruction set to use."""
    names = available()
    name = os.environ.get("CWBOOST_INSTRUCTION_SET") or names[0]
    if name not in names:
        raise ValueError(
            f"CWBOOST_INSTRUCTION_SET must be one of {', '.join(names)} (what this build has "
            f"and this processor runs), got {name!r}")
    return [cwb_set_names[k].decode() for k in range(CWB_N_SETS)].index(name)


cdef int number = choose()
