"""Slow stump search in plain NumPy, by the definition: every feature, threshold, sign and side."""

import itertools

import numpy as np


def stump_outputs(X, feature, threshold, polarity, missing):
    """Outputs of one stump, int8, on a dense matrix of any dtype."""
    if feature < 0:
        return np.full(len(X), polarity, dtype=np.int8)
    column = X[:, feature].astype(np.float64)
    h = np.where(column > threshold, polarity, -polarity).astype(np.int8)
    h[np.isnan(column)] = missing
    return h


def partitions(X, features=None):
    """Outputs of all stumps with polarity +1, in the order in which ties are broken.

    Yields (feature, h), first the constant, then by feature and threshold; where a feature has
    missing values, both sides for them, and last the split of missing from present.
    """
    n_samples, n_features = X.shape
    yield -1, np.ones(n_samples, dtype=np.int8)
    for f in range(n_features) if features is None else sorted(features):
        column = X[:, f].astype(np.float64)
        missing = np.isnan(column)
        sides = (1, -1) if missing.any() else (1,)
        for a, side in itertools.product(np.unique(column[~missing])[:-1], sides):
            h = np.where(column > a, 1, -1).astype(np.int8)
            h[missing] = side
            yield f, h
        if missing.any() and not missing.all():
            yield f, np.where(missing, 1, -1).astype(np.int8)


def all_edges(X, weights, features=None):
    """Features (n_stumps,), outputs (n_stumps, n_samples), signed edges (n_targets, n_stumps)."""
    found = list(partitions(X, features))
    outputs = np.array([h for _, h in found])
    return np.array([f for f, _ in found]), outputs, weights @ outputs.T.astype(np.float64)
