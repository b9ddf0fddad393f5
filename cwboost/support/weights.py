"""What weights of examples count."""

from __future__ import annotations

import numpy as np

NEGLIGIBLE = 1e-6
"""Examples of less than this fraction of the mean weight are as good as absent."""


def effective_size(weight: np.ndarray) -> float:
    """Return how many examples of ordinary weight, the median, weigh as much as all.

    A weight is a count: the size grows with the weights of a few examples as with copies of them.
    A common factor of all weights does not change it.
    """
    ordinary = np.median(weight[weight > NEGLIGIBLE * weight.mean()])
    return float(weight.sum() / ordinary)
