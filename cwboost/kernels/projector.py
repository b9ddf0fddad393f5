"""Projections of rows on many directions, with the same bits in training and prediction."""

import numpy as np
from scipy import sparse

from cwboost._kernels.projections.projection import Directions, Panels
from cwboost._kernels.projections.projection import inverse_factor as inverse_factor_of_leaf
from cwboost.kernels.matrices import canonical_csr, readable
from cwboost.kernels.threads import usable_threads
from cwboost.support.lazy import made_once


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
        directions = np.asarray(directions, dtype=np.float64)
        self.n_features, self.n_columns = directions.shape
        self._directions = Directions(directions, centre)

    def __call__(self, X, n_threads: int = 1, dtype=np.float32) -> np.ndarray:
        """Return the projections of the rows of X.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            uint8, float32 and float64 are read in place; other dtypes are converted to float64.
        n_threads : int, default=1
        dtype : {float32, float64}, default=float32
            float64 gives the sums before they are rounded.

        Returns
        -------
        ndarray of shape (n_columns, n_samples)
            NaN if infinities in a row cancel.
        """
        if X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} features, got {X.shape[1]}")
        n_threads = usable_threads(n_threads)
        out = np.empty((self.n_columns, X.shape[0]), dtype=dtype)
        if sparse.issparse(X):
            X = canonical_csr(X)
            indices = X.indices.astype(np.int32, copy=False)
            indptr = X.indptr.astype(np.int64, copy=False)
            self._directions.sparse(readable(X.data), indices, indptr, out, n_threads)
        else:
            self._directions.dense(self._panels, readable(X), out, n_threads)
        return out

    @made_once
    def _panels(self) -> Panels:
        return Panels(self._directions)


LEAF = 96
"""Largest matrix that is factored entry by entry; larger ones are divided into blocks."""


def matrix_product(A, B, n_threads: int = 1) -> np.ndarray:
    """Return ``A @ B``, each entry summed in ascending order; zeros of B take no time.

    Unlike BLAS routines, this gives the same bits on every machine.

    Parameters
    ----------
    A : ndarray of shape (n, k), dtype uint8, float32 or float64
    B : ndarray of shape (k, m), dtype float64
    n_threads : int, default=1

    Returns
    -------
    ndarray of shape (n, m), dtype float64
    """
    if A.shape[1] != len(B):
        raise ValueError(f"A must have a column for each of the {len(B)} rows of B, got {A.shape}")
    directions = Directions(np.asarray(B, dtype=np.float64), None)
    product = np.empty((B.shape[1], len(A)))
    directions.dense(Panels(directions), readable(A), product, usable_threads(n_threads))
    return product.T


def inverse_factor(A, n_threads: int = 1) -> np.ndarray:
    """Return B, lower triangular, with ``B A B' = I``: the inverse of the Cholesky factor L of A.

    Unlike LAPACK routines, this gives the same bits on every machine. With halves 1 and 2 of the
    rows, ``B = inv(L)`` has

        B11 = inv(L11),  L21 = A21 B11',  B22 = inv(L22)  of  A22 - L21 L21',
        B21 = -B22 L21 B11.

    Parameters
    ----------
    A : ndarray of shape (m, m), dtype float64
        Symmetric and positive definite.
    n_threads : int, default=1

    Returns
    -------
    ndarray of shape (m, m), dtype float64

    Raises
    ------
    ValueError
        If a pivot is not positive.
    """
    m = len(A)
    if m <= LEAF:
        B = inverse_factor_of_leaf(A)
        if B is None:
            raise ValueError("the matrix is not positive definite")
        return B
    half = m // 2
    B = np.zeros((m, m))
    B11 = B[:half, :half] = inverse_factor(A[:half, :half], n_threads)
    L21 = matrix_product(A[half:, :half], B11.T, n_threads)
    rest = A[half:, half:] - _with_itself(L21, n_threads)
    B22 = B[half:, half:] = inverse_factor(rest, n_threads)
    # The triangular factor goes last, since products skip its zeros only there.
    left = matrix_product(L21, B11, n_threads)
    B[half:, :half] = -matrix_product(left.T, B22.T, n_threads).T
    return B


def _with_itself(L, n_threads: int) -> np.ndarray:
    """Return ``L @ L.T``, without the upper right quarter if it is larger than a leaf."""
    m = len(L)
    if m <= LEAF:
        return matrix_product(L, L.T, n_threads)
    half = m // 2
    found = np.zeros((m, m))
    found[:half, :half] = matrix_product(L[:half], L[:half].T, n_threads)
    found[half:] = matrix_product(L[half:], L.T, n_threads)
    return found
