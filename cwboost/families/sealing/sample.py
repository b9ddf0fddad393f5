"""Views of a training matrix that are read-only, and copies of some of its rows."""

import copy

import numpy as np
from scipy import sparse

N_CHECKED_ROWS = 128
"""Number of examples on which outputs are computed again."""


def checked_rows(n_samples: int) -> np.ndarray:
    """Return the places of the examples of a `Sample`, ascending, among all."""
    n = min(n_samples, N_CHECKED_ROWS)
    return np.sort(np.random.default_rng(0).choice(n_samples, n, replace=False))


class Sample:
    """Read-only copies of `N_CHECKED_ROWS` training examples: always the same places.

    The examples are the `rows` of X, or all of it. The attribute `rows` has the places among these,
    ascending; `n_samples` is their number.
    """

    def __init__(self, X, rows=None):
        self.n_samples = X.shape[0] if rows is None else len(rows)
        self.rows = checked_rows(self.n_samples)
        self.X = read_only(X[self.rows if rows is None else rows[self.rows]])


def read_only(X):
    """Return a view of a dense or sparse matrix that cannot be written to; nothing is copied."""
    if not sparse.issparse(X):
        view = X.view()
        view.flags.writeable = False
        return view
    view = copy.copy(X)
    for name in ("data", "indices", "indptr"):
        setattr(view, name, read_only(getattr(X, name)))
    return view
