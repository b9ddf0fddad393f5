"""Features and scores as small integers.

Products of codes of features are exact in single precision, in any order. Scores are one of 256
levels, so that they fit a matrix of uint8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cwboost._kernels.similarity.codes import fill_codes
from cwboost.kernels.matrices import readable

__all__ = [
    "BLOCK",
    "HIGHEST_LEVEL",
    "LARGEST",
    "LEVELS_PER_UNIT",
    "LOWEST",
    "FeatureCodes",
    "as_levels",
    "class_scores",
    "of_every_class",
    "products",
    "squares",
]

LARGEST = 127
"""Codes lie in [-127, 127]."""

PER_DEVIATION = 16.0
"""Codes per standard deviation; beyond eight deviations they are cut off."""

BLOCK = 1024
"""Number of features whose products are summed in single precision: up to 2**24, hence exactly."""

LOWEST, LEVELS_PER_UNIT, HIGHEST_LEVEL = -1.5, 85.0, 255.0
"""Levels go from -1.5 to 1.5. Scores of -1 and 1 mean that the class is certain."""


@dataclass(frozen=True, eq=False)
class FeatureCodes:
    """The map of a row of features to a row of integers.

    Parameters
    ----------
    centre : ndarray of shape (n_features,), dtype float64
    scale : ndarray of shape (n_features,), dtype float64
        Codes per unit of the feature; 0 for a feature that does not count.
    """

    centre: np.ndarray
    scale: np.ndarray

    @classmethod
    def standardised(cls, X) -> FeatureCodes:
        """Return codes of features in units of their standard deviations."""
        centre, deviation = _moments(X)
        return cls(*_rounded(centre, _over(PER_DEVIATION, deviation)))

    @classmethod
    def plain(cls, X) -> FeatureCodes:
        """Return codes of features in one common unit, that of the widest one."""
        centre, deviation = _moments(X)
        with np.errstate(over="ignore", invalid="ignore"):
            farthest = np.abs(X - centre).max(axis=0)
        counts = (deviation > 0) & np.isfinite(farthest)
        widest = farthest[counts].max(initial=0.0)
        scale = np.where(counts, _over(LARGEST, np.array(widest)), 0.0)
        return cls(*_rounded(centre, scale))

    def weighed(self, factors) -> FeatureCodes:
        """Return codes that are `factors` times as large, (n_features,), not negative."""
        return FeatureCodes(*_rounded(self.centre, self.scale * factors))

    def __call__(self, X) -> np.ndarray:
        """Return the codes of the rows of X, (n, n_features), dtype float32."""
        codes = np.empty(X.shape, dtype=np.float32)
        # NaN, of an infinite value of a feature that does not count, becomes 0.
        fill_codes(readable(X), self.centre, self.scale, LARGEST, codes)
        return codes


def products(one, other) -> np.ndarray:
    """Return the inner products of rows of codes, (n, m): exact, hence in any order the same."""
    if one.shape[1] <= BLOCK:
        return one @ other.T
    total = np.zeros((len(one), len(other)))
    for start in range(0, one.shape[1], BLOCK):
        part = slice(start, start + BLOCK)
        total += one[:, part] @ other[:, part].T
    return total


def squares(codes) -> np.ndarray:
    """Return the sums of squares of rows of codes, (n,)."""
    return np.einsum("ij,ij->i", codes, codes, dtype=np.float64)


def _moments(X) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each feature; of those that overflow, zeros."""
    rows = np.ascontiguousarray(X, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = rows.mean(axis=0)
        deviation = rows.std(axis=0)
    known = np.isfinite(mean) & np.isfinite(deviation)
    return np.where(known, mean, 0.0), np.where(known, deviation, 0.0)


def _over(number, array) -> np.ndarray:
    """Return number / array, 0 where that overflows."""
    with np.errstate(over="ignore", divide="ignore"):
        found = number / array
    return np.where(np.isfinite(found), found, 0.0)


def _rounded(centre, scale) -> tuple[np.ndarray, np.ndarray]:
    """Round the scale to 12 bits and the centre to whole codes.

    Their bits are then the same however the moments were summed.
    """
    fraction, exponent = np.frexp(scale)
    scale = np.ldexp(np.rint(np.ldexp(fraction, 12)), exponent - 12)
    with np.errstate(over="ignore"):
        whole = np.rint(centre * scale)
    scale = np.where(np.isfinite(whole), scale, 0.0)
    return np.where(scale > 0, whole / np.where(scale > 0, scale, 1), centre), scale


def class_scores(levels) -> np.ndarray:
    """Return a score of each class, float64, from levels."""
    return of_every_class(np.asarray(levels, dtype=np.float64) / LEVELS_PER_UNIT + LOWEST)


def of_every_class(scores) -> np.ndarray:
    """Return a score of each class; the second of two has minus the first."""
    return np.hstack([scores, -scores]) if scores.shape[1] == 1 else scores


def as_levels(scores) -> np.ndarray:
    """Return scores as levels from 0 to 255, dtype uint8."""
    levels = np.rint((scores - LOWEST) * LEVELS_PER_UNIT)
    return np.clip(levels, 0, HIGHEST_LEVEL, out=levels).astype(np.uint8)
