"""The choice of a scale of the features, a width of the kernel and a penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np
from scipy.special import log_softmax

from cwboost.similarity.codes import FeatureCodes, of_every_class
from cwboost.similarity.groups import stratified_groups
from cwboost.similarity.likeness import Landmarks, likeness, mean_distance
from cwboost.similarity.regression import regress_on_all

__all__ = ["Setting", "choose", "log_loss"]

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
    squared, first = [], []
    for codes in (FeatureCodes.standardised(X), FeatureCodes.plain(X)):
        rows = codes(X)
        apart = Landmarks(rows).distances(rows)
        mean = mean_distance(apart)
        if mean > 0:
            squared.append((codes, apart))
            first += [Setting(codes, mean / (2 * ratio), PENALTY) for ratio in NARROWNESS]
    if not first:
        return None
    groups = stratified_groups(y)

    def loss(setting: Setting) -> float:
        apart = next(apart for codes, apart in squared if codes is setting.codes)
        alike = likeness(apart, setting.width)
        left_out = regress_on_all(alike, Y, weight, setting.penalty, groups, n_threads)[1]
        return log_loss(left_out, y, weight)

    best = min(((setting, loss(setting)) for setting in first), key=itemgetter(1))
    wider = [replace(best[0], width=factor * best[0].width) for factor in (0.5, 2.0)]
    best = min([best, *((setting, loss(setting)) for setting in wider)], key=itemgetter(1))
    firmer = [replace(best[0], penalty=penalty) for penalty in OTHER_PENALTIES]
    return min([best, *((setting, loss(setting)) for setting in firmer)], key=itemgetter(1))[0]


def log_loss(scores, y, weight) -> float:
    """Return the least log loss over factors of the scores, times the sum of the weights."""
    scores = of_every_class(scores)
    every = np.arange(len(y))
    return min(
        -float(np.dot(log_softmax(factor * scores, axis=1)[every, y], weight))
        for factor in SHARPNESS
    )
