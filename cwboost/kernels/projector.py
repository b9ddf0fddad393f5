"""Projections of rows on many directions, with the same bits in training and prediction."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cwboost._kernels.projections.projection import (
    LANES,
    Directions,
    fill_directions,
    orthogonalise,
)
from cwboost.kernels.matrices import canonical_csr, readable
from cwboost.kernels.threads import usable_threads

__all__ = ["Projector", "orthonormal_rows", "seeded_directions"]


class Projector:
    """Projections ``z_j(x) = sum_k x[k] directions[k, j] - offset[j]``.

    Sums are computed in float64 in the order of the features and rounded to float32 at the end.
    The bits of a projection depend on its row alone: not on other rows, the number of threads,
    the processor, or whether X is dense or sparse.

    Parameters
    ----------
    directions : ndarray of shape (n_features, n_columns), dtype float64, finite
        See `seeded_directions`.
    centre : ndarray of shape (n_features,), dtype float64, default=None
        Row whose projections are the offset; None means zeros. A centre preserves the precision
        of projections of data far from zero.
    """

    def __init__(self, directions, centre=None):
        self.n_features, self.n_columns = directions.shape
        width = -(-max(1, self.n_columns) // LANES) * LANES
        padded = np.zeros((self.n_features, width))
        padded[:, : self.n_columns] = directions
        offset = np.zeros(width)
        if centre is not None:
            # One feature after the other, as the kernel adds.
            for start in range(0, self.n_features, 256):
                part = slice(start, start + 256)
                terms = np.vstack([offset, centre[part, None] * padded[part]])
                offset = np.add.accumulate(terms, axis=0)[-1]
        self._directions = Directions(padded, np.ascontiguousarray(offset), self.n_columns)

    def __call__(self, X, n_threads: int = 1) -> np.ndarray:
        """Return the projections of the rows of X.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            uint8, float32 and float64 are read in place; other dtypes are converted to float64.
        n_threads : int, default=1

        Returns
        -------
        ndarray of shape (n_columns, n_samples), dtype float32
            NaN if infinities in a row cancel.
        """
        if X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} features, got {X.shape[1]}")
        n_threads = usable_threads(n_threads)
        out = np.empty((self.n_columns, X.shape[0]), dtype=np.float32)
        if sparse.issparse(X):
            X = canonical_csr(X)
            indices = X.indices.astype(np.int32, copy=False)
            indptr = X.indptr.astype(np.int64, copy=False)
            self._directions.sparse(readable(X.data), indices, indptr, out, n_threads)
        else:
            self._directions.dense(readable(X), out, n_threads)
        return out


def seeded_directions(seeds, density, scale) -> np.ndarray:
    """Return random directions that depend only on their seeds, on any machine and version.

    Parameters
    ----------
    seeds : ndarray of shape (n,), dtype uint64
    density : ndarray of shape (n,), dtype float64
        0 gives Gaussian entries of mean 0 and variance 1; a value in (0, 1] gives entries that are
        -1 or +1 with probability ``density / 2`` each, else 0.
    scale : ndarray of shape (n_features,), dtype float64
        Factors of the entries, e.g. the inverse of the spread of each feature.

    Returns
    -------
    ndarray of shape (n_features, n), dtype float64
    """
    W = np.empty((len(scale), len(seeds)))
    fill_directions(seeds, density, scale, np.arange(len(seeds)), W)
    return W


def orthonormal_rows(A) -> np.ndarray:
    """Make rows orthonormal by modified Gram-Schmidt, in order and in place.

    Parameters
    ----------
    A : ndarray of shape (n, n_features), dtype float64, C-contiguous
        Rows beyond the rank become zero.

    Returns
    -------
    ndarray
        A itself. Unlike LAPACK routines, this gives the same bits on every machine.
    """
    return orthogonalise(A)
