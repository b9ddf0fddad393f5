from cwboost._kernels.trees.types cimport Matrix, Rows, Settings, Work

cdef class Workspace:
    cdef Matrix X
    cdef Work *work
    cdef Rows *rows  # a tree's, for every thread
    cdef int n_threads
    cdef readonly object bins
    cdef object usable, sets, arrays
    cdef list blocks
    cdef void use(self, const Settings *settings) noexcept
    cdef void *_scratch(self, size_t size) except NULL
