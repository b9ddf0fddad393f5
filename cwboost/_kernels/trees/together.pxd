from cwboost._kernels.trees.round cimport Round
from cwboost._kernels.trees.types cimport Frontier

cdef bint grow_subtrees(const Round *own, Py_ssize_t first, Frontier *tops) noexcept nogil
cdef bint grow_together(const Round *own, Py_ssize_t first) noexcept nogil
