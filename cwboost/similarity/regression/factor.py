"""Factors of positive definite matrices, with the same bits on every machine."""

from __future__ import annotations

import numpy as np

from cwboost._kernels.projections import ridge
from cwboost.kernels import Projector

__all__ = ["inverse_factor", "product"]

LEAF = 96
"""Largest matrix that is factored entry by entry; larger ones are divided into blocks."""


def product(A, B, n_threads: int = 1) -> np.ndarray:
    """Return ``A @ B``, each entry summed in ascending order; zeros of B take no time."""
    return Projector(B)(A, n_threads, np.float64).T


def inverse_factor(A, n_threads: int = 1) -> np.ndarray:
    """Return B, lower triangular, with ``B A B' = I``.

    With halves 1 and 2 of the rows, and L the lower Cholesky factor of A, ``B = inv(L)`` has

        B11 = inv(L11),  L21 = A21 B11',  B22 = inv(L22)  of  A22 - L21 L21',
        B21 = -B22 L21 B11.

    Parameters
    ----------
    A : ndarray of shape (m, m), dtype float64
        Symmetric and positive definite.
    n_threads : int, default=1

    Raises
    ------
    ValueError
        If a pivot is not positive.
    """
    m = len(A)
    if m <= LEAF:
        B = ridge.inverse_factor(A)
        if B is None:
            raise ValueError("the matrix is not positive definite")
        return B
    half = m // 2
    B = np.zeros((m, m))
    B11 = B[:half, :half] = inverse_factor(A[:half, :half], n_threads)
    L21 = product(A[half:, :half], B11.T, n_threads)
    rest = A[half:, half:] - _with_itself(L21, n_threads)
    B22 = B[half:, half:] = inverse_factor(rest, n_threads)
    # The triangular factor goes last, since products skip its zeros only there.
    B[half:, :half] = -product(product(L21, B11, n_threads).T, B22.T, n_threads).T
    return B


def _with_itself(L, n_threads: int) -> np.ndarray:
    """Return ``L @ L.T``, without the upper right quarter if it is larger than a leaf."""
    m = len(L)
    if m <= LEAF:
        return product(L, L.T, n_threads)
    half = m // 2
    found = np.zeros((m, m))
    found[:half, :half] = product(L[:half], L[:half].T, n_threads)
    found[half:] = product(L[half:], L.T, n_threads)
    return found
