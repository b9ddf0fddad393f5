"""Checks and choices on arrays of a few entries, of which a round makes a dozen.

Each costs a fraction of a microsecond, where the call of NumPy alone would take one to three.
"""

from libc.stdint cimport int64_t


def any_above(const double[:] values, double bound):
    """Return True if any value is above `bound`."""
    cdef Py_ssize_t k
    for k in range(values.shape[0]):
        if values[k] > bound:
            return True
    return False


def largest(const double[:] values, double least):
    """Return the largest of the values and `least`; no value is NaN."""
    cdef Py_ssize_t k
    for k in range(values.shape[0]):
        if values[k] > least:
            least = values[k]
    return least


def ascends_within(const int64_t[:] numbers, int64_t n):
    """Return True if every number is above the one before it and all are in 0 to ``n - 1``."""
    cdef int64_t last = -1
    cdef Py_ssize_t k
    for k in range(numbers.shape[0]):
        if not last < numbers[k] < n:
            return False
        last = numbers[k]
    return True
