"""How alike two examples are: a heavy-tailed kernel of their distance, in whole units of 2**-17."""

from __future__ import annotations

import numpy as np

from cwboost._kernels.similarity.likeness import fill_likeness
from cwboost.similarity.codes import products, squares

__all__ = ["TAIL", "UNIT", "LandmarkLikeness", "Landmarks", "likeness", "mean_distance"]

UNIT = 2.0**17
"""Likeness 1 in the units in which it is kept, so that sums of products are exact."""

TAIL = 4.0
"""Exponent of the kernel; it approaches a Gaussian as this grows."""

FEW_FEATURES = 256
"""Up to this number, squares and products of codes sum up to less than 2**24 in any order, so that
one product of matrices in single precision gives the distances."""


class Landmarks:
    """Examples to which distances are measured.

    Parameters
    ----------
    codes : ndarray of shape (n_landmarks, n_features), float32
        See `cwboost.similarity.codes.FeatureCodes`.
    """

    def __init__(self, codes):
        self._codes, self._squares = codes, squares(codes)
        self._extended = None
        if codes.shape[1] <= FEW_FEATURES:
            ones = np.ones(len(codes))
            columns = np.column_stack([-2.0 * codes, ones, self._squares])
            self._extended = np.ascontiguousarray(columns.T, dtype=np.float32)

    def __len__(self):
        return len(self._codes)

    def distances(self, codes, out=None) -> np.ndarray:
        """Return the squared distances of rows of codes, (n, n_landmarks), float32.

        They are written to `out`, if it is given and no further memory is needed. Every step is
        a single operation of the floating-point standard on exact integers, or a sum of integers
        that is exact, so that the bits do not depend on the processor.
        """
        if self._extended is not None:
            n, d = codes.shape
            rows = np.empty((n, d + 2), dtype=np.float32)
            rows[:, :d], rows[:, d], rows[:, d + 1] = codes, squares(codes), 1.0
            return np.matmul(rows, self._extended, out=out)
        found = products(codes, self._codes)
        found *= -2
        found += squares(codes).astype(found.dtype)[:, None]
        found += self._squares.astype(found.dtype)
        return np.maximum(found, 0).astype(np.float32, copy=False)


def mean_distance(squared) -> float:
    """Return the mean of squared distances."""
    return float(squared.mean(dtype=np.float64))


def likeness(squared, width: float, out=None) -> np.ndarray:
    """Return ``(1 + d / (4 width))**-4`` of squared distances d in whole units, float64.

    They are written to `out`, if it is given.
    """
    out = np.empty(squared.shape) if out is None else out
    fill_likeness(squared, 1.0 / (TAIL * width), UNIT, out)
    return out


class LandmarkLikeness:
    """The likeness of rows to landmarks, in memory that is kept from call to call.

    To get memory anew takes longer than to compute likenesses, and processes of Dask return what
    is freed to the system at once.

    Parameters
    ----------
    landmarks : Landmarks
    width : float
        Of the kernel.
    """

    def __init__(self, landmarks: Landmarks, width: float):
        self._landmarks, self._width = landmarks, width
        self._room = np.empty((0, 0), dtype=np.float32), np.empty((0, 0))

    def __call__(self, codes) -> np.ndarray:
        """Return it for rows of codes, float32: (n, n_landmarks); the next call overwrites it."""
        n = len(codes)
        if n > len(self._room[0]):
            shape = n, len(self._landmarks)
            self._room = np.empty(shape, dtype=np.float32), np.empty(shape)
        squared, alike = (array[:n] for array in self._room)
        return likeness(self._landmarks.distances(codes, squared), self._width, alike)
