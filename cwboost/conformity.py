"""Prediction sets: which classes may be right, with a stated probability of missing the right one.

Split conformal prediction (Vovk, Gammerman and Shafer 2005; Sadinle, Lei and Wasserman 2019): an
example conforms by the probability of its own class. Of n examples that the model was
not trained on, let t be the k-th smallest such probability, k = floor(alpha (n + 1)). A new example
of the same distribution has its own class above or at t with probability at least 1 - alpha. The
threshold is halfway from t to the next smaller probability: of a model that has few of them, those
of new examples may be a little below t. An example of weight w counts as w examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cwboost.families.arrays import check_arrays
from cwboost.kernels import softmax
from cwboost.support.samples import spaced_by_weight

MOST_KEPT = 5_000
"""Largest number of examples kept: with this number, coverage is within .01 of what is wanted."""


def own_probability(logits, y) -> np.ndarray:
    """Return the probability that each example has of its own class, (n,), from its logits."""
    return softmax(logits)[np.arange(len(y)), y]


@dataclass(frozen=True, eq=False)
class Conformity:
    """Calibration scores for prediction sets.

    Of each example, these are its class index, the probability that the model gives to that class,
    and how many examples it counts for.
    """

    label: np.ndarray
    probability: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, logits, y, weight) -> Conformity:
        """Compute from held-out logits, (n, n_classes), labels, and what each counts for."""
        return cls.of_own(own_probability(logits, y), y, weight)

    @classmethod
    def of_own(cls, probability, y, weight) -> Conformity:
        """Compute from the probabilities that held-out examples have of their own classes."""
        label = np.asarray(y, dtype=np.int64)
        # In an order of their own: that of the rows may be periodic.
        order = np.lexsort((probability, label))
        order = order[weight[order] > 0]
        places, weight = spaced_by_weight(weight[order], MOST_KEPT)
        kept = order[places]
        return cls(label[kept], probability[kept], weight)

    def check(self, n_classes: int) -> None:
        """Raise ValueError unless the arrays, which may come from a file, are such."""
        dtypes = {"label": "int64", "probability": "float64", "weight": "float64"}
        check_arrays(
            {f"conformity.{name}": getattr(self, name) for name in dtypes},
            {f"conformity.{name}": (dtype, ("n",)) for name, dtype in dtypes.items()},
        )
        label, p, weight, n = self.label, self.probability, self.weight, len(self.label)
        promises = {
            f"label must have 1 to {MOST_KEPT} entries, got {n}": 0 < n <= MOST_KEPT,
            f"label must lie in [0, {n_classes})": ((label >= 0) & (label < n_classes)).all(),
            "probability must lie in [0, 1]": ((p >= 0) & (p <= 1)).all(),
            "weight must be positive and finite": ((weight > 0) & (weight <= 1e300)).all(),
        }
        for promise, holds in promises.items():
            if not holds:
                raise ValueError(f"conformity: {promise}")

    def thresholds(self, alpha: float, n_classes: int, by_class: bool) -> np.ndarray:
        """Return the least probability with which each class is in a set, (n_classes,).

        A class without examples left out, or with too few for `alpha`, is in every set.
        """
        if not by_class:
            return np.full(n_classes, _order_statistic(self.probability, self.weight, alpha))
        rows_of_class = [self.label == c for c in range(n_classes)]
        return np.array(
            [_order_statistic(self.probability[at], self.weight[at], alpha) for at in rows_of_class]
        )


def _order_statistic(values, weight, alpha: float) -> float:
    """Return a number below which, with a new value, lies the share `alpha` of the values at most.

    It is halfway between the largest such value and the next smaller one. The new one has weight 1.
    """
    order = np.argsort(values, kind="stable")
    below = np.append(0.0, np.cumsum(weight[order]))
    # At alpha = 1 nothing is in a set: its place is after all values.
    values = np.append(values[order], np.inf)
    k = np.searchsorted(below, alpha * (below[-1] + 1.0) - 1.0, side="right")
    if k == 0:
        return 0.0
    n_below = np.searchsorted(values, values[k - 1])
    return float(values[k - 1] + (values[n_below - 1] if n_below else 0.0)) / 2.0
