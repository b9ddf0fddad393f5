"""Features weighed by their relevance, which the slopes of a first regression tell.

A kernel that counts all features alike is misled by those that say nothing. How much the scores f
depend on feature j is told by the root of their mean squared slope,

    r_j = (mean over landmarks x of  sum over scores of (df / dx_j)**2)**(1/2),

in units of its standard deviation. Features that are scaled by r_j give a kernel of the same form,
in which likeness depends on what counts: one step of the recursion of Radhakrishnan, Beaglehole,
Pandit and Belkin (Science 383, 2024), with the diagonal of their matrix.
"""

from __future__ import annotations

import numpy as np

from cwboost.similarity.codes import FeatureCodes
from cwboost.similarity.likeness import TAIL, Landmarks

__all__ = ["is_better", "relevance", "squared_slopes"]

GAINS = ((0.05, 0.5), (0.01, 2.0))
"""A regression is better if its log loss is lower by one of these fractions and numbers of standard
errors, not merely lower: slopes have seen the labels of the examples that are left out."""


def squared_slopes(points, landmarks, width: float, coefficients) -> np.ndarray:
    """Return the squared slopes of scores along each feature of the codes, summed over points.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        Codes at which slopes are taken.
    landmarks : ndarray of shape (n_landmarks, n_features)
        Codes of the landmarks.
    width : float
        Of the kernel.
    coefficients : ndarray of shape (n_landmarks, n_scores), dtype float64

    Returns
    -------
    ndarray of shape (n_scores, n_features), dtype float64
        In a unit of their own.
    """
    points, landmarks = points.astype(np.float64), landmarks.astype(np.float64)
    measured = Landmarks(landmarks.astype(np.float32))
    apart = measured.distances(points.astype(np.float32)).astype(np.float64)
    falls = (1.0 + apart / (TAIL * width)) ** -(TAIL + 1.0)
    found = np.empty((coefficients.shape[1], points.shape[1]))
    for k, row in enumerate(found):
        pull = falls * coefficients[:, k]
        row[:] = np.square(points * pull.sum(axis=1)[:, None] - pull @ landmarks).sum(axis=0)
    return found


def relevance(slopes, codes: FeatureCodes, standardised: FeatureCodes) -> np.ndarray | None:
    """Return the relevance of each feature over that of the most relevant one.

    Parameters
    ----------
    slopes : ndarray of shape (n_scores, n_features)
        Squared slopes along the features of `codes`.
    codes, standardised : FeatureCodes

    Returns
    -------
    ndarray of shape (n_features,), dtype float64, or None
        None if no score depends on any feature.
    """
    counts = standardised.scale > 0
    units = codes.scale[counts] / standardised.scale[counts]
    found = np.zeros(len(counts))
    found[counts] = np.sqrt(slopes.sum(axis=0)[counts]) * units
    largest = found.max(initial=0.0)
    return found / largest if 0.0 < largest < np.inf else None


def is_better(losses, others) -> bool:
    """Return True if examples have clearly lower losses, (n,), than others, those of the same."""
    gains = others - losses
    gain, error = gains.sum(), gains.std() * np.sqrt(len(gains))
    return any(gain > part * others.sum() and gain > lead * error for part, lead in GAINS)
