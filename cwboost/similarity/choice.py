"""The choice of a scale of the features, a width of the kernel and a penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from operator import itemgetter

import numpy as np
from scipy.special import log_softmax

from cwboost.similarity.codes import FeatureCodes, of_every_class
from cwboost.similarity.likeness import Landmarks, likeness, mean_distance
from cwboost.similarity.regression import regress_on_all, stratified_groups

__all__ = ["Setting", "choose", "log_losses"]

NARROWNESS = (0.25, 1.0, 4.0)
"""Half the mean squared distance over these are the first widths that are tried."""

PENALTY, OTHER_PENALTIES = 0.1, (0.01, 1.0)
"""The penalty tried first, and those tried last."""

SHARPNESS = tuple(2.0 ** (k / 2) for k in range(12))
"""Factors of the scores in the softmax; the best one is taken for each setting."""


@dataclass(frozen=True)
class Setting:
    """What a regression needs besides the examples."""

    codes: FeatureCodes
    width: float
    penalty: float


def choose(X, Y, y, weight, n_threads: int = 1) -> Setting | None:
    """Return the setting of the lowest log loss of examples left out.

    First the scale of the features and the width, of three, with penalty 0.1; then half and twice
    this width; then the penalties 0.01 and 1.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        A sample of the examples.
    Y : ndarray of shape (n, n_scores), dtype float64
        Targets, +1 and -1.
    y : ndarray of shape (n,), int
        Class indices, ascending.
    weight : ndarray of shape (n,), dtype float64
    n_threads : int, default=1

    Returns
    -------
    Setting or None
        None if the examples do not differ.
    """
    groups, distances = stratified_groups(y), {}

    def settings(codes: FeatureCodes) -> list[Setting]:
        """Return the settings of the first widths."""
        rows = codes(X)
        distances[codes] = apart = Landmarks(rows).distances(rows)
        mean = mean_distance(apart)
        return [Setting(codes, mean / (2 * ratio), PENALTY) for ratio in NARROWNESS if mean > 0]

    def loss(setting: Setting) -> float:
        alike = likeness(distances[setting.codes], setting.width)
        left_out = regress_on_all(alike, Y, weight, setting.penalty, groups, n_threads)[1]
        return float(log_losses(left_out, y, weight).sum())

    def improved(best, others):
        """Return the best setting so far or one of the others, with its loss."""
        return min([best, *((setting, loss(setting)) for setting in others)], key=itemgetter(1))

    first = [*settings(FeatureCodes.standardised(X)), *settings(FeatureCodes.plain(X))]
    if not first:
        return None
    best = improved((first[0], loss(first[0])), first[1:])
    best = improved(best, [replace(best[0], width=f * best[0].width) for f in (0.5, 2.0)])
    best = improved(best, [replace(best[0], penalty=penalty) for penalty in OTHER_PENALTIES])
    return best[0]


def log_losses(scores, y, weight) -> np.ndarray:
    """Return the weighted log loss of each example, (n,), with the best factor of the scores.

    The sum of the losses is a convex function of the factor, so that halving finds its minimum
    among `SHARPNESS`.
    """
    scores = of_every_class(scores)
    every = np.arange(len(y))

    @cache
    def losses(k: int) -> tuple[np.ndarray, float]:
        found = -log_softmax(SHARPNESS[k] * scores, axis=1)[every, y] * weight
        return found, float(found.sum())

    low, high = 0, len(SHARPNESS) - 1
    while low < high:
        middle = (low + high) // 2
        if losses(middle)[1] <= losses(middle + 1)[1]:
            high = middle
        else:
            low = middle + 1
    return losses(low)[0]
