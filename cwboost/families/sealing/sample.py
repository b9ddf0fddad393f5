"""Views of a training matrix that are read-only, and copies of some of its rows."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
from scipy import sparse

__all__ = ["Sample", "read_only"]

N_CHECKED_ROWS = 128
"""Number of examples on which outputs are computed again."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Read-only copies of some rows of a training matrix, for checks of what a family says.

    `rows` are their places in the training matrix, ascending; `n_samples` is its number of rows.
    """

    X: object
    rows: np.ndarray
    n_samples: int

    @classmethod
    def of(cls, X) -> Sample:
        """Draw `N_CHECKED_ROWS` rows of `X`, always the same ones of a number of rows."""
        n_samples = X.shape[0]
        n = min(n_samples, N_CHECKED_ROWS)
        rows = np.sort(np.random.default_rng(0).choice(n_samples, n, replace=False))
        return cls(read_only(X[rows]), rows, n_samples)


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
