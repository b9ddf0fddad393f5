from libc.stdint cimport uint8_t, uint64_t

from cwboost._kernels.trees.types cimport Matrix, Settings, Tree, Work

# Up to this number of inner nodes, outputs are computed from the codes, 256 rows at a time.
cdef enum:
    MAX_INNER_BY_CODES = 255
    # Places that a set of rows is kept for, beside those of the inner nodes: leaves of either sign.
    LEAF_PLACES = 2

cdef bint grow_tree(
    const Matrix *X, const Settings *settings, Work *work, const double *weights, uint64_t seed,
    Tree *tree, uint8_t *packed
) noexcept nogil
