"""Probabilities from scores: softmax of the scores times a scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from cwboost.support.warnings import warn_caller

__all__ = ["LOSS_SCALE", "fit_scale", "predict_prior"]

LOSS_SCALE = 2.0
"""Scale that inverts the loss: the minimiser of the expected pairwise exponential loss has exp(F_y)
proportional to the square root of P(y | x)."""


def predict_prior(ensemble, class_weights, C):
    """Return an ensemble without columns that predicts the shares of the classes; warn.

    Parameters
    ----------
    ensemble : Ensemble without rounds
    class_weights : ndarray of shape (n_classes,), float64
        Total weight of the examples of each class.
    C : float
        The value at which no column paid.

    Returns
    -------
    Ensemble
        Its offsets are the constant scores of least loss, half the logarithms of the shares: for
        constant scores b the loss is the sum over c != a of share_a exp(b_c - b_a), and there its
        gradient vanishes.
    """
    warn_caller(
        f"no weak learner lowers the objective at C={C!r}: the model predicts the shares of the "
        "classes, whatever the features; raise C"
    )
    scores = np.log(class_weights / class_weights.sum()) / LOSS_SCALE
    return replace(ensemble, offsets=scores[np.newaxis])


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
