"""Prediction sets: which classes may be right, with a stated probability of missing the right one.

Split conformal prediction (Vovk, Gammerman and Shafer 2005; Sadinle, Lei and Wasserman 2019): an
example conforms by the probability of its own class. Of n examples that the model was
not trained on, let t be the k-th smallest such probability, k = floor(alpha (n + 1)). A new example
of the same distribution has its own class above or at t with probability at least 1 - alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import numpy as np

from cwboost.kernels import softmax
from cwboost.support.samples import evenly_spaced

__all__ = ["Conformity"]

MOST_KEPT = 5_000
"""Largest number of examples kept: with this number, coverage is within .01 of what is wanted."""


@dataclass(frozen=True, eq=False)
class Conformity:
    """Calibration scores for prediction sets.

    Parameters
    ----------
    label : ndarray of shape (n,), dtype int64
        Their class indices.
    probability : ndarray of shape (n,), dtype float64
        The probability that the model gives to each one's own class.
    """

    label: np.ndarray
    probability: np.ndarray

    @classmethod
    def of(cls, logits, y) -> Conformity:
        """Compute from held-out logits, (n, n_classes), and labels."""
        kept = evenly_spaced(len(y), MOST_KEPT)
        label = np.asarray(y)[kept].astype(np.int64)
        return cls(label, softmax(logits[kept])[np.arange(len(kept)), label])

    def check(self, n_classes: int) -> None:
        """Raise ValueError unless the arrays, which may come from a file, are such."""
        n = len(self.label)
        if (self.label.dtype, self.label.shape) != (np.int64, (n,)) or not 0 < n <= MOST_KEPT:
            raise ValueError("conformity: label must be an array of 1 to 5000 int64")
        if (self.probability.dtype, self.probability.shape) != (np.float64, (n,)):
            raise ValueError("conformity: probability must be float64, one per label")
        if not (self.label.min() >= 0 and self.label.max() < n_classes):
            raise ValueError(f"conformity: label must lie in [0, {n_classes})")
        if not ((self.probability >= 0) & (self.probability <= 1)).all():
            raise ValueError("conformity: probability must lie in [0, 1]")

    def thresholds(self, alpha: float, n_classes: int, by_class: bool) -> np.ndarray:
        """Return the least probability with which each class is in a set, (n_classes,).

        A class without examples left out, or with too few for `alpha`, is in every set.
        """
        if not by_class:
            return np.full(n_classes, _order_statistic(self.probability, alpha))
        own = [self.probability[self.label == c] for c in range(n_classes)]
        return np.array([_order_statistic(values, alpha) for values in own])


def _order_statistic(values, alpha: float) -> float:
    k = floor(alpha * (len(values) + 1))
    # Of all the last one is infinite: nothing is in a set that may lack the class always.
    return float(np.partition(np.append(values, np.inf), k - 1)[k - 1]) if k > 0 else 0.0
