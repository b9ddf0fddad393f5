"""Features as small integers, whose products are exact in single precision, in any order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cwboost.kernels import fill_codes, readable

LARGEST = 127
"""Codes lie in [-127, 127]."""

PER_DEVIATION = 16.0
"""Codes per standard deviation; beyond eight deviations they are cut off."""

LEAST_DEVIATION = 0.5
"""Of an indicator: a rare category is as far from the others as one that half of the examples have.
This lowers the log loss on tables with categories or gaps by 3% in the mean."""

NEGLIGIBLE = 1e-13
"""Deviations below this part of the mean are rounding errors."""


@dataclass(frozen=True, eq=False)
class FeatureCodes:
    """The map of a row of features, finite, to a row of integers."""

    centre: np.ndarray
    scale: np.ndarray  # codes per unit of a feature; 0 for one that does not count

    @classmethod
    def standardised(cls, X, n_numeric: int) -> FeatureCodes:
        """Return codes in units of standard deviations; indicators follow `n_numeric` features."""
        centre, deviation = _moments(X)
        deviation[n_numeric:] = np.maximum(deviation[n_numeric:], LEAST_DEVIATION)
        scale = np.divide(PER_DEVIATION, deviation, out=np.zeros(len(centre)), where=deviation > 0)
        return cls._rounded(centre, scale)

    @classmethod
    def plain(cls, X) -> FeatureCodes:
        """Return codes of features in one common unit, that of the widest one."""
        centre, deviation = _moments(X)
        widest = np.abs(X - centre).max(axis=0)[deviation > 0].max(initial=0.0)
        return cls._rounded(centre, np.where(deviation > 0, LARGEST / max(widest, 1e-100), 0.0))

    def weighed(self, factors) -> FeatureCodes:
        """Return codes that are `factors` times as large, (n_features,), not negative."""
        return self._rounded(self.centre, self.scale * factors)

    @classmethod
    def _rounded(cls, centre, scale) -> FeatureCodes:
        """Round the scale to 12 bits and the centre to whole codes.

        Their bits are then the same however the moments were summed.
        """
        fraction, exponent = np.frexp(scale)
        scale = np.ldexp(np.rint(np.ldexp(fraction, 12)), exponent - 12)
        return cls(np.rint(centre * scale) / np.where(scale > 0, scale, 1.0), scale)

    def __call__(self, X) -> np.ndarray:
        """Return the codes of the rows of X, (n, n_features), dtype float32."""
        codes = np.empty(X.shape, dtype=np.float32)
        fill_codes(readable(X), self.centre, self.scale, LARGEST, codes)
        return codes


def _moments(X) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each feature; 0 for a deviation that is negligible."""
    rows = np.ascontiguousarray(X, dtype=np.float64)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    return mean, np.where(deviation > np.maximum(NEGLIGIBLE * np.abs(mean), 1e-90), deviation, 0.0)
