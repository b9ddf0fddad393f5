"""Examples that no score can tell apart."""

from __future__ import annotations

import numpy as np

__all__ = ["first_of_equals", "mean_of_equals"]


def mean_of_equals(scores, codes, weight) -> np.ndarray:
    """Return scores in which examples with the same codes have the same: their weighted mean.

    The score that leaves an example out is lower, by a little, if the example is of the class than
    if it is not. Among examples that are equal in all else, it would tell their labels.

    Parameters
    ----------
    scores : ndarray of shape (n, n_scores), dtype float64
    codes : ndarray of shape (n, n_features), dtype int8
    weight : ndarray of shape (n,), dtype float64

    Returns
    -------
    ndarray of shape (n, n_scores), dtype float64
    """
    kinds, kind = np.unique(_rows(codes), return_inverse=True)
    if len(kinds) == len(codes):
        return scores
    total = np.bincount(kind, weight)
    return np.column_stack(
        [(np.bincount(kind, weight * column) / total)[kind] for column in scores.T]
    )


def first_of_equals(codes) -> np.ndarray:
    """Return the index of the first example of each kind, ascending."""
    return np.sort(np.unique(_rows(codes), return_index=True)[1])


def _rows(codes) -> np.ndarray:
    """Return the codes of each example as one object."""
    codes = np.ascontiguousarray(codes)
    return codes.view(np.dtype((np.void, codes.shape[1]))).ravel()
