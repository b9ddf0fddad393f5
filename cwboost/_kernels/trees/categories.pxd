from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from cwboost._kernels.trees.types cimport Matrix, Work, cwb_rules, cwb_split

cdef inline bint is_categorical(const Matrix *X, int32_t feature) noexcept nogil:
    return X.categorical != NULL and X.categorical[feature]

cdef void best_of_categories(
    const Matrix *X, const cwb_rules *rules, Work *work, int32_t feature,
    cwb_split *split) noexcept nogil
cdef const uint8_t *category_sides(
    const Matrix *X, Work *work, int32_t feature, const uint64_t *right, int64_t start,
    int64_t end) noexcept nogil
