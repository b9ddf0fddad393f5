from cwboost._kernels.trees.round cimport Round

cdef bint grow_together(const Round *own, Py_ssize_t first) noexcept nogil
