"""The best threshold of every target from sums per bin."""

from __future__ import annotations

import numpy as np

from cwboost.kernels.partitioned.shared_bins import SharedBins

__all__ = ["best_of_bins"]


def best_of_bins(bins: SharedBins, sums, totals, features=None):
    """Return the best stump of every target from the exact sums of all bins.

    Ties go to the constant stump, then to the lowest feature, then to the lowest threshold, as in
    `cwboost.kernels.SortedFeatures`.

    Parameters
    ----------
    bins : SharedBins
    sums : ndarray of shape (n_codes, n_targets), dtype float64
        What `BinnedPartition.sums` returns, over all partitions.
    totals : ndarray of shape (n_targets,), dtype float64
    features : ndarray of int, default=None
        The features searched; None for all.

    Returns
    -------
    feature : ndarray of shape (n_targets,), dtype int64
        -1 is a constant.
    threshold : ndarray of shape (n_targets,), dtype float64
        Infinite for present against missing.
    polarity, missing : ndarrays of shape (n_targets,), dtype int8
    edges : ndarray of shape (n_targets,), dtype float64
    """
    n_targets = len(totals)
    features = np.arange(bins.n_features) if features is None else features
    if not len(features):
        sign, none = np.where(totals >= 0, 1, -1).astype(np.int8), np.full(n_targets, -1)
        return none, np.zeros(n_targets), sign, sign, np.abs(totals)
    widths = bins.n_bins[features].astype(np.int64)
    padded = np.zeros((len(features), int(widths.max(initial=0)) + 1, n_targets))
    inside = np.arange(padded.shape[1]) < widths[:, None]
    starts = bins.code_starts[features]
    padded[inside] = sums[(starts[:, None] + np.arange(padded.shape[1]))[inside]]
    lost = sums[starts + widths]  # the sums of missing values, (n_features, n_targets)
    present = totals - lost
    above = present[:, None] - 2.0 * np.cumsum(padded, axis=1)
    edges = np.abs(above)
    edges[np.arange(padded.shape[1]) >= widths[:, None] - 1] = -np.inf
    place = edges.argmax(axis=1)
    at = np.arange(len(features))[:, None], place, np.arange(n_targets)
    best, sign = edges[at] + np.abs(lost), above[at]
    # Present against missing.
    apart = np.where(lost * present < 0, np.abs(lost) + np.abs(present), -np.inf)
    whole = apart > best
    best, sign = np.where(whole, apart, best), np.where(whole, -present, sign)
    place = np.where(whole, widths[:, None], place)
    found = np.where(best.max(axis=0) > np.abs(totals), best.argmax(axis=0), -1)
    split, chosen = found >= 0, (found, np.arange(n_targets))
    lost = np.where(split, lost[chosen], totals)
    sign = np.where(split, sign[chosen], totals)
    missing = np.where(lost > 0, 1, np.where(lost < 0, -1, np.where(totals >= 0, 1, -1)))
    found = np.where(split, features[found], -1)
    place = np.where(split, place[chosen], 0)
    threshold = np.zeros(n_targets)
    threshold[split] = bins.thresholds(found[split], place[split])
    threshold[split & (place == bins.n_bins[found])] = np.inf
    return (
        found,
        threshold,
        np.where(sign >= 0, 1, -1).astype(np.int8),
        missing.astype(np.int8),
        np.where(split, best[chosen], np.abs(totals)),
    )
