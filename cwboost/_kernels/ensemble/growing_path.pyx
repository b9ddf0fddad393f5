"""The coefficient path while it grows, in vectors whose room doubles: a round costs its entries.

Entries of a round are sorted by column, then score. This costs one comparison each if they ascend
already, as those of new learners do. Else each entry goes to the place of its column if a round has
many of them, as in total correction; few entries, or several of one column, are compared.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memcpy

from cwboost._kernels.common.arrays cimport (
    FLOAT64, INT32, INT64, Kind, as_vector, data_of, length_of, new_vector)

cdef struct Entry:
    int64_t column, score
    double value


cdef class GrowingPath:
    """The arrays of a path of coefficients, see `CoefficientPath`, which rounds are appended to.

    No signal is handled within `append`, so that an interrupt leaves a path of whole rounds.

    Parameters
    ----------
    round_offsets, learners_offsets, column, score_index, value : ndarray
        The path to go on from; copied.

    Attributes
    ----------
    n_rounds : int
    n_learners : int
        Number of learners known after the last round.
    """

    cdef readonly int64_t n_rounds, n_learners
    cdef int64_t n_entries, rounds_room, entries_room
    cdef object round_offsets, learners_offsets, column, score_index, value

    def __init__(self, round_offsets, learners_offsets, column, score_index, value):
        self.n_rounds, self.n_entries = len(round_offsets) - 1, len(column)
        self.n_learners = learners_offsets[self.n_rounds]
        self.rounds_room, self.entries_room = self.n_rounds, self.n_entries
        self.round_offsets = np.array(round_offsets, dtype=np.int64)
        self.learners_offsets = np.array(learners_offsets, dtype=np.int64)
        self.column = np.array(column, dtype=np.int32)
        self.score_index = np.array(score_index, dtype=np.int32)
        self.value = np.array(value, dtype=np.float64)

    def append(self, columns, score_index, values, int64_t n_learners):
        """Record a round.

        Parameters
        ----------
        columns : array-like of int, shape (n_changes,)
        score_index : array-like of int, shape (n_changes,)
        values : array-like of float, shape (n_changes,)
            The new values of the coefficients; 0 removes a learner.
        n_learners : int
            Learners known after this round; those of earlier rounds included.
        """
        columns, score_index = as_vector(columns, INT64), as_vector(score_index, INT64)
        values = as_vector(values, FLOAT64)
        cdef int64_t n = length_of(columns)
        if length_of(score_index) != n or length_of(values) != n:
            raise ValueError(
                "columns, score_index and values must have the same length, got "
                f"{n}, {length_of(score_index)} and {length_of(values)}"
            )
        if n_learners < self.n_learners:
            raise ValueError(
                f"n_learners must be at least {self.n_learners}, as before, got {n_learners}"
            )
        self.make_room(n)
        if self.write(<const int64_t *> data_of(columns), <const int64_t *> data_of(score_index),
                      <const double *> data_of(values), n, n_learners):
            raise ValueError(f"columns must lie in 0..{n_learners - 1}")
        self.n_entries, self.n_learners = self.n_entries + n, n_learners
        self.n_rounds += 1
        (<int64_t *> data_of(self.round_offsets))[self.n_rounds] = self.n_entries
        (<int64_t *> data_of(self.learners_offsets))[self.n_rounds] = n_learners

    def arrays(self):
        """Return copies of the five arrays, by name."""
        cdef int64_t n = self.n_entries
        return {
            "round_offsets": self.round_offsets[:self.n_rounds + 1].copy(),
            "learners_offsets": self.learners_offsets[:self.n_rounds + 1].copy(),
            "column": self.column[:n].copy(),
            "score_index": self.score_index[:n].copy(),
            "value": self.value[:n].copy(),
        }

    cdef int make_room(self, int64_t n) except -1:
        """Make room for one more round of n entries."""
        if self.n_rounds == self.rounds_room:
            self.rounds_room = 2 * self.rounds_room + 16
            self.round_offsets = grown(self.round_offsets, self.rounds_room + 1, INT64)
            self.learners_offsets = grown(self.learners_offsets, self.rounds_room + 1, INT64)
        if self.n_entries + n > self.entries_room:
            self.entries_room = 2 * (self.n_entries + n) + 64
            self.column = grown(self.column, self.entries_room, INT32)
            self.score_index = grown(self.score_index, self.entries_room, INT32)
            self.value = grown(self.value, self.entries_room, FLOAT64)
        return 0

    cdef int write(self, const int64_t *columns, const int64_t *scores, const double *values,
                   int64_t n, int64_t n_learners) except -1:
        """Write the entries of a round in order; return 1 if a column is out of range."""
        cdef int32_t *column = <int32_t *> data_of(self.column) + self.n_entries
        cdef int32_t *score = <int32_t *> data_of(self.score_index) + self.n_entries
        cdef double *value = <double *> data_of(self.value) + self.n_entries
        cdef bint ascends = True
        cdef int64_t k
        for k in range(n):
            if not 0 <= columns[k] < n_learners:
                return 1
            ascends = ascends and (k == 0 or columns[k - 1] < columns[k])
            column[k], score[k] = <int32_t> columns[k], <int32_t> scores[k]
            value[k] = values[k]
        if ascends or (n_learners <= 4 * n and self.place(columns, scores, values, n, n_learners)):
            return 0
        cdef Entry *entries = <Entry *> malloc(n * sizeof(Entry))
        if entries == NULL:
            raise MemoryError("no memory for a round")
        for k in range(n):
            entries[k].column, entries[k].score = columns[k], scores[k]
            entries[k].value = values[k]
        qsort(entries, n, sizeof(Entry), in_order)
        cdef bint twice = False
        for k in range(n):
            twice = twice or (k > 0 and in_order(&entries[k - 1], &entries[k]) == 0)
            column[k], score[k] = <int32_t> entries[k].column, <int32_t> entries[k].score
            value[k] = entries[k].value
        free(entries)
        if twice:
            raise ValueError("a round may name a coefficient once")
        return 0

    cdef bint place(self, const int64_t *columns, const int64_t *scores, const double *values,
                    int64_t n, int64_t n_learners) except -1:
        """Write the entries of a round by column; return False if a column comes twice."""
        cdef int32_t *column = <int32_t *> data_of(self.column) + self.n_entries
        cdef int32_t *score = <int32_t *> data_of(self.score_index) + self.n_entries
        cdef double *value = <double *> data_of(self.value) + self.n_entries
        cdef int64_t k, c, at = 0
        cdef bint once = True
        # One more than the entry of each column, 0 for none.
        cdef int64_t *entry_of = <int64_t *> calloc(n_learners, sizeof(int64_t))
        if entry_of == NULL:
            raise MemoryError("no memory for a round")
        for k in range(n):
            once = once and entry_of[columns[k]] == 0
            entry_of[columns[k]] = k + 1
        for c in range(n_learners if once else 0):
            k = entry_of[c] - 1
            if k >= 0:
                column[at], score[at], value[at] = <int32_t> c, <int32_t> scores[k], values[k]
                at += 1
        free(entry_of)
        return once


cdef int in_order(const void *one, const void *other) noexcept nogil:
    cdef const Entry *a = <const Entry *> one
    cdef const Entry *b = <const Entry *> other
    if a.column != b.column:
        return -1 if a.column < b.column else 1
    return (a.score > b.score) - (a.score < b.score)


cdef object grown(object array, int64_t room, Kind kind):
    """Return a longer copy of a vector; further entries are arbitrary."""
    longer = new_vector(room, kind)
    memcpy(data_of(longer), data_of(array), length_of(array) * array.itemsize)
    return longer
