"""The kernels of tree growth, for the instruction set that the processor runs."""

from cwboost._kernels.common.cpu cimport instruction_set

cdef extern from "trees/tables.h" nogil:
    const cwb_tree_kernels *cwb_tree_tables[]

kernels = cwb_tree_tables[instruction_set()]
