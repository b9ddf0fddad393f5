"""Probabilities from scores: softmax of the scores times a scale."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

__all__ = ["LOSS_SCALE", "fit_scale"]

LOSS_SCALE = 2.0
"""Scale that inverts the loss: the minimiser of the expected pairwise exponential loss has exp(F_y)
proportional to the square root of P(y | x)."""


def fit_scale(scores, y) -> float:
    """Return the maximum-likelihood scale on examples that the scores were not trained on.

    The scale s > 0 minimises the negative log-likelihood of the labels under softmax(s F) plus
    log(s / 2)^2 / 2. The second term keeps the scale near that of the loss if the examples are few
    or none is misclassified, when it would otherwise diverge.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes), float64
    y : ndarray of shape (n_samples,), int
        Class index of each example.

    Returns
    -------
    float
    """
    differences = scores - scores[np.arange(len(y)), y][:, None]

    def loss(log_scale: float) -> float:
        likelihood = logsumexp(np.exp(log_scale) * differences, axis=1).sum()
        return likelihood + 0.5 * (log_scale - np.log(LOSS_SCALE)) ** 2

    # The loss is convex in s, so it has one minimum in log s too.
    found = minimize_scalar(loss, bounds=(np.log(1e-6), np.log(1e3)), method="bounded")
    return float(np.exp(found.x))
