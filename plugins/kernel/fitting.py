"""The fit: choose a setting, weigh the features, choose landmarks, regress.

Features are weighted, since a kernel that counts all alike is misled by useless ones: by the mutual
information of each with the class, see `relevance`, or by how much the scores f of a
first regression depend on it, the root of their mean squared slope,

    r_j = (mean over landmarks x of  sum over scores of (df / dx_j)**2)**(1/2),

in units of its standard deviation. Features scaled by r_j are one step of the recursion of
Radhakrishnan, Beaglehole, Pandit and Belkin (Science 383, 2024), with the diagonal of their matrix.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from cwboost.plugins.kernel.codes import FeatureCodes
from cwboost.plugins.kernel.expansion import Expansion
from cwboost.plugins.kernel.kernel_values import TAIL, KernelValues, Landmarks, kernel_values
from cwboost.plugins.kernel.on_codes import ENTRIES, of_every_class
from cwboost.plugins.kernel.regression import (
    WEIGHT_UNIT,
    cross_fit_on_landmarks,
    regress_on_all,
    regress_on_landmarks,
    targets,
    whole_weights,
)
from cwboost.plugins.kernel.relevance import relevance

from cwboost.kernels import log_softmax

FEW = 500
"""Number of examples on which a setting is chosen, and of landmarks of a first regression, unless
a model is to have fewer. Slopes of fewer examples are chance."""

WIDTHS, PENALTIES = (1.0, 0.25, 0.5, 2.0, 4.0), (0.1, 0.01, 1.0)
"""Widths, over half the mean squared distance, and penalties that are tried; of either, the first
one until it is chosen."""

MOST_SEEN = 2000
"""Largest number of examples by which the relevance of features is measured."""

SHARPNESS = tuple(2.0**k for k in range(6))
"""Factors of the scores in the softmax; the best one is taken for each setting."""

CLEARLY = 0.98
"""A regression of weighed features is better if its log loss is below this fraction, not merely
lower: slopes have seen the labels of the examples that are left out."""

SLOPES_AT = 256
"""Largest number of landmarks at which slopes are computed."""

PULL_BITS = 33
"""Bits of a term of a slope: products with codes then sum up to less than 2**53 over 2**13
landmarks, exactly, in any order."""

LANDMARKS_PER_ROOT = 80.0
"""Number of landmarks over the root of features times scores, between half of the largest number
and all of it: the time of the regression then grows as that of boosting."""

BEYOND = 0.25
"""Distances beyond the border of the own class, over those before it: of noisy labels, the ones
farthest beyond it are there by chance."""


@dataclass(frozen=True)
class Setting:
    """What a regression needs besides the examples."""

    codes: FeatureCodes
    width: float
    penalty: float


@dataclass(frozen=True, eq=False)
class Regression:
    """A regression: codes of all examples, int8, and indices of the landmarks, ascending.

    `of_fold` are the coefficients without each fold, if examples belong together and not all are
    landmarks.
    """

    setting: Setting
    codes: np.ndarray
    at: np.ndarray
    coefficients: np.ndarray
    left_out: np.ndarray
    of_fold: np.ndarray | None = None


class Examples:
    """Training examples: rows of X, classes (ascending), targets and weights in whole units.

    Scores leave out single examples, or whole `folds` if these are given.
    """

    def __init__(self, X, expansion: Expansion, y, n_scores: int, weight, n_threads: int, folds):
        self.X, self.expansion, self.y, self.n_threads = X, expansion, y, n_threads
        self.folds = folds
        self.Y = targets(y, n_scores)
        self.weight = whole_weights(weight)

    def __len__(self):
        return len(self.y)

    def coded(self, codes: FeatureCodes) -> np.ndarray:
        """Return the codes of all examples, (n, n_expanded), dtype int8."""
        found = np.empty((len(self), len(self.expansion)), dtype=np.int8)
        step = max(1, ENTRIES // found.shape[1])
        for start in range(0, len(found), step):
            rows = slice(start, start + step)
            found[rows] = codes(self.expansion(self.X[rows]))
        return found

    def on_all(self, setting: Setting) -> Regression:
        """Return the regression on the kernel values of all examples."""
        codes, at = self.coded(setting.codes), np.arange(len(self))
        values = KernelValues(Landmarks(codes), setting.width)(codes.astype(np.float32))
        coefficients, left_out = regress_on_all(
            values, self.Y, self.weight, setting.penalty, self.n_threads, self.folds
        )
        return Regression(setting, codes, at, coefficients, left_out)

    def on_landmarks(self, setting: Setting, codes, at) -> Regression:
        """Return the regression on the kernel values of some of the examples."""
        alike = KernelValues(Landmarks(codes[at]), setting.width)

        def values(rows):
            return alike(codes[rows].astype(np.float32))

        Y, weight, penalty = self.Y, self.weight, setting.penalty
        if self.folds is None:
            found = regress_on_landmarks(values, at, Y, weight, penalty, self.n_threads)
        else:
            found = cross_fit_on_landmarks(
                values, at, Y, weight, penalty, self.folds, self.n_threads
            )
        return Regression(setting, codes, at, *found)

    def first(self, setting: Setting, few: int) -> Regression:
        """Return the regression on a few evenly spaced landmarks."""
        codes = self.coded(setting.codes)
        at = _first_of_equals(codes)
        return self.on_landmarks(setting, codes, at[evenly_spaced(len(at), few)])


def fitted(examples: Examples, max_landmarks: int) -> Regression | None:
    """Return the regression of the setting that predicts examples left out best.

    Of more than `max_landmarks` examples, those that a first regression finds worth it are
    landmarks. None if the examples do not differ.
    """
    few = min(FEW, max_landmarks)
    at = evenly_spaced(len(examples), few)
    X = examples.expansion(examples.X[at])
    standardised = FeatureCodes.standardised(X, len(examples.expansion.numeric))
    scales = standardised, FeatureCodes.plain(X), *_relevant(examples, standardised)
    setting = choose(X, scales, examples, at)
    if setting is None:
        return None
    is_small = len(examples) <= max_landmarks
    if not is_small or len(examples) >= FEW:
        first = _best_first(examples, setting, X, standardised, few)
        setting = first.setting
    if is_small:
        return examples.on_all(setting)
    at = _selected(examples, first, max_landmarks)
    return examples.on_landmarks(setting, first.codes, at)


def _relevant(examples: Examples, standardised: FeatureCodes) -> list[FeatureCodes]:
    """Return codes whose squares have the relevance of the features as factors, if any has some."""
    at = evenly_spaced(len(examples), MOST_SEEN)
    seen = examples.expansion(examples.X[at])
    found = relevance(seen, examples.y[at], examples.weight[at])
    return [standardised.weighed(np.sqrt(found / found.max()))] if found.any() else []


def choose(X, scales, examples: Examples, at) -> Setting | None:
    """Return the setting of the lowest log loss of examples left out; None if all are equal.

    First the scale of the features, then the width, then the penalty. X are the expanded rows `at`.
    """
    Y, y, weight = examples.Y[at], examples.y[at], examples.weight[at]
    folds = None if examples.folds is None else examples.folds[at]
    settings, distances = [], {}
    for codes in scales:
        rows = codes(X)
        distances[codes] = Landmarks(rows).distances(rows)
        width = float(distances[codes].mean(dtype=np.float64)) / 2
        settings += [Setting(codes, width, PENALTIES[0])] if width > 0 else []
    if not settings:
        return None

    @cache
    def loss(setting: Setting) -> float:
        values = kernel_values(distances[setting.codes], setting.width)
        _, left_out = regress_on_all(values, Y, weight, setting.penalty, examples.n_threads, folds)
        return log_loss(left_out, y, weight)

    best = min(settings, key=loss)
    best = min([replace(best, width=factor * best.width) for factor in WIDTHS], key=loss)
    return min([replace(best, penalty=penalty) for penalty in PENALTIES], key=loss)


def log_loss(scores, y, weight) -> float:
    """Return the weighted log loss with the best factor of the scores."""
    scores, every = of_every_class(scores), np.arange(len(y))
    losses = [-(log_softmax(f * scores)[every, y] * weight).sum() for f in SHARPNESS]
    return float(min(losses))


def _best_first(examples: Examples, setting: Setting, X, standardised, few: int) -> Regression:
    """Return the first regression of a setting, or of features weighed by it if that is better."""
    first = examples.first(setting, few)
    slopes = squared_slopes(first.codes[first.at], setting.width, first.coefficients)
    counts = standardised.scale > 0
    units = setting.codes.scale[counts] / standardised.scale[counts]
    factors = np.zeros(len(counts))
    factors[counts] = np.sqrt(slopes[counts]) * units
    if not factors.any():
        return first
    codes = standardised.weighed(factors / factors.max())
    rows = setting.codes(X), codes(X)
    before, after = (Landmarks(r).distances(r).mean(dtype=np.float64) for r in rows)
    if not after > 0.0:
        return first
    width = float(setting.width * (after / before))  # in the same ratio to the mean distance
    other = examples.first(replace(setting, codes=codes, width=width), few)
    after, before = (
        log_loss(found.left_out, examples.y, examples.weight) for found in (other, first)
    )
    return other if after < CLEARLY * before else first


def squared_slopes(landmarks, width: float, coefficients) -> np.ndarray:
    """Return the squared slopes along each feature of the codes, summed, in some unit."""
    points = landmarks[evenly_spaced(len(landmarks), SLOPES_AT)].astype(np.float32)
    apart = Landmarks(landmarks).distances(points).astype(np.float64)
    points, landmarks = points.astype(np.float64), landmarks.astype(np.float64)
    grown = 1.0 + apart / (TAIL * width)
    squared = grown * grown
    falls = 1.0 / (squared * squared * grown)
    unit = np.ldexp(1.0, int(np.frexp(np.abs(coefficients).max())[1]) - PULL_BITS)
    unit = max(unit, np.finfo(np.float64).tiny)  # of denormal coefficients it would be zero
    found = np.zeros(points.shape[1])
    for column in coefficients.T:
        pull = np.rint(falls * (column / unit))
        slopes = points * pull.sum(axis=1)[:, None] - pull @ landmarks
        found += np.square(slopes).sum(axis=0)
    return found


def _selected(examples: Examples, first: Regression, max_landmarks: int) -> np.ndarray:
    """Return the indices of the landmarks that a first regression finds worth it, ascending.

    Half are evenly spaced, half lie near the border of their class, or beyond it, by the scores
    that leave them out. Landmarks there are worth about twice as many anywhere.
    """
    n_scores = examples.Y.shape[1]
    affordable = round(LANDMARKS_PER_ROOT * np.sqrt(first.codes.shape[1] * n_scores))
    n_landmarks = min(max(max_landmarks // 2, affordable), max_landmarks)
    candidates = _first_of_equals(first.codes)
    even = candidates[evenly_spaced(len(candidates), n_landmarks // 2)]
    others = np.setdiff1d(candidates, even, assume_unique=True)
    scores = of_every_class(first.left_out[others])
    own = np.arange(scores.shape[1]) == examples.y[others, None]
    lead = scores[own] - np.where(own, -np.inf, scores).max(axis=1)
    distance = np.where(lead > 0, lead, -BEYOND * lead)
    # A heavy example is as many; those that are certain, with a lead of 2, do not count.
    hardness = (examples.weight[others] / WEIGHT_UNIT) * (2.0 - distance)
    hardest = np.argsort(-hardness, kind="stable")[: n_landmarks - len(even)]
    return np.sort(np.concatenate([even, others[hardest]]))


def _first_of_equals(codes) -> np.ndarray:
    """Return the index of the first example of each kind, ascending."""
    kinds = np.ascontiguousarray(codes).view(np.dtype((np.void, codes.shape[1]))).ravel()
    return np.sort(np.unique(kinds, return_index=True)[1])


def evenly_spaced(n: int, most: int) -> np.ndarray:
    """Return up to `most` evenly spaced indices below n."""
    kept = min(n, most)
    return np.arange(kept) * n // kept
