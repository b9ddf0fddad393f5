from cwboost._kernels.trees.types cimport Round

cdef bint grow_together(const Round *own, Py_ssize_t first) noexcept nogil
