cdef extern from "common/targets.h" nogil:
    int cwb_set

cdef int instruction_set() noexcept nogil
