# Public Cython API of cwboost, for weak learners of other distributions:
#
#     from cwboost.kernels cimport assign_bit, packed_edge, packed_size
#
# Everything here is inline: it is compiled into the module that uses it, that module looks up
# nothing in cwboost when it is loaded, and a plugin built with one cwboost runs with another. For
# the same reason there are no extension types. CYTHON_API_VERSION grows when a name is removed or
# changes its meaning.

from libc.stdint cimport int8_t, uint8_t

cdef enum:
    CYTHON_API_VERSION = 1

# Outputs of a learner are packed, eight examples per byte, the first example in the lowest bit; a
# set bit is +1, a clear one -1. Padding bits after the last example are clear.
ctypedef uint8_t bits_t


cdef inline Py_ssize_t packed_size(Py_ssize_t n_samples) noexcept nogil:
    """Return the number of bytes that hold the outputs of one learner."""
    return (n_samples + 7) >> 3


cdef inline bint get_bit(const bits_t* bits, Py_ssize_t i) noexcept nogil:
    """Return True if the output for example i is +1."""
    return (bits[i >> 3] >> (i & 7)) & 1


cdef inline int8_t get_sign(const bits_t* bits, Py_ssize_t i) noexcept nogil:
    """Return the output for example i, -1 or +1."""
    return <int8_t> (2 * get_bit(bits, i) - 1)


cdef inline void set_bit(bits_t* bits, Py_ssize_t i) noexcept nogil:
    """Set the output for example i to +1."""
    bits[i >> 3] |= <bits_t> (1 << (i & 7))


cdef inline void clear_bit(bits_t* bits, Py_ssize_t i) noexcept nogil:
    """Set the output for example i to -1."""
    bits[i >> 3] &= <bits_t> ~(1 << (i & 7))


cdef inline void assign_bit(bits_t* bits, Py_ssize_t i, bint positive) noexcept nogil:
    """Set the output for example i to +1 if positive, else to -1."""
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
    """Unpack outputs; the inverse of pack_signs."""
    cdef Py_ssize_t i
    for i in range(n_samples):
        signs[i * stride] = get_sign(bits, i)


cdef inline double packed_edge(
    const bits_t* bits, const double* weights, Py_ssize_t n_samples
) noexcept nogil:
    """Return the edge sum_i weights[i] h(x_i), summed in the order of the examples."""
    cdef double edge = 0.0
    cdef Py_ssize_t i
    for i in range(n_samples):
        edge += weights[i] if get_bit(bits, i) else -weights[i]
    return edge
