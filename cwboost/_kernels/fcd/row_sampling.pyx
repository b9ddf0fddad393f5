"""Samples of the examples, uniform or of minimal variance, and the weights of those drawn.

Minimal variance sampling draws example i with probability p_i = min(1, s_i / t), independently of
the others, and divides its weights by p_i, so that the expectation of every sum over the drawn
examples is the sum over all. Of all probabilities with the same expected number of examples, those
proportional to the size of the weights give the least variance (Ibragimov and Gusev 2019). The size
s_i is the sum of the pair weights of the example.

Sums are in the order of the examples: the draw has the same bits on every machine.
"""

import numpy as np

from libc.stdint cimport int64_t, uint64_t

__all__ = ["draw_rows", "draw_uniformly", "take_rows"]

cdef extern from "common/random_words.h" nogil:
    uint64_t cwb_random_word(uint64_t seed, uint64_t i)
    double cwb_random_unit(uint64_t word)


def draw_uniformly(const int64_t[::1] places, int64_t n_total, double share, uint64_t seed):
    """Draw examples with the same probability, each by the seed and its place alone.

    Parameters
    ----------
    places : ndarray of shape (n_samples,), dtype int64
        Places of the examples among all, which may be divided among machines.
    n_total : int
        Number of all examples.
    share : float
        The probability; the one at place ``seed % n_total`` is always drawn.
    seed : int, below 2**64

    Returns
    -------
    ndarray of shape (n_rows,), dtype int64
        Indices of the examples drawn, ascending.
    """
    cdef int64_t i, n = 0, always = <int64_t> (seed % <uint64_t> n_total)
    rows = np.empty(places.shape[0] + 1, dtype=np.int64)
    cdef int64_t[::1] rows_ = rows
    for i in range(places.shape[0]):
        # Every number is written, since a branch here would be mispredicted.
        rows_[n] = i
        n += (cwb_random_unit(cwb_random_word(seed, places[i])) < share) | (places[i] == always)
    return rows[:n].copy()


def draw_rows(const double[::1] size, double expected, const double[::1] uniform):
    """Draw examples by their sizes.

    Parameters
    ----------
    size : ndarray of shape (n_samples,), dtype float64
        Finite, not negative.
    expected : float
        Expected number of examples, in (0, n_samples].
    uniform : ndarray of shape (n_samples,), dtype float64
        Independent uniform numbers of [0, 1).

    Returns
    -------
    rows : ndarray of shape (n_rows,), dtype int64
        Indices of the examples drawn, ascending; the one of largest size if none was.
    factors : ndarray of shape (n_rows,), dtype float64
        1 / p_i of each; 1 if none was drawn.
    """
    cdef int64_t n = size.shape[0], i, largest = 0, n_rows = 0
    cdef double threshold = threshold_of(size, expected)
    rows, factors = np.empty(n, dtype=np.int64), np.empty(n)
    cdef int64_t[::1] rows_ = rows
    cdef double[::1] factors_ = factors
    if uniform.shape[0] != n:
        raise ValueError("one uniform number per example is needed")
    for i in range(n):
        largest = i if size[i] > size[largest] else largest
        # Every example is written, since a branch here would be mispredicted.
        rows_[n_rows] = i
        n_rows += uniform[i] * threshold < size[i]
    for i in range(n_rows):
        factors_[i] = max(1.0, threshold / size[rows_[i]])
    if n_rows == 0:
        rows_[0], factors_[0], n_rows = largest, 1.0, 1
    return rows[:n_rows].copy(), factors[:n_rows].copy()


def take_rows(const double[:, :] weights, const int64_t[::1] rows, const double[::1] factors,
              const int64_t[::1] cleared, double[:, ::1] out):
    """Set columns `rows` of `out` to those of `weights` times `factors`, and all others to 0.

    Parameters
    ----------
    weights : ndarray of shape (n_targets, n_samples), dtype float64
        The last axis is contiguous.
    rows, factors : ndarrays of shape (n_rows,), dtypes int64 and float64
        The factors are not 0.
    cleared : ndarray, dtype int64
        The columns of `out` that are not 0 now, but for those in `rows`.
    out : ndarray of shape (n_targets, n_samples), dtype float64
    """
    cdef int64_t t, k, n = out.shape[1]
    cdef double[::1] factor_of
    if rows.shape[0] != factors.shape[0] or weights.shape[1] != n:
        raise ValueError("shapes of rows and factors, or of weights and out, do not fit")
    if 4 * rows.shape[0] < n:
        for t in range(weights.shape[0]):
            for k in range(cleared.shape[0]):
                out[t, cleared[k]] = 0.0
            for k in range(rows.shape[0]):
                out[t, rows[k]] = weights[t, rows[k]] * factors[k]
        return
    # Many rows: one pass over everything, in vectors, is faster.
    factor_of = np.zeros(n)
    for k in range(rows.shape[0]):
        factor_of[rows[k]] = factors[k]
    for t in range(weights.shape[0]):
        times(&weights[t, 0], &factor_of[0], n, &out[t, 0])


cdef void times(const double* weights, const double* factor, int64_t n, double* out) noexcept nogil:
    """Multiply, with 0 and not -0 if the factor is 0."""
    cdef int64_t i
    for i in range(n):
        out[i] = weights[i] * factor[i] + 0.0


cdef double threshold_of(const double[::1] size, double expected) noexcept nogil:
    """Return t with sum min(1, s_i / t) = expected, or that of all examples of positive size."""
    cdef int64_t i, n_sure = 0, n_before = 0
    cdef double rest = 0.0, threshold
    for i in range(size.shape[0]):
        rest += size[i]
    threshold = rest / expected
    # Sizes at or above the threshold are drawn for sure, which lowers it for the others: a turn
    # adds to those that are sure, and the last one adds none.
    while True:
        n_sure, rest = 0, 0.0
        for i in range(size.shape[0]):
            if size[i] >= threshold:
                n_sure += 1
            else:
                rest += size[i]
        if n_sure == n_before or n_sure >= expected or rest == 0.0:
            return threshold
        n_before = n_sure
        threshold = rest / (expected - n_sure)
