"""Samples of the examples for pricing."""

import numpy as np

from libc.stdint cimport int64_t, uint64_t

cdef extern from "common/random_words.h" nogil:
    uint64_t cwb_random_word(uint64_t seed, uint64_t i)
    double cwb_random_unit(uint64_t word)


def draw_rows(const int64_t[::1] places, int64_t n_total, double share, uint64_t seed):
    """Draw examples with probability `share`, each by the seed and its place alone.

    `places` are those of the examples among all `n_total`, which may be divided among machines; the
    one at place ``seed % n_total`` is always drawn. Return the indices of those drawn, ascending.
    """
    cdef int64_t i, n = 0, always = <int64_t> (seed % <uint64_t> n_total)
    rows = np.empty(places.shape[0] + 1, dtype=np.int64)
    cdef int64_t[::1] rows_ = rows
    for i in range(places.shape[0]):
        # Every number is written, since a branch here would be mispredicted.
        rows_[n] = i
        n += (cwb_random_unit(cwb_random_word(seed, places[i])) < share) | (places[i] == always)
    return rows[:n].copy()
