"""The instruction set of all kernels, chosen once, when the first of them is imported.

The widest that the processor runs, or the one that the environment variable
``CWBOOST_INSTRUCTION_SET`` names. All of them give the same bits.
"""

import os

cdef extern from "common/cpu.h" nogil:
    enum:
        CWB_N_SETS
    const char* const cwb_set_names[]
    int cwb_runs(int) noexcept

__all__ = ["available", "chosen"]


def available():
    """Return the names of the instruction sets that run here, the widest first."""
    return [cwb_set_names[k].decode() for k in range(CWB_N_SETS - 1, -1, -1) if cwb_runs(k)]


def chosen():
    """Return the name of the instruction set in use."""
    return cwb_set_names[number].decode()


cdef int instruction_set() noexcept nogil:
    """Place of the chosen set in every table of kernels."""
    return number


def choose():
    """Return the number of the instruction set to use."""
    names = available()
    name = os.environ.get("CWBOOST_INSTRUCTION_SET") or names[0]
    if name not in names:
        raise ValueError(
            f"CWBOOST_INSTRUCTION_SET: expected one of {', '.join(names)} (what this build has "
            f"and this processor runs), got {name!r}")
    return [cwb_set_names[k].decode() for k in range(CWB_N_SETS)].index(name)


cdef int number = choose()
