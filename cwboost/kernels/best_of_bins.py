"""The best threshold of every target from sums per bin."""

from __future__ import annotations

import numpy as np

from cwboost._kernels.partitions.cuts import best_cuts
from cwboost.kernels.bins import Bins

__all__ = ["best_of_bins"]


def best_of_bins(bins: Bins, sums, totals, features=None):
    """Return the best stump of every target from the exact sums of all bins.

    Ties go to the constant stump, then to the lowest feature, then to the lowest threshold, as in
    `cwboost.kernels.SortedFeatures`.

    Parameters
    ----------
    bins : Bins
    sums : ndarray of shape (n_codes, n_targets), dtype float64
        What `BinnedMatrix.sums` returns, over all partitions.
    totals : ndarray of shape (n_targets,), dtype float64
    features : ndarray of int, default=None
        The features searched, ascending; None for all.

    Returns
    -------
    feature : ndarray of shape (n_targets,), dtype int64
        -1 is a constant.
    threshold : ndarray of shape (n_targets,), dtype float64
        Infinite for present against missing.
    polarity, missing : ndarrays of shape (n_targets,), dtype int8
    edges : ndarray of shape (n_targets,), dtype float64
    """
    features = np.arange(bins.n_features) if features is None else features
    sums = np.ascontiguousarray(sums, dtype=np.float64)
    features = np.ascontiguousarray(features, dtype=np.int64)
    feature, place, edges, above, lost = best_cuts(
        sums, bins.code_starts, bins.n_bins, features, totals
    )
    split = feature >= 0
    missing = np.where(lost > 0, 1, np.where(lost < 0, -1, np.where(totals >= 0, 1, -1)))
    threshold = np.zeros(len(totals))
    threshold[split] = bins.thresholds(feature[split], place[split])
    threshold[split & (place == np.append(bins.n_bins, -1)[feature])] = np.inf
    polarity = np.where(above >= 0, 1, -1)
    return feature, threshold, polarity.astype(np.int8), missing.astype(np.int8), edges
