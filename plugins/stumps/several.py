"""Several stumps per target, from one search over all features."""

from __future__ import annotations

import numpy as np

import cwboost

__all__ = ["best_of_groups"]


def best_of_groups(price, features, n_groups: int, min_edge: float, rng) -> cwboost.Priced:
    """Return, per target, the best stump of each of several random groups of features.

    The best of all features is among them. Stumps that do not pay are left out, but for the best.

    Parameters
    ----------
    price : callable
        ``price(features)`` returns the best stump per target among ascending features.
    features : ndarray of int
        Features to divide.
    n_groups : int
    min_edge : float
        What pays, see `cwboost.PricingRequest`.
    rng : numpy.random.Generator
    """
    order = rng.permutation(features)
    n_groups = min(n_groups, len(features))
    parts = [price(np.sort(order[group::n_groups])) for group in range(n_groups)]
    edges = np.stack([part.edges for part in parts], axis=1)
    keep = edges > min_edge
    best = np.arange(len(edges)), np.argmax(edges, axis=1)
    # Constants are in every group.
    constant = np.stack([part.learners.feature < 0 for part in parts], axis=1)
    keep[:, 1:] &= ~constant[:, 1:]
    keep[best] = True
    target, group = np.nonzero(keep)
    chosen = group * len(edges) + target
    learners = type(parts[0].learners).concatenate([part.learners for part in parts])
    outputs = np.concatenate([part.outputs for part in parts])
    return cwboost.Priced(learners.take(chosen), outputs[chosen], edges[keep], target)
