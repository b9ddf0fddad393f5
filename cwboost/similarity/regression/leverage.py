"""How much of its own label the score of an example has, in a regression on landmarks.

It is the example's weight times ``p' inv(A) p = |B p|**2``, with p its likenesses to the landmarks
and ``inv(A) = B' B``. For many examples and landmarks the products B p would take a third of the
time of the scores, so the squares are estimated: with signs s drawn at random, the mean of
``(s' B p)**2`` is ``|B p|**2`` (Johnson and Lindenstrauss 1984; Achlioptas 2003). 64 vectors of
signs give it within 18% (its standard deviation).

A landmark has a coefficient of its own, which other examples do not have: without its label alone,
its score would be unlike those of new examples. So it is left out as a landmark too, with its
coefficient held at zero: the part of B p along ``B e_i`` then counts in neither score nor share.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dtrmm

from cwboost.kernels import seeded_directions
from cwboost.similarity.likeness import UNIT
from cwboost.similarity.regression.factor import product

__all__ = ["SIGNS", "Squares"]

SIGNS = 64
"""Number of vectors of signs. Up to this number of landmarks, all squares are exact."""

ROOT_UNIT = 2.0**19
"""Unit of the entries of B, whose rows are shorter than ``(penalty jitter)**-0.5 <= 2**10``:
products with 2,000 likenesses stay below 2**(10 + 5.5 + 19 + 17) < 2**52 in whole units."""

SUM_UNIT = 2.0**13
"""Unit of the entries of s' B, whose rows are shorter than 2**(10 + 5.5)."""


class Squares:
    """Squares ``|B p|**2`` of examples, from their likenesses p to the landmarks.

    Parameters
    ----------
    B : ndarray of shape (n_landmarks, n_landmarks), dtype float64
        Lower triangular.
    n_threads : int, default=1
    """

    def __init__(self, B, n_threads: int = 1):
        m = len(B)
        self._root = np.asfortranarray(np.rint(B * ROOT_UNIT))
        self._sums = None
        if m > SIGNS:
            seeds = np.arange(SIGNS, dtype=np.uint64)
            signs = seeded_directions(seeds, np.ones(SIGNS), np.ones(m)).T
            self._sums = np.rint(product(signs, B, n_threads) * SUM_UNIT)

    def exact(self, alike) -> np.ndarray:
        """Return the squares of examples, (n,), from likenesses (n, n_landmarks), float64."""
        return np.square(self._spread(alike)).sum(axis=0)

    def of_landmarks(self, alike) -> tuple[np.ndarray, np.ndarray]:
        """Return what remains of the squares of the landmarks, and how much each pulls itself.

        Parameters
        ----------
        alike : ndarray of shape (n_landmarks, n_landmarks), dtype float64
            Likenesses of the landmarks to each other.

        Returns
        -------
        squares : ndarray of shape (n_landmarks,), dtype float64
            ``|B p|**2`` without the part of B p along ``B e_i``.
        pulls : ndarray of shape (n_landmarks,), dtype float64
            This part over ``B e_i``: times its own coefficient, what its score has of it.
        """
        spread, own = self._spread(alike), self._root / ROOT_UNIT
        lengths = np.square(own).sum(axis=0)
        pulls = (spread * own).sum(axis=0) / lengths
        return np.square(spread - pulls * own).sum(axis=0), pulls

    def _spread(self, alike) -> np.ndarray:
        """Return B p of each example: sums of integers below 2**53."""
        return dtrmm(1.0 / (ROOT_UNIT * UNIT), self._root, alike.T, lower=True)

    def __call__(self, alike) -> np.ndarray:
        """Return the squares of examples, estimated if there are many landmarks."""
        if self._sums is None:
            return self.exact(alike)
        spread = (self._sums @ alike.T) / (SUM_UNIT * UNIT)
        return np.square(spread).sum(axis=0) / SIGNS
