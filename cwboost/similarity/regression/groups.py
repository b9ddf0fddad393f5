"""Groups of examples that are left out together, with the same share of each class.

If examples were left out one by one, the others would have one example less of its class than of
another: on few examples, or noisy ones, the score would tell the label by that.
"""

from __future__ import annotations

import numpy as np

__all__ = ["stratified_groups", "without_groups"]

FEWEST_GROUPS = 10
"""Number of groups if a class has fewer examples."""

ROOT_UNIT = 2.0**17
"""Unit of the entries of the root of inv(A): with a penalty of 0.01 they are below 2**4, so that
sums of 2,000 products are exact."""


def stratified_groups(y) -> np.ndarray:
    """Return the examples of each group, as many groups as the rarest class has examples.

    Parameters
    ----------
    y : ndarray of shape (n,), int
        Class indices, ascending.

    Returns
    -------
    ndarray of shape (n_groups, size), dtype int64
        Indices of examples, -1 after the last one of a smaller group.
    """
    counts = np.bincount(y)
    counts = counts[counts > 0]
    n_groups = max(FEWEST_GROUPS, int(counts.min()))
    rank = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    group = rank * n_groups // np.repeat(counts, counts)
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group, minlength=n_groups)
    sizes = sizes[sizes > 0]
    groups = np.full((len(sizes), sizes.max()), -1, dtype=np.int64)
    groups[np.arange(sizes.max()) < sizes[:, None]] = order
    return groups


def without_groups(B, coefficients, groups) -> np.ndarray:
    """Return ``inv(inv(A)_SS) a_S`` of each group S, (n_groups, size, n_scores).

    Parameters
    ----------
    B : ndarray of shape (n, n), dtype float64
        Lower triangular, with ``inv(A) = B' B``.
    coefficients : ndarray of shape (n, n_scores), dtype float64
    groups : ndarray of shape (n_groups, size), int
        As of `stratified_groups`; results of the places with -1 mean nothing.
    """
    absent = groups < 0
    # Rows of a copy are gathered several times as fast as columns.
    roots = np.ascontiguousarray(B.T)[groups]
    roots *= ROOT_UNIT
    np.rint(roots, out=roots)
    roots[absent] = 0.0
    blocks = (roots @ roots.transpose(0, 2, 1)) / ROOT_UNIT**2
    group, place = np.nonzero(absent)
    blocks[group, place, place] = 1.0
    return _solutions(blocks, np.where(absent[:, :, None], 0.0, coefficients[groups]))


def _solutions(A, B) -> np.ndarray:
    """Return ``inv(A[g]) B[g]`` for every g, by elimination; A is positive definite.

    A and B are overwritten. LAPACK would sum in an order that depends on the processor.
    """
    for p in range(A.shape[1]):
        scale = 1.0 / A[:, p, p]
        row, right = A[:, p] * scale[:, None], B[:, p] * scale[:, None]
        factor = A[:, :, p].copy()
        factor[:, p] = 0.0
        A -= factor[:, :, None] * row[:, None, :]
        B -= factor[:, :, None] * right[:, None, :]
        A[:, p], B[:, p] = row, right
    return B
