"""Relevance of features: mutual information of each with the class, above chance."""

import numpy as np

from cwboost.kernels import log

INTERVALS = 8
"""Number of intervals of a feature, with as many examples each; a bound is an interval of its own,
so that rare and frequent values differ."""

DEVIATIONS = 2.0
"""Standard deviations above the mean of a feature of chance from which a feature counts."""


def relevance(X, y, weight) -> np.ndarray:
    """Return the mutual information of each feature and the class, less what chance gives, in nats.

    By chance, ``2 n`` times the information is distributed as chi-squared with
    ``(n_bins - 1) (n_classes - 1)`` degrees of freedom, for n examples.
    """
    n, n_classes = len(y), int(y.max()) + 1
    n_present = np.count_nonzero(np.bincount(y))
    bounds = np.quantile(X, np.arange(1, INTERVALS) / INTERVALS, axis=0, method="inverted_cdf")
    of_class = _entropy(np.bincount(y, weight))
    found = np.zeros(X.shape[1])
    for j, (own, values) in enumerate(zip(bounds.T, X.T)):
        bins = np.searchsorted(own, values) + np.searchsorted(own, values, side="right")
        table = np.bincount(bins * n_classes + y, weight, (2 * INTERVALS - 1) * n_classes)
        of_bin = table.reshape(-1, n_classes).sum(axis=1)
        freedom = (np.count_nonzero(of_bin) - 1) * (n_present - 1)
        if not freedom:
            continue
        chance = (freedom + DEVIATIONS * np.sqrt(2.0 * freedom)) / (2 * n)
        found[j] = _entropy(of_bin) + of_class - _entropy(table) - chance
    return np.maximum(found, 0.0)


def _entropy(masses) -> float:
    shares = masses[masses > 0] / masses.sum()
    return -float((shares * log(shares)).sum())
