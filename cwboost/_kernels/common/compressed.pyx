"""Checks that the indices of a compressed sparse matrix are in range and ascend.

SciPy's constructors check neither. Cost: one pass over the entries, without allocation.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cdef int64_t BLOCK = 4096

ctypedef fused index_t:
    int32_t
    int64_t


def find_pointer_fault(const index_t[::1] indptr, int64_t n_stored):
    """Return the index of the first entry of `indptr` that cannot be right, -1 for none.

    Parameters
    ----------
    indptr : memoryview of shape (n_lines + 1,), dtype int32 or int64
    n_stored : int
        Number of stored entries.

    Returns
    -------
    int
    """
    cdef Py_ssize_t i
    cdef index_t before = 0
    if indptr[0] != 0:
        return 0
    for i in range(1, indptr.shape[0]):
        if indptr[i] < before or indptr[i] > n_stored:
            return i
        before = indptr[i]
    return -1


def check_indices(const index_t[::1] indptr, const index_t[::1] indices, int64_t n_minor):
    """Return whether all indices are in [0, n_minor), and whether they ascend strictly.

    Parameters
    ----------
    indptr : memoryview of shape (n_lines + 1,), dtype int32 or int64
        Without a fault; see `find_pointer_fault`.
    indices : memoryview of the same dtype
    n_minor : int

    Returns
    -------
    in_range, ascending : bool
    """
    cdef int64_t n = indptr[indptr.shape[0] - 1], start, end, line, falls = 0
    cdef int outside = 0
    if n == 0:
        return True, True
    with nogil:
        start = 0
        while start < n:
            end = min(start + BLOCK, n)
            outside |= any_outside(&indices[start], end - start, n_minor)
            if end > 1:  # the first entry of all has none before it
                falls += count_falls(&indices[max(start, 1)], end - max(start, 1))
            start = end
        # The rest are falls within a line.
        for line in range(1, indptr.shape[0] - 1):
            start = indptr[line]
            if 0 < start < indptr[line + 1]:
                falls -= indices[start] <= indices[start - 1]
    return not outside, falls == 0


# The two loops have no branch and no wide counter, so that compilers vectorise them.

cdef int any_outside(const index_t *indices, int64_t n, int64_t n_minor) noexcept nogil:
    cdef int64_t k
    cdef uint32_t limit = <uint32_t> min(n_minor, <int64_t> 1 << 31)
    cdef int found = 0
    if index_t is int32_t:
        # As unsigned numbers, negative indices are too large as well.
        for k in range(n):
            found |= <uint32_t> indices[k] >= limit
    else:
        for k in range(n):
            found |= <uint64_t> indices[k] >= <uint64_t> n_minor
    return found


cdef int32_t count_falls(const index_t *indices, int64_t n) noexcept nogil:
    """Count indices[i] <= indices[i - 1]; an entry before the first is read."""
    cdef int64_t k
    cdef int32_t falls = 0
    for k in range(n):
        falls += indices[k] <= indices[k - 1]
    return falls
