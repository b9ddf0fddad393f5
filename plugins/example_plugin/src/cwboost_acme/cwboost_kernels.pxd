# Public Cython API of cwboost, for weak learners of other distributions:
#
#     from cwboost.kernels cimport assign_bit, packed_edge, packed_size
#
# Everything here is inline: it is compiled into the module that uses it, nothing is looked up in
# cwboost when that module is loaded, and a plugin built with one cwboost runs with another. There
# are no extension types for the same reason. A struct never changes its fields; one that had to
# would get a new name. CYTHON_API_VERSION grows when a name is removed or changes its meaning.

from libc.stdint cimport int8_t, int32_t, uint8_t

cdef enum:
    CYTHON_API_VERSION = 1

# Outputs of a learner are packed, eight examples a byte, the first example in the lowest bit; a
# set bit is +1, a clear one -1. Bits behind the last example are clear.
ctypedef uint8_t bits_t

# Where to cut a sorted feature: examples in places 0..position of the order are on the left. The
# learner with `polarity` on the right and -polarity on the left has this edge, which is not
# negative. position is n - 1 for the constant `-polarity`, which has everything on the left.
cdef struct Cut:
    double edge
    Py_ssize_t position
    int polarity


cdef inline Py_ssize_t packed_size(Py_ssize_t n_samples) noexcept nogil:
    """Bytes that hold the outputs of one learner."""
    return (n_samples + 7) >> 3


cdef inline bint get_bit(const bits_t* bits, Py_ssize_t i) noexcept nogil:
    """Whether the output for example i is +1."""
    return (bits[i >> 3] >> (i & 7)) & 1


cdef inline int8_t get_sign(const bits_t* bits, Py_ssize_t i) noexcept nogil:
    """The output for example i, -1 or +1."""
    return <int8_t> (2 * get_bit(bits, i) - 1)


cdef inline void set_bit(bits_t* bits, Py_ssize_t i) noexcept nogil:
    """Make the output for example i +1."""
    bits[i >> 3] |= <bits_t> (1 << (i & 7))


cdef inline void clear_bit(bits_t* bits, Py_ssize_t i) noexcept nogil:
    """Make the output for example i -1."""
    bits[i >> 3] &= <bits_t> ~(1 << (i & 7))


cdef inline void assign_bit(bits_t* bits, Py_ssize_t i, bint positive) noexcept nogil:
    """Make the output for example i +1 where positive, else -1."""
    if positive:
        set_bit(bits, i)
    else:
        clear_bit(bits, i)


cdef inline void pack_signs(
    const int8_t* signs, Py_ssize_t stride, Py_ssize_t n_samples, bits_t* bits
) noexcept nogil:
    """Pack outputs that are `stride` elements apart; padding bits are cleared."""
    cdef Py_ssize_t i
    for i in range(packed_size(n_samples)):
        bits[i] = 0
    for i in range(n_samples):
        if signs[i * stride] > 0:
            set_bit(bits, i)


cdef inline void unpack_signs(
    const bits_t* bits, Py_ssize_t n_samples, int8_t* signs, Py_ssize_t stride
) noexcept nogil:
    """Inverse of pack_signs."""
    cdef Py_ssize_t i
    for i in range(n_samples):
        signs[i * stride] = get_sign(bits, i)


cdef inline double packed_edge(
    const bits_t* bits, const double* weights, Py_ssize_t n_samples
) noexcept nogil:
    """Edge of a learner, sum_i weights[i] h(x_i), summed in the order of the examples."""
    cdef double edge = 0.0
    cdef Py_ssize_t i
    for i in range(n_samples):
        edge += weights[i] if get_bit(bits, i) else -weights[i]
    return edge


cdef inline Cut best_cut(
    const double* values, const int32_t* order, const double* weights, Py_ssize_t n_samples
) noexcept nogil:
    """The best threshold on one feature: argmax over cuts of |sum_i weights[i] h(x_i)|.

    With S the sum of all weights and P the sum of those up to a cut, the edge of +1 on the right
    is S - 2 P. values[order[k]] must not decrease with k and hold no NaN; equal values are never
    separated. Ties go to the constant, then to the leftmost cut. n_samples must be positive.
    """
    cdef double total = 0.0, prefix = 0.0, edge
    cdef Cut best
    cdef Py_ssize_t k
    for k in range(n_samples):
        total += weights[order[k]]
    best.edge = total if total >= 0.0 else -total
    best.polarity = -1 if total >= 0.0 else 1
    best.position = n_samples - 1
    for k in range(n_samples - 1):
        prefix += weights[order[k]]
        if values[order[k]] < values[order[k + 1]]:
            edge = total - 2.0 * prefix
            if edge > best.edge or -edge > best.edge:
                best.edge = edge if edge >= 0.0 else -edge
                best.polarity = 1 if edge >= 0.0 else -1
                best.position = k
    return best
