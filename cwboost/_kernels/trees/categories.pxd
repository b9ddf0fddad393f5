from libc.stdint cimport int32_t, uint8_t

from cwboost._kernels.trees.types cimport Matrix, Node, Settings, Work, cwb_split

cdef inline bint is_categorical(const Matrix *X, int32_t feature) noexcept nogil:
    return X.categorical != NULL and X.categorical[feature]

cdef bint best_of_categories(
    const Matrix *X, const Settings *settings, Work *work, double tolerance, int32_t feature,
    cwb_split *split) noexcept nogil
cdef const uint8_t *category_sides(
    const Matrix *X, Work *work, const Node *node, const cwb_split *split) noexcept nogil
