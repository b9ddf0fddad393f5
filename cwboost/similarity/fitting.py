"""The fit of scores of similarity: choose a setting, weigh the features, choose landmarks, regress.

First regressions on 500 landmarks tell what to choose. They are followed by one in which all
examples are landmarks, or if there are more than 2,000, those that the first one found worth it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cwboost.similarity.choice import Setting, choose, log_losses
from cwboost.similarity.codes import FeatureCodes
from cwboost.similarity.equal import first_of_equals, mean_of_equals
from cwboost.similarity.likeness import LandmarkLikeness, Landmarks, mean_distance
from cwboost.similarity.regression import (
    WEIGHT_UNIT,
    LandmarkRegression,
    regress_on_all,
    stratified_groups,
    targets,
)
from cwboost.similarity.relevance import is_better, relevance, squared_slopes
from cwboost.similarity.selection import evenly_spaced, select

__all__ = ["ENTRIES", "FEW", "MORE_LANDMARKS", "MOST", "Examples", "Regression", "fitted"]

FEW = 2000
"""Up to this number of examples, all are landmarks; means are those of as many."""

MOST = 2**14
"""Largest number of examples that the regression takes."""

FIRST = 500
"""Largest number of landmarks of the first regressions."""

FEWEST_WEIGHED = 500
"""Least number of examples whose slopes weigh the features: those of fewer are chance."""

SLOPES, FEWEST_POINTS = 2**23, 64
"""Largest number of slopes that weigh features, at as few landmarks as the second number if need
be: a slope is a sum over all landmarks."""

LANDMARKS, MORE_LANDMARKS = 1000, 2000
"""Least and largest number of landmarks with more examples; the second with as many as the
regression takes, or more."""

LANDMARKS_PER_ROOT = 80.0
"""Number of landmarks over the root of features times scores, between these limits: the time of the
regression then grows as that of the rounds."""

SAMPLE = 500
"""Number of examples on which width, penalty and scale of the features are chosen."""

FACTORS = (1.0, 0.1)
"""Factors of the penalty, of which the one of lower log loss is taken: it was chosen on a sample,
and the more examples there are, the less of it is needed."""

ENTRIES = 2**19
"""Number of likenesses computed at a time, which bounds the memory."""

KEPT = 31 * 2**20
"""Bytes of an array that is made and freed before all others, without being touched. The GNU C
library then keeps freed memory for arrays of up to this size, the largest that it allows. Else the
first fit of a process gets all memory anew for each step, which takes a tenth of its time."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Training examples of a regression.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Finite.
    y : ndarray of shape (n,), int
        Class indices, ascending.
    n_scores : int
    weight : ndarray of shape (n,), dtype float64, > 0
        Kept in whole units of 2**-10 of the largest one, at least one of them.
    n_threads : int
    """

    X: np.ndarray
    y: np.ndarray
    n_scores: int
    weight: np.ndarray
    n_threads: int

    def __post_init__(self):
        whole = np.rint(self.weight * (WEIGHT_UNIT / self.weight.max()))
        object.__setattr__(self, "weight", np.maximum(whole, 1.0))
        object.__setattr__(self, "Y", targets(self.y, self.n_scores))

    def __len__(self):
        return len(self.y)


@dataclass(frozen=True, eq=False)
class Regression:
    """A regression on the likenesses to landmarks.

    Parameters
    ----------
    setting : Setting
    codes : ndarray of shape (n, n_features), dtype int8
        Of all examples.
    at : ndarray of shape (n_landmarks,), int
        Indices of the landmarks, ascending.
    coefficients : ndarray of shape (n_landmarks, n_scores), dtype float64
    left_out : ndarray of shape (n, n_scores), dtype float64
        Scores without the example's label.
    """

    setting: Setting
    codes: np.ndarray
    at: np.ndarray
    coefficients: np.ndarray
    left_out: np.ndarray


def fitted(examples: Examples, is_worth=None) -> Regression | None:
    """Return the regression of the setting that predicts examples left out best.

    Equal examples have the mean of the scores that leave them out. None if the examples do not
    differ, or if `is_worth` is given and returns False for the log losses, (n,), of the examples in
    a first regression; of fewer than 500 examples, none is made.
    """
    np.empty(KEPT, dtype=np.uint8)  # freed at once
    sample = evenly_spaced(len(examples), SAMPLE)
    X, y, weight = (array[sample] for array in (examples.X, examples.y, examples.weight))
    setting = choose(X, examples.Y[sample], y, weight, examples.n_threads)
    if setting is None:
        return None
    if len(examples) < FEWEST_WEIGHED:
        found = _on_all(examples, setting)
    else:
        first, losses = _best_first(examples, setting, X)
        if is_worth is not None and not is_worth(losses / examples.weight):
            return None
        is_small = len(examples) <= FEW
        found = _on_all(examples, first.setting) if is_small else _on_selected(examples, first)
    return replace(found, left_out=mean_of_equals(found.left_out, found.codes, examples.weight))


def _best_first(examples: Examples, setting: Setting, X) -> tuple[Regression, np.ndarray]:
    """Return the first regression of a setting, or of features weighed by it if that is better.

    Return its losses as well. The rows of X are a sample, in which distances are measured.
    """
    first, before = _first(examples, setting, FACTORS if len(examples) > FEW else (1.0,))
    weighed = _weighed(first, X)
    if weighed is None:
        return first, before
    other, after = _first(examples, weighed)
    return (other, after) if is_better(after, before) else (first, before)


def _first(examples: Examples, setting: Setting, factors=(1.0,)) -> tuple[Regression, np.ndarray]:
    """Return the first regression of a setting, with the best of its penalties, and its losses."""
    codes = _int8_codes(setting.codes, examples.X)
    Y, weight, n_threads = examples.Y, examples.weight, examples.n_threads
    candidates = first_of_equals(codes)
    at = candidates[evenly_spaced(len(candidates), FIRST)]
    alike = _alike(codes, at, setting.width)
    regress = LandmarkRegression(alike, at, Y, weight, n_threads)
    settings = [replace(setting, penalty=factor * setting.penalty) for factor in factors]
    tried = [Regression(s, codes, at, *regress(s.penalty)) for s in settings]
    losses = [log_losses(r.left_out, examples.y, weight) for r in tried]
    return min(zip(tried, losses), key=lambda found: found[1].sum())


def _weighed(first: Regression, X) -> Setting | None:
    """Return the setting whose features are weighed by their relevance in a regression.

    Its width has the same ratio to the mean distance of the rows of X. None if nothing is relevant.
    """
    setting, landmarks = first.setting, first.codes[first.at]
    n_points = max(SLOPES // (X.shape[1] * first.coefficients.shape[1]), FEWEST_POINTS)
    points = landmarks[evenly_spaced(len(landmarks), n_points)]
    slopes = squared_slopes(points, landmarks, setting.width, first.coefficients)
    standardised = FeatureCodes.standardised(X)
    factors = relevance(slopes, setting.codes, standardised)
    if factors is None:
        return None
    codes = standardised.weighed(factors)
    before, after = (_mean_distance(of(X)) for of in (setting.codes, codes))
    if not after > 0.0:
        return None
    return replace(setting, codes=codes, width=setting.width * (after / before))


def _on_all(examples: Examples, setting: Setting) -> Regression:
    """Return the regression on the likeness to all examples."""
    codes, at = _int8_codes(setting.codes, examples.X), np.arange(len(examples))
    alike, groups = _alike(codes, at, setting.width)(at), stratified_groups(examples.y)
    given = examples.Y, examples.weight, setting.penalty, groups, examples.n_threads
    return Regression(setting, codes, at, *regress_on_all(alike, *given))


def _on_selected(examples: Examples, first: Regression) -> Regression:
    """Return the regression on landmarks chosen by the `first` one, of the same setting."""
    codes, setting, Y, weight = first.codes, first.setting, examples.Y, examples.weight
    n_landmarks = _n_landmarks(len(examples), codes.shape[1], examples.n_scores)
    at = select(first_of_equals(codes), first.left_out, examples.y, weight, n_landmarks)
    alike = _alike(codes, at, setting.width)
    regress = LandmarkRegression(alike, at, Y, weight, examples.n_threads)
    return Regression(setting, codes, at, *regress(setting.penalty))


def _n_landmarks(n: int, n_features: int, n_scores: int) -> int:
    """Return the number of landmarks for n examples, more than `FEW`, of the regression."""
    if n == MOST:
        return MORE_LANDMARKS
    affordable = round(LANDMARKS_PER_ROOT * np.sqrt(n_features * n_scores))
    return min(max(LANDMARKS, affordable), MORE_LANDMARKS)


def _alike(codes, at, width: float):
    """Return a function from rows of the codes to their likenesses to some; see its class."""
    alike = LandmarkLikeness(Landmarks(codes[at].astype(np.float32)), width)
    return lambda rows: alike(codes[rows].astype(np.float32))


def _mean_distance(codes) -> float:
    return mean_distance(Landmarks(codes).distances(codes))


def _int8_codes(codes: FeatureCodes, X) -> np.ndarray:
    """Return the codes of X as int8, without those of all rows in a larger type."""
    found = np.empty(X.shape, dtype=np.int8)
    step = max(1, ENTRIES // X.shape[1])
    for start in range(0, len(X), step):
        found[start : start + step] = codes(X[start : start + step])
    return found
