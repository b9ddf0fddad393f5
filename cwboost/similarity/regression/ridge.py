"""Ridge regression on likenesses, and what it says of each example without the example's label.

Targets are +1 for the class and -1 for the others. The scores of an example left out have closed
forms, so that no regression is repeated. Sums over examples are exact: likenesses and weights are
integers in small units.
"""

from __future__ import annotations

from math import fsum

import numpy as np

from cwboost.similarity.likeness import UNIT
from cwboost.similarity.regression.factor import inverse_factor, product
from cwboost.similarity.regression.groups import without_groups
from cwboost.similarity.regression.leverage import Squares

__all__ = ["WEIGHT_UNIT", "Coefficients", "LandmarkRegression", "regress_on_all", "targets"]

WEIGHT_UNIT = 2.0**10
"""Weight 1, that of the heaviest example, in the units in which weights are kept."""

JITTER = 2.0**-10
"""Added to the diagonal of the landmarks' likenesses, in units of likeness 1: more than rounding
can take from the least eigenvalue."""

MOST_LEVERAGE = 0.95
"""Limit of the share of its own label in the score of an example, which may be an estimate."""

CHUNK, WEIGHTED_CHUNK = 1024, 512
"""Number of examples whose sums are formed at a time; of weighted ones, so that sums of products of
two likenesses and a weight do not exceed 2**(17 + 17 + 10 + 9) = 2**53."""


def targets(y, n_scores: int) -> np.ndarray:
    """Return +1 and -1, (n, n_scores), for class indices; the last class has no score if K = 2."""
    return np.where(y[:, None] == np.arange(n_scores), 1.0, -1.0)


class Coefficients:
    """Coefficients rounded so that products with likenesses are exact.

    Parameters
    ----------
    values : ndarray of shape (n_landmarks, n_scores), dtype float64
    """

    def __init__(self, values):
        self.values = values
        # Of a score, terms in whole units then sum up to less than 2**53, whatever their signs.
        # The sums are correctly rounded, whatever the order of the values in memory.
        largest = max(fsum(column) for column in np.abs(values).T)
        bits = 52 - int(np.log2(UNIT))
        self.unit = 2.0 ** (int(np.frexp(largest)[1]) - bits) if largest > 0 else 1.0
        self.whole = np.rint(values / self.unit)
        self._by_score = np.ascontiguousarray(self.whole.T)

    def scores(self, alike) -> np.ndarray:
        """Return scores, (n, n_scores), of likenesses (n, n_landmarks), float64, in whole units."""
        # Few rows of a product take less time than few columns.
        by_score = self._by_score @ alike.T
        return by_score.T * (self.unit / UNIT)


def regress_on_all(alike, Y, weight, penalty: float, groups, n_threads: int = 1):
    """Regress on the likenesses to all examples: kernel ridge regression.

    With ``A = K + penalty diag(1 / w)``, the coefficients are ``a = inv(A) Y``; the scores of a
    group S of examples without their labels are ``Y_S - inv(inv(A)_SS) a_S``.

    Parameters
    ----------
    alike : ndarray of shape (n, n), dtype float64
        In whole units.
    Y : ndarray of shape (n, n_scores), dtype float64
    weight : ndarray of shape (n,), dtype float64
        In whole units.
    penalty : float, at least 0.01
    groups : ndarray of shape (n_groups, size), int
        See `cwboost.similarity.regression.groups.stratified_groups`.
    n_threads : int, default=1

    Returns
    -------
    coefficients : ndarray of shape (n, n_scores), dtype float64
    left_out : ndarray of shape (n, n_scores), dtype float64
    """
    A = alike / UNIT
    A[np.diag_indices(len(A))] += penalty * WEIGHT_UNIT / weight
    B = inverse_factor(A, n_threads)
    found = product(B.T, product(B, Y, n_threads), n_threads)
    left_out = np.empty_like(Y)
    left_out[groups[groups >= 0]] = (Y[groups] - without_groups(B, found, groups))[groups >= 0]
    return found, left_out


class LandmarkRegression:
    """Regression on the likenesses to some of the examples, for any penalty.

    With P the likenesses, K those of the landmarks to each other and ``A = P' W P + penalty (K +
    jitter I)``, the coefficients are ``inv(A) P' W Y``. Of the score f of an example,
    ``(f - h y) / (1 - h)`` is left without its label, with ``h = w p' inv(A) p``; see
    `cwboost.similarity.regression.leverage`, also for landmarks, which are left out as landmarks
    too.

    Parameters
    ----------
    alike : callable
        Returns the likenesses of some of the examples, given as a slice or by their indices,
        (n_rows, n_landmarks), in whole units, in memory that the next call may reuse. It is called
        again for each penalty, since the likenesses of all examples take much memory.
    at : ndarray of shape (n_landmarks,), int
        Indices of the landmarks among the examples, ascending.
    Y, weight, n_threads
        As in `regress_on_all`.
    """

    def __init__(self, alike, at, Y, weight, n_threads: int = 1):
        self._alike, self._at, self._n_threads = alike, at, n_threads
        self._Y, self._weight = Y, weight
        self._products, self._moments = _normal_equations(alike, Y, weight)
        self._of_landmarks = alike(at).copy()

    def __call__(self, penalty: float) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients, (n_landmarks, n_scores), and scores of examples left out."""
        A = self._of_landmarks / UNIT
        A[np.diag_indices(len(A))] += JITTER
        A *= penalty
        A += self._products
        B = inverse_factor(A, self._n_threads)
        found = product(B.T, product(B, self._moments, self._n_threads), self._n_threads)
        return found, self._left_out(Coefficients(found), Squares(B, self._n_threads))

    def _left_out(self, coefficients: Coefficients, squares: Squares) -> np.ndarray:
        left_out = np.empty_like(self._Y)
        for rows in _chunks(len(self._Y)):
            part = self._alike(rows)
            scores = coefficients.scores(part)
            left_out[rows] = self._without_label(scores, squares(part), rows)
        at, alike = self._at, self._of_landmarks
        square, pull = squares.of_landmarks(alike)
        scores = coefficients.scores(alike) - pull[:, None] * coefficients.values
        left_out[at] = self._without_label(scores, square, at)
        return left_out

    def _without_label(self, scores, square, rows) -> np.ndarray:
        share = np.minimum(square * (self._weight[rows] / WEIGHT_UNIT), MOST_LEVERAGE)[:, None]
        return (scores - share * self._Y[rows]) / (1.0 - share)


def _normal_equations(alike, Y, weight) -> tuple[np.ndarray, np.ndarray]:
    """Return ``P' W P`` and ``P' W Y``; sums of integers over a slice, hence exact."""
    A = moments = 0.0
    all_alike = (weight == weight[0]).all()
    for rows in _chunks(len(Y), CHUNK if all_alike else WEIGHTED_CHUNK):
        part = alike(rows)
        weighted = part if all_alike else part * weight[rows, None]
        # BLAS does half of the work if both factors are one array.
        A += weighted.T @ part
        moments += weighted.T @ Y[rows]
    unit = (weight[0] if all_alike else 1.0) / WEIGHT_UNIT
    return A * (unit / UNIT**2), moments * (unit / UNIT)


def _chunks(n: int, size: int = CHUNK):
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
