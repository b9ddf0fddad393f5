"""The choice of landmarks among many examples: half evenly spaced, half the hardest.

What a regression can express depends on where its landmarks are. A first one, on few of them, tells
which examples are near the border of their class, or beyond it: those whose class leads by least,
or not at all, in the scores that leave the example out. Landmarks there are worth about twice as
many anywhere (measured; see the documentation, "How the defaults were chosen").
"""

from __future__ import annotations

import numpy as np

from cwboost.similarity.codes import of_every_class
from cwboost.similarity.regression import WEIGHT_UNIT

__all__ = ["evenly_spaced", "select"]

BEYOND = 0.25
"""Distances beyond the border, over those on the side of the own class: of noisy labels, the ones
farthest beyond it are there by chance."""


def select(candidates, left_out, y, weight, n_landmarks: int) -> np.ndarray:
    """Return the indices of the landmarks, ascending.

    Parameters
    ----------
    candidates : ndarray of int
        Indices of the examples that may be landmarks, ascending.
    left_out : ndarray of shape (n, n_scores), dtype float64
        Scores of the first regression that leave the example out.
    y : ndarray of shape (n,), int
        Class indices, ascending, so that evenly spaced landmarks have their share of each class.
    weight : ndarray of shape (n,), dtype float64
        In whole units.
    n_landmarks : int
    """
    if len(candidates) <= n_landmarks:
        return candidates
    even = candidates[evenly_spaced(len(candidates), n_landmarks // 2)]
    others = np.setdiff1d(candidates, even, assume_unique=True)
    lead = _lead(of_every_class(left_out[others]), y[others])
    distance = np.where(lead > 0, lead, -BEYOND * lead)
    # A heavy example is as many; those that are certain, with a lead of 2, do not count.
    hardness = (weight[others] / WEIGHT_UNIT) * (2.0 - distance)
    hardest = np.argsort(-hardness, kind="stable")[: n_landmarks - len(even)]
    return np.sort(np.concatenate([even, others[hardest]]))


def _lead(scores, y) -> np.ndarray:
    """Return by how much the score of its class is above the highest other one, per example."""
    own = np.arange(scores.shape[1]) == y[:, None]
    return scores[own] - np.where(own, -np.inf, scores).max(axis=1)


def evenly_spaced(n: int, most: int) -> np.ndarray:
    """Return up to `most` evenly spaced indices below n."""
    kept = min(n, most)
    return np.arange(kept) * n // kept
