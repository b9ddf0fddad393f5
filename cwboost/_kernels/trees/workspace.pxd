from cwboost._kernels.trees.types cimport Matrix, Rows, Settings, Work

cdef class TreeSettings:
    cdef Settings own

cdef class Workspace:
    cdef Matrix X
    cdef Work *work
    cdef Rows *rows  # a tree's, for every thread
    cdef int n_threads
    cdef readonly object bins
    cdef object usable, categorical, arrays
    cdef list blocks
    cdef _read_bins(self, bins)
    cdef _read_codes(self, binned)
    cdef _allocate(self, bint counted)
    cdef void *_scratch(self, size_t size) except NULL
