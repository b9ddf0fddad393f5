"""Gains of comparisons in edge, less what chance gives, for importances.

A node of a tree, with S the sum of the signed weights of its examples and Q the sum of their
squares, gains ``|S_left| + |S_right| - |S|`` in edge by a comparison. If the feature has nothing to
do with the weights and sends half of them either way, S_left is close to normal with mean S / 2 and
deviation sqrt(Q) / 2, and the comparison gains max(0, u sqrt(Q) - |S|) with u half-normal. The best
of k such comparisons has the largest of k draws of u. Its mean gain is what chance gives.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import ndtri

__all__ = [
    "THRESHOLDS_SEARCHED",
    "chance_deviations",
    "gained_fractions",
    "gained_fractions_of_sums",
]

THRESHOLDS_SEARCHED = 6
"""The best of all thresholds of a feature counts as the best of this number of comparisons: the
largest deviation of a random walk that ends at 0 is as large on average."""

LARGE = 1e140


def chance_deviations(n_comparisons: int) -> np.ndarray:
    """Return five equally likely values of the largest of `n_comparisons` half-normal numbers."""
    return _deviations(max(1, n_comparisons)).copy()


@lru_cache(maxsize=64)
def _deviations(n_comparisons: int) -> np.ndarray:
    """Return `chance_deviations`, computed once per number: pricing asks for one every round."""
    levels = (np.arange(5) + 0.5) / 5
    return ndtri(0.5 + 0.5 * levels ** (1.0 / n_comparisons))


def gained_fractions(weights, edges, n_comparisons: int, target=None) -> np.ndarray:
    """Return the gains of learners of one comparison each, as fractions of their edges.

    Parameters
    ----------
    weights : ndarray of shape (n_targets, n_samples), dtype float64
        The weights for which the learners were priced.
    edges : ndarray of shape (n_learners,), dtype float64
    n_comparisons : int
        Number of comparisons from which each learner was chosen.
    target : ndarray of shape (n_learners,), int, default=None
        The row of `weights` of each learner; None: learner ``t`` has row ``t``, or a single learner
        is for all rows.

    Returns
    -------
    ndarray of shape (n_learners,), dtype float32
        At most 1; negative if chance would have gained more.
    """
    scale = edges.max(initial=0.0)
    if not 1 / LARGE < scale < LARGE:
        if not scale > 0:
            return np.zeros(len(edges), dtype=np.float32)
        weights, edges = weights / scale, edges / scale
    shared = target is None and len(edges) == 1 < len(weights)
    sums = np.abs(weights.sum(axis=1))
    roots = np.sqrt(np.einsum("ti,ti->t", weights, weights))
    # A learner for all rows is not the best for each.
    floor = _edges_by_chance(sums, roots, 1 if shared else n_comparisons)
    floor = floor.sum(keepdims=True) if shared else floor if target is None else floor[target]
    return _fractions(edges, floor)


def gained_fractions_of_sums(sums, squares, edges, n_comparisons: int) -> np.ndarray:
    """Return `gained_fractions` from sums over all examples, one target per learner.

    Parameters
    ----------
    sums, squares : ndarrays of shape (n_learners,), dtype float64
        Sum of the weights of each target, and sum of their squares.
    edges : ndarray of shape (n_learners,), dtype float64
    n_comparisons : int

    Returns
    -------
    ndarray of shape (n_learners,), dtype float32
    """
    return _fractions(edges, _edges_by_chance(np.abs(sums), np.sqrt(squares), n_comparisons))


def _edges_by_chance(sums, roots, n_comparisons: int) -> np.ndarray:
    deviations = _deviations(max(1, n_comparisons))
    return sums + np.maximum(0.0, deviations[:, None] * roots - sums).mean(axis=0)


def _fractions(edges, floor) -> np.ndarray:
    positive = np.where(edges > 0, edges, 1.0)
    gains = np.where(edges > 0, (edges - floor) / positive, 0.0)
    return np.maximum(gains, np.finfo(np.float32).min).astype(np.float32)
