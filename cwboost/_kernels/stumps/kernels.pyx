"""The kernels of the stump search, for the instruction set that the processor runs."""

from cwboost._kernels.common.cpu cimport instruction_set

cdef extern from "stumps/tables.h" nogil:
    const cwb_stump_kernels *cwb_stump_tables[]

kernels = cwb_stump_tables[instruction_set()]
