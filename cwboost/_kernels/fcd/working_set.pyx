"""Working sets of coordinate descent: which columns are violated, and the order of a pass."""

import numpy as np

from libc.math cimport fabs
from libc.stdint cimport int64_t


def violated(const double[:, ::1] edges, const double[:, ::1] coef, double epsilon):
    """Return the largest violation (eq. vio), and the coordinates with one above epsilon.

    `edges` and `coef`, (n_classes, capacity), are zero in entries without a column. The largest
    violation is NaN if any is; the classes and rows of the coordinates go class after class.
    """
    cdef int64_t c, j, n = 0, K = edges.shape[0], capacity = edges.shape[1]
    cdef double theta, worst = 0.0
    found = np.empty((2, K * capacity), dtype=np.int64)
    cdef int64_t[:, ::1] at = found
    for c in range(K):
        for j in range(capacity):
            theta = edges[c, j] - 1.0
            # A coefficient at zero may have an edge below one.
            theta = 0.0 if theta < 0.0 and coef[c, j] <= 0.0 else fabs(theta)
            # A NaN becomes the worst and stays, since no number is larger than a NaN.
            if theta > worst or theta != theta:
                worst = theta
            if not theta <= epsilon:
                at[0, n], at[1, n] = c, j
                n += 1
    return worst, found[0, :n].copy(), found[1, :n].copy()


def in_turns(const int64_t[::1] classes, const int64_t[::1] rows, const int64_t[::1] picks,
             const int64_t[::1] turn, int64_t n_turns):
    """Return classes and rows in the order of a pass: turn after turn, class after class within.

    `classes` and `rows` are a working set of size n, and `picks` indices into it, of which turn t
    begins at t n / n_turns. `turn` has the place of each class within a turn.
    """
    cdef int64_t i, k, key, n = classes.shape[0], K = turn.shape[0]
    cdef int64_t[::1] place = np.zeros(n_turns * K + 1, dtype=np.int64)
    out = np.empty((2, n), dtype=np.int64)
    cdef int64_t[:, ::1] to = out
    for i in range(n):
        place[i * n_turns // n * K + turn[classes[picks[i]]] + 1] += 1
    for k in range(n_turns * K):
        place[k + 1] += place[k]
    for i in range(n):
        k = picks[i]
        key = i * n_turns // n * K + turn[classes[k]]
        to[0, place[key]], to[1, place[key]] = classes[k], rows[k]
        place[key] += 1
    return out[0], out[1]
