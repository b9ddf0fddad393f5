"""How alike two examples are: a heavy-tailed kernel of their distance, in whole units of 2**-14."""

from __future__ import annotations

import numpy as np

from cwboost.similarity.codes import products, squares

__all__ = ["UNIT", "distances", "likeness", "mean_distance"]

UNIT = 2.0**14
"""Likeness 1 in the units in which it is kept, so that sums of products are exact."""

TAIL = 4.0
"""Exponent of the kernel; it approaches a Gaussian as this grows."""


def distances(codes, landmarks, of_landmarks=None) -> np.ndarray:
    """Return the squared distances of rows of codes from the landmarks, (n, m), float32.

    `of_landmarks` are the `squares` of the landmarks, if the caller has them. Every step is a
    single operation of the floating-point standard on exact integers, so that the bits do not
    depend on the processor.
    """
    found = products(codes, landmarks)
    found *= -2
    found += squares(codes).astype(found.dtype)[:, None]
    found += (squares(landmarks) if of_landmarks is None else of_landmarks).astype(found.dtype)
    return np.maximum(found, 0).astype(np.float32, copy=False)


def mean_distance(squared) -> float:
    """Return the mean of squared distances."""
    return float(squared.mean(dtype=np.float64))


def likeness(squared, width: float) -> np.ndarray:
    """Return ``(1 + d / (4 width))**-4`` of squared distances d in whole units, float32.

    `squared`, float32, is overwritten.
    """
    squared *= np.float32(1.0 / (TAIL * width))
    squared += np.float32(1.0)
    squared *= squared
    squared *= squared
    np.divide(np.float32(UNIT), squared, out=squared)
    return np.rint(squared, out=squared)
