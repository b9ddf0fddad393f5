"""Chosen columns on chosen examples, as a column store of their own."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

from cwboost._kernels.fcd.column_store cimport ColumnStore

__all__ = ["take_columns"]


def take_columns(ColumnStore columns, const int64_t[::1] classes, const int64_t[::1] rows,
                 const int64_t[::1] examples):
    """Columns of a store, on some of its examples only.

    Parameters
    ----------
    columns : ColumnStore
    classes, rows : ndarrays of shape (n,), dtype int64
        The columns to take, class after class: ``rows[k]`` of ``classes[k]``.
    examples : ndarray of shape (n_examples,), dtype int64, ascending

    Raises
    ------
    IndexError
        For a column or an example that is not there.

    Returns
    -------
    taken : ColumnStore
        The columns of each class in the order given. Equal ones stay apart, and it is not to be
        added to: it finds no column by its bits.
    """
    cdef int64_t k, c, n = classes.shape[0], n_examples = examples.shape[0]
    cdef ColumnStore taken = ColumnStore(columns.n_classes, (n_examples + 7) // 8)
    cdef int64_t[::1] counts = np.bincount(classes, minlength=columns.n_classes)
    if n_examples == 0 or examples[0] < 0 or examples[n_examples - 1] >= 8 * columns.n_bytes:
        raise IndexError("no such examples")
    for c in range(columns.n_classes):
        while taken.room[c] < counts[c]:
            taken.grow(c)
    for k in range(n):
        c = classes[k]
        if not 0 <= rows[k] < columns.count[c]:
            raise IndexError(f"no column {rows[k]} of class {c}")
        take_bits(columns.first[c] + rows[k] * columns.n_bytes, &examples[0], n_examples,
                  taken.first[c] + taken.count[c] * taken.n_bytes)
        taken.count[c] += 1
    return taken


cdef void take_bits(const uint8_t* bits, const int64_t* examples, int64_t n,
                    uint8_t* out) noexcept nogil:
    """Bit k of `out` is bit `examples[k]` of `bits`."""
    cdef int64_t first, k, i
    cdef int32_t byte
    for first in range(0, n, 8):
        byte = 0
        for k in range(min(8, n - first)):
            i = examples[first + k]
            byte |= ((bits[i >> 3] >> (i & 7)) & 1) << k
        out[first >> 3] = <uint8_t> byte
