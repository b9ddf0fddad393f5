"""Views of a training matrix that are read-only, and copies of some of its rows."""

import copy

import numpy as np
from scipy import sparse

from cwboost.support.samples import spaced_by_weight

N_CHECKED_ROWS = 128
"""Number of examples on which outputs are computed again."""


class Sample:
    """Read-only copies of `most` training examples, evenly spaced by weight.

    The examples are the `rows` of X, or all of it. The attribute `rows` has the places among these,
    ascending, and `weight` the weights that they stand for; `n_samples` is the number of all.
    """

    def __init__(self, X, rows=None, weight=None, most=N_CHECKED_ROWS):
        self.n_samples = X.shape[0] if rows is None else len(rows)
        weight = np.ones(self.n_samples) if weight is None else weight
        self.rows, self.weight = spaced_by_weight(weight, most)
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
