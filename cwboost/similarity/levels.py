"""Scores as one of 256 levels, so that they fit a matrix of uint8."""

from __future__ import annotations

import numpy as np

__all__ = ["HIGHEST_LEVEL", "LEVELS_PER_UNIT", "LOWEST", "as_levels"]

LOWEST, LEVELS_PER_UNIT, HIGHEST_LEVEL = -1.5, 85.0, 255.0
"""Levels go from -1.5 to 1.5. Scores of -1 and 1 mean that the class is certain."""


def as_levels(scores) -> np.ndarray:
    """Return scores as levels from 0 to 255, dtype uint8."""
    levels = np.rint((scores - LOWEST) * LEVELS_PER_UNIT)
    return np.clip(levels, 0, HIGHEST_LEVEL, out=levels).astype(np.uint8)
