# Every function of cwboost's public Cython API, callable from Python.

import numpy as np

from libc.stdint cimport int8_t

from cwboost.kernels cimport (
    CYTHON_API_VERSION,
    assign_bit,
    bits_t,
    clear_bit,
    get_bit,
    get_sign,
    pack_signs,
    packed_edge,
    packed_size,
    set_bit,
    unpack_signs,
)

API_VERSION = CYTHON_API_VERSION


def size(n):
    return packed_size(n)


def read(const bits_t[::1] bits, Py_ssize_t i):
    return get_bit(&bits[0], i), get_sign(&bits[0], i)


def write(bits_t[::1] bits, Py_ssize_t i, str how):
    if how == "set":
        set_bit(&bits[0], i)
    elif how == "clear":
        clear_bit(&bits[0], i)
    else:
        assign_bit(&bits[0], i, how == "assign +1")


def pack(const int8_t[:, :] signs):
    packed = np.full((signs.shape[1], packed_size(signs.shape[0])), 0xFF, dtype=np.uint8)
    cdef bits_t[:, ::1] bits = packed
    cdef Py_ssize_t t
    for t in range(signs.shape[1]):
        pack_signs(&signs[0, t], signs.strides[0], signs.shape[0], &bits[t, 0])
    return packed


def unpack(const bits_t[:, ::1] bits, Py_ssize_t n):
    unpacked = np.zeros((n, bits.shape[0]), dtype=np.int8)
    cdef int8_t[:, :] signs = unpacked
    cdef Py_ssize_t t
    for t in range(bits.shape[0]):
        unpack_signs(&bits[t, 0], n, &signs[0, t], signs.strides[0])
    return unpacked


def edge(const bits_t[::1] bits, const double[::1] weights):
    return packed_edge(&bits[0], &weights[0], weights.shape[0])
