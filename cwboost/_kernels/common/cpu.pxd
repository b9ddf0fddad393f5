cdef int instruction_set() noexcept nogil
