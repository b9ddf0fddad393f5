from libc.stdint cimport int32_t

cdef double gain_of(int criterion, double least, const double* total, double sum, double mass,
                    double number) noexcept nogil


cdef inline int32_t random_cut(const double* lowest, const double* highest, int32_t low,
                               int32_t high, double u) noexcept nogil:
    """Return the last code on the left of a random threshold, see `draw_cuts`.

    `lowest` and `highest` are the values of the bins of the feature.
    """
    cdef double threshold = (1.0 - u) * highest[low] + u * lowest[high]
    cdef int32_t n = high - low, half
    while n > 1:
        half = n // 2
        low += half if highest[low + half] <= threshold else 0
        n -= half
    return low
