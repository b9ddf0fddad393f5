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

__all__ = ["THRESHOLDS_SEARCHED", "chance_deviations", "gained_fractions"]

THRESHOLDS_SEARCHED = 6
"""The best of all thresholds of a feature counts as the best of this number of comparisons: the
largest deviation of a random walk that ends at 0 is as large on average."""


def chance_deviations(n_comparisons: int) -> np.ndarray:
    """Return five equally likely values of the largest of `n_comparisons` half-normal numbers."""
    return _deviations(max(1, n_comparisons)).copy()


@lru_cache(maxsize=64)
def _deviations(n_comparisons: int) -> np.ndarray:
    """Return `chance_deviations`, computed once per number: pricing asks for them every round."""
    levels = (np.arange(5) + 0.5) / 5
    return ndtri(0.5 + 0.5 * levels ** (1.0 / n_comparisons))


def gained_fractions(edges, sums, norms, n_comparisons: int) -> np.ndarray:
    """Return the gains of learners of one comparison each, as fractions of their edges.

    Parameters
    ----------
    edges : ndarray of shape (n_learners,), dtype float64
    sums, norms : ndarrays of shape (n_targets,), dtype float64
        Sum of the weights of each target, and the root of the sum of their squares, for which the
        learners were priced. Learner ``t`` is for target ``t``, or a single one is for all.
    n_comparisons : int
        Number of comparisons from which each learner was chosen.

    Returns
    -------
    ndarray of shape (n_learners,), dtype float32
        At most 1; negative if chance would have gained more; 0 for an edge of 0.
    """
    # A learner for all targets is not the best for each.
    shared = len(edges) == 1 < len(sums)
    deviations = _deviations(1 if shared else max(1, n_comparisons))
    # Every round calls this: few operations.
    by_chance = np.add.reduce(np.maximum(np.abs(sums), deviations[:, None] * norms))
    if shared:
        by_chance = by_chance.sum(keepdims=True)
    edges = len(deviations) * edges
    fractions = np.ones(len(edges))
    # An edge that is only an error of rounding counts as 0.
    np.divide(by_chance, edges, out=fractions, where=by_chance < 1e30 * edges)
    return (1.0 - fractions).astype(np.float32)
