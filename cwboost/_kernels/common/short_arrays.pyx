"""Checks and choices on arrays of a few entries, of which a round makes a dozen.

Each costs a fraction of a microsecond, where the call of NumPy alone would take one to three.
"""

import numpy as np

from libc.stdint cimport int64_t

__all__ = [
    "any_above", "ascends", "count_set", "covers", "flat_places", "largest", "one_layer",
    "places_above",
]


def any_above(const double[:] values, double bound):
    """Return True if any value is above `bound`."""
    cdef Py_ssize_t k
    for k in range(values.shape[0]):
        if values[k] > bound:
            return True
    return False


def places_above(const double[:] values, double bound):
    """Return the indices of the values above `bound`: int64, ascending."""
    cdef Py_ssize_t k, n = 0
    places = np.empty(values.shape[0], dtype=np.int64)
    cdef int64_t[::1] out = places
    for k in range(values.shape[0]):
        if values[k] > bound:
            out[n] = k
            n += 1
    return places if n == values.shape[0] else places[:n]


def largest(const double[:] values, double least):
    """Return the largest of the values and `least`; no value is NaN."""
    cdef Py_ssize_t k
    for k in range(values.shape[0]):
        if values[k] > least:
            least = values[k]
    return least


def ascends(const int64_t[:] numbers):
    """Return True if every number is above the one before it."""
    cdef Py_ssize_t k
    for k in range(1, numbers.shape[0]):
        if numbers[k] <= numbers[k - 1]:
            return False
    return True


def one_layer(const int64_t[:] classes, const int64_t[:] rows, int64_t n_classes):
    """Return ``rows[k]`` at place ``classes[k]``, -1 elsewhere: shape (1, n_classes), dtype int64.

    None if the classes, all of 0 to ``n_classes - 1``, do not ascend.
    """
    cdef Py_ssize_t k, n = classes.shape[0]
    if rows.shape[0] != n:
        raise ValueError(f"expected {n} rows, one per class, got {rows.shape[0]}")
    for k in range(n):
        if not 0 <= classes[k] < n_classes:
            raise IndexError(f"classes must lie in 0..{n_classes - 1}, got {classes[k]}")
    if not ascends(classes):
        return None
    layer = np.empty((1, n_classes), dtype=np.int64)
    cdef int64_t[:, ::1] out = layer
    out[:] = -1
    for k in range(n):
        out[0, classes[k]] = rows[k]
    return layer


def count_set(const int64_t[:, :] layers):
    """Return the number of entries that are not negative."""
    cdef Py_ssize_t i, k
    cdef int64_t n = 0
    for i in range(layers.shape[0]):
        for k in range(layers.shape[1]):
            n += layers[i, k] >= 0
    return n


def covers(const int64_t[:] numbers, int64_t n):
    """Return True if the numbers, which do not descend, are all of 0 to ``n - 1``."""
    cdef Py_ssize_t k
    cdef int64_t wanted = 0
    for k in range(numbers.shape[0]):
        wanted += numbers[k] == wanted
    return wanted == n


def flat_places(const int64_t[:, :] rows, const int64_t[:] columns, int64_t row_step,
                int64_t column_step):
    """Return ``row_step * rows + column_step * columns``: places in a matrix in one piece."""
    cdef Py_ssize_t i, k, n = columns.shape[0]
    if rows.shape[1] != n:
        raise ValueError(f"expected {n} rows per side, got {rows.shape[1]}")
    places = np.empty((rows.shape[0], n), dtype=np.int64)
    cdef int64_t[:, ::1] out = places
    for i in range(rows.shape[0]):
        for k in range(n):
            out[i, k] = row_step * rows[i, k] + column_step * columns[k]
    return places
