"""Outputs of the distinct columns of every class as packed bits, in the order of their arrival.

The columns of a class lie one after the other. A hash table, with twice as many slots as there is
room for columns, finds an equal column. Kernels over columns take the store itself, since making
one view per class would cost more than many of these kernels.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy

from cwboost._kernels.common.arrays cimport (
    FLOAT64, INT64, UINT8, as_vector, data_of, length_of, matrix, new_vector, vector)


cdef class ColumnStore:
    """Columns of each class, of `n_bytes` each.

    With `shared`, every class has the same columns, which are stored once. `capacity` is the
    largest number of columns, over the classes, that there is room for.
    """

    def __cinit__(self, int64_t n_classes, int64_t n_bytes, bint shared=False):
        cdef int64_t c
        self.n_classes, self.n_bytes, self.shared = n_classes, n_bytes, shared
        self.first = <uint8_t**> calloc(n_classes, sizeof(void*))
        self.count = <int64_t*> calloc(n_classes, sizeof(int64_t))
        self.room = <int64_t*> calloc(n_classes, sizeof(int64_t))
        self.slots = <int32_t**> calloc(n_classes, sizeof(void*))
        if not (self.first and self.count and self.room and self.slots):
            raise MemoryError("no memory for the columns")
        self.memory, self.tables = [None] * n_classes, [None] * n_classes
        for c in range(1 if shared else n_classes):
            self.grow(c)

    def __dealloc__(self):
        free(self.first)
        free(self.count)
        free(self.room)
        free(self.slots)

    def n_columns(self, int64_t c):
        """Return the number of columns of class `c`."""
        return self.count[0 if self.shared else c]

    def bits(self, int64_t c):
        """Return the columns of class `c`: a uint8 view of shape (n_columns, n_bytes)."""
        return self.memory[0 if self.shared else c][: self.n_columns(c)]

    def add(self, const int64_t[::1] classes, const uint8_t[:, ::1] outputs):
        """Store columns unless equal ones are stored already.

        Row ``k`` of `outputs` is a column of class ``classes[k]``. Return the index of each column
        among those of its class, and whether it was stored.
        """
        cdef int64_t k, n = classes.shape[0]
        if outputs.shape[0] != n or outputs.shape[1] != self.n_bytes:
            raise ValueError(f"outputs must have the shape {(n, self.n_bytes)}, got "
                             f"{np.shape(outputs)}")
        rows, new = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.uint8)
        cdef int64_t[::1] row = rows
        cdef uint8_t[::1] is_new = new
        for k in range(n):
            row[k] = self.store(classes[k], &outputs[k, 0], &is_new[k])
        return rows, new.view(bool)

    def add_paying(self, edges, double bound, classes, outputs):
        """Store columns whose edge is above `bound`; see `RestrictedMaster.add_paying`."""
        classes, edges = as_vector(classes, INT64), as_vector(edges, FLOAT64)
        cdef int64_t k, c, row, n = length_of(classes), n_new = 0, K = self.n_classes
        cdef uint8_t is_new
        cdef const double *edge = <const double *> vector(edges, FLOAT64, n)
        cdef const int64_t *class_of = <const int64_t *> data_of(classes)
        cdef const uint8_t *bits = <const uint8_t *> matrix(outputs, UINT8, n, self.n_bytes)
        layer = new_vector(K, INT64)
        cdef int64_t *place = <int64_t *> data_of(layer)
        for k in range(K):
            place[k] = -1
        new_, classes_, rows_ = new_vector(n, INT64), new_vector(n, INT64), new_vector(n, INT64)
        for k in range(n):
            if not edge[k] > bound:
                continue
            c = class_of[k]
            is_new = 0
            row = self.store(c, bits + k * self.n_bytes, &is_new)
            place[c] = row
            if is_new:
                (<int64_t *> data_of(new_))[n_new] = k
                (<int64_t *> data_of(classes_))[n_new] = c
                (<int64_t *> data_of(rows_))[n_new] = row
                n_new += 1
        if n_new < n:
            new_, classes_, rows_ = new_[:n_new], classes_[:n_new], rows_[:n_new]
        return layer, new_, classes_, rows_

    cdef int64_t store(self, int64_t c, const uint8_t* bits, uint8_t* is_new) except -1:
        """Return the row of a column of class c; `is_new` becomes 1 if it was not there."""
        cdef int64_t row, slot, other
        if not 0 <= c < self.n_classes:
            raise IndexError(f"no class {c}")
        c = 0 if self.shared else c
        row = self.find(c, bits, &slot)
        if row >= 0:
            return row
        if self.count[c] == self.room[c]:
            self.grow(c)
            self.find(c, bits, &slot)
        row, is_new[0] = self.count[c], 1
        memcpy(self.first[c] + row * self.n_bytes, bits, self.n_bytes)
        self.count[c] += 1
        self.slots[c][slot] = <int32_t> self.count[c]
        if self.shared:
            for other in range(1, self.n_classes):
                self.first[other], self.count[other] = self.first[0], self.count[0]
                self.room[other] = self.room[0]
        return row

    def append(self, const int64_t[::1] classes, const uint8_t[:, ::1] outputs):
        """Store columns, also if equal ones are stored already, whose places `add` then loses."""
        cdef int64_t k, c, n = classes.shape[0]
        if self.shared or outputs.shape[0] != n or outputs.shape[1] != self.n_bytes:
            raise ValueError(f"outputs must have the shape {(n, self.n_bytes)}, got "
                             f"{np.shape(outputs)}")
        for k in range(n):
            c = classes[k]
            if not 0 <= c < self.n_classes:
                raise IndexError(f"no class {c}")
            if self.count[c] == self.room[c]:
                self.grow(c)
            memcpy(self.first[c] + self.count[c] * self.n_bytes, &outputs[k, 0], self.n_bytes)
            self.count[c] += 1

    cdef int64_t find(self, int64_t c, const uint8_t* bits, int64_t* slot) noexcept nogil:
        """Return the row of an equal column, -1 for none; `slot` becomes its place in the table."""
        cdef uint64_t last = 2 * self.room[c] - 1
        cdef uint64_t at = hashed(bits, self.n_bytes) & last
        cdef int64_t row
        while self.slots[c][at]:
            row = self.slots[c][at] - 1
            if memcmp(self.first[c] + row * self.n_bytes, bits, self.n_bytes) == 0:
                slot[0] = at
                return row
            at = (at + 1) & last
        slot[0] = at
        return -1

    cdef int grow(self, int64_t c) except -1:
        """Double the room, a power of two, and make a new table."""
        cdef int64_t row, slot, room = max(16, 2 * self.room[c])
        memory = np.empty((room, self.n_bytes), dtype=np.uint8)
        table = np.zeros(2 * room, dtype=np.int32)
        cdef uint8_t[:, ::1] to = memory
        cdef int32_t[::1] slots = table
        if self.count[c]:
            memcpy(&to[0, 0], self.first[c], self.count[c] * self.n_bytes)
        # Views handed out before keep the old memory alive.
        self.memory[c], self.tables[c] = memory, table
        self.first[c], self.slots[c], self.room[c] = &to[0, 0], &slots[0], room
        self.capacity = max(self.capacity, room)
        for row in range(self.count[c]):
            self.find(c, self.first[c] + row * self.n_bytes, &slot)
            self.slots[c][slot] = <int32_t> (row + 1)
        return 0


cdef uint64_t hashed(const uint8_t* bits, int64_t n) noexcept nogil:
    """Return a hash of bytes, eight at a time, in four chains whose multiplications overlap."""
    cdef uint64_t h[4]
    cdef uint64_t word
    cdef int64_t i = 0, k = 0
    h[0], h[1], h[2], h[3] = 1, 2, 3, 4
    while i < n:
        if i + 8 <= n:
            memcpy(&word, bits + i, 8)
        else:
            word = 0
            memcpy(&word, bits + i, n - i)
        h[k] = (h[k] ^ word) * <uint64_t> 0x9E3779B97F4A7C15
        h[k] ^= h[k] >> 29
        i, k = i + 8, (k + 1) & 3
    word = ((h[0] * 31 + h[1]) * 31 + h[2]) * 31 + h[3]
    word *= <uint64_t> 0x9E3779B97F4A7C15
    return word >> 20
