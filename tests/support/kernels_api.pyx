# Every function of cwboost's public Cython API, callable from Python.

import numpy as np

from libc.stdint cimport int8_t, int32_t

from cwboost.kernels cimport (
    CYTHON_API_VERSION,
    Cut,
    assign_bit,
    best_constants,
    best_cut,
    best_cuts,
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


def cut(
    const double[::1] values, const int32_t[::1] order, const double[::1] weights, double total
):
    """values in ascending order."""
    cdef Cut found = best_cut(&values[0], &order[0], &weights[0], total, weights.shape[0])
    return found.edge, found.position, found.polarity


def cuts(const double[:, ::1] values, const int32_t[:, ::1] order, const double[:, ::1] rows):
    """The best cut of all features for each target; rows of shape (n_samples, n_targets)."""
    cdef Py_ssize_t n_targets = rows.shape[1], f
    cdef double[::1] totals = np.asarray(rows).sum(axis=0)
    cdef int32_t[::1] features = np.empty(n_targets, dtype=np.int32)
    cdef Cut[64] found
    best_constants(&totals[0], rows.shape[0], n_targets, found, &features[0])
    for f in range(values.shape[0]):
        best_cuts(
            &values[f, 0], &order[f, 0], &rows[0, 0], &totals[0], rows.shape[0], n_targets, f,
            found, &features[0],
        )
    return [
        (found[t].edge, found[t].position, found[t].polarity, features[t])
        for t in range(n_targets)
    ]
