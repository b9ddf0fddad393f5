"""Samples of examples that are sorted by class."""

import numpy as np


def evenly_spaced(n: int, most: int) -> np.ndarray:
    """Return up to `most` evenly spaced places below `n`: every class has its share of them."""
    kept = min(n, most)
    return np.arange(kept) * n // max(kept, 1)


def spaced_by_weight(weight: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return up to `most` ascending places of examples, and the weight that each stands for.

    Few examples stand for themselves. Of more, the places are evenly spaced by weight, and an
    example of much weight is there several times.
    """
    if len(weight) <= most:
        return np.arange(len(weight)), weight
    ends = np.cumsum(weight)
    places = np.searchsorted(ends, np.arange(most) * (ends[-1] / most), side="right")
    return np.minimum(places, len(weight) - 1), np.ones(most)
