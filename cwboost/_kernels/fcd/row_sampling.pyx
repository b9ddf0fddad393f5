"""Minimal variance sampling of examples: probabilities, the draw, and the weights of the drawn.

Example i is drawn with probability p_i = min(1, s_i / t), independently of the others, and its
weights are divided by p_i, so that the expectation of every sum over the drawn examples is the sum
over all. Of all probabilities with the same expected number of examples, those proportional to the
size of the weights give the least variance (Ibragimov and Gusev 2019). The size s_i is the
sum of the pair weights of the example.

Sums are in the order of the examples: the draw has the same bits on every machine.
"""

import numpy as np

from libc.stdint cimport int64_t

__all__ = ["draw_rows", "take_rows"]


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
    """Set columns `rows` of `out` to those of `weights` times `factors`, and `cleared` to 0."""
    cdef int64_t t, k
    if rows.shape[0] != factors.shape[0] or out.shape[1] != weights.shape[1]:
        raise ValueError("shapes of rows and factors, or of weights and out, do not fit")
    for t in range(weights.shape[0]):
        for k in range(cleared.shape[0]):
            out[t, cleared[k]] = 0.0
        for k in range(rows.shape[0]):
            out[t, rows[k]] = weights[t, rows[k]] * factors[k]


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
