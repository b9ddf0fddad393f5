from cwboost._kernels.trees.types cimport Matrix, Settings, Work

cdef class TreeSettings:
    cdef Settings own

cdef class Workspace:
    cdef Matrix X
    cdef Work *work
    cdef int n_threads
    cdef object binned, categorical
    cdef list blocks
    cdef _read(self, binned)
    cdef _allocate(self, bint counted)
    cdef void *_scratch(self, size_t size) except NULL
