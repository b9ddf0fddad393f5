from libc.stdint cimport int64_t

from cwboost._kernels.trees.types cimport Matrix, Rows, Work

cdef class Workspace:
    cdef Matrix X
    cdef Work *work
    cdef Rows *rows  # a tree's, for every thread
    cdef int n_threads
    cdef readonly object bins
    cdef object usable, categorical, sets, arrays
    cdef list blocks
    cdef _read_bins(self, bins)
    cdef _read_codes(self, binned)
    cdef _read_sets(self, sets)
    cdef _allocate(self)
    cdef _allocate_saved(self, int64_t n_saved)
    cdef _allocate_near(self)
    cdef void *_scratch(self, size_t size) except NULL
