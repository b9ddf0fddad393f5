"""Directions that separate the examples of positive weight from those of negative weight."""

from __future__ import annotations

import numpy as np
from cwboost.plugins.projections.directions import Drawn
from cwboost.plugins.projections.sparse_rows import SparseRows
from scipy import sparse

from cwboost.kernels import Projector, group_sums, readable, ridge_solve

__all__ = [
    "Discriminants",
    "RidgeDirections",
    "differences_of_means",
    "sampled_places",
    "sums_of_groups",
]

SAMPLE = 2048
"""Largest number of examples from which covariances are computed."""

KEPT = 1024
"""Largest number of features whose whole covariance matrix is computed, once."""

BLOCK = 64
"""Number of features whose rows are copied out of X, or covariances computed, at a time."""


ROWS = 2**15
"""Examples of a sparse matrix whose weighted features are summed apart, as `group_sums` does."""


class Discriminants:
    """Ridge discriminants of signed weights on random subsets of the features.

    Weights split the examples in two groups. With the weighted means m+ and m- of the groups and
    the covariance matrix S of all examples, in standardised features, the direction of a target is
    ``(S + shrinkage I)**-1 (m+ - m-)`` on the features drawn for the round, and 0 elsewhere.

    S takes no weights, and its features are the same for all targets, so that a round factors one
    matrix. With n examples, k drawn features and K targets, a round costs ``n k K`` multiplications
    for the means, ``k**3 / 6`` for the factor and ``k**2 K`` for the solutions. S costs up to
    ``2048 d**2`` once, or ``2048 k**2`` in each round if there are more than 1,024 features.

    Every sum has a fixed order: directions have the same bits on any processor and at any number
    of threads.

    Parameters
    ----------
    n_drawn : int
        Number of features of a direction, at most all that vary.
    shrinkage : float, > 0
        In units of a feature's variance.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    centre, scale : ndarray of shape (n_features,), dtype float64
        See `cwboost.plugins.projections.standardise.centre_and_scale`.
    n_threads : int

    Attributes
    ----------
    n_searched : int
        Number of directions whose best one does as well by chance: that of the drawn features.
    """

    def __init__(self, n_drawn, shrinkage, X, centre, scale, n_threads):
        self._X = X.T.tocsr() if sparse.issparse(X) else X
        self._scale, self._n_threads = scale, n_threads
        sample = X[sampled_places(X.shape[0])]
        self._ridge = RidgeDirections(n_drawn, shrinkage, sample, centre, scale, n_threads)
        self.n_searched = self._ridge.n_drawn

    def draw(self, rng, weights) -> Drawn:
        """Return one direction per row of `weights`, (n_targets, n_samples)."""
        features = self._ridge.draw_features(rng)
        if not len(features):
            return Drawn.explicit(SparseRows.empty(len(weights), len(self._scale)))
        sums = sums_of_groups(self._X, weights, features, self._n_threads)
        differences = differences_of_means(*sums, self._scale[features])
        return self._ridge.directions(features, differences)


def sums_of_groups(X, weights, features, n_threads):
    """Return the totals and weighted sums of features: positive weights, then negative.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), or CSR matrix of shape (n_features, n_samples)
    weights : ndarray of shape (n_targets, n_samples), dtype float64
    features : ndarray of int
    n_threads : int

    Returns
    -------
    totals : ndarray of shape (2 * n_targets,), dtype float64
    products : ndarray of shape (2 * n_targets, len(features)), dtype float64
    """
    if not sparse.issparse(X):
        return group_sums(readable(X), weights, features, n_threads)
    columns, totals = X[features], np.zeros(2 * len(weights))
    products = np.zeros((len(totals), len(features)))
    for start in range(0, weights.shape[1], ROWS):
        rows = slice(start, start + ROWS)
        own = weights[:, rows]
        groups = np.concatenate([np.maximum(own, 0), np.maximum(-own, 0)])
        totals += np.add.accumulate(groups, axis=1)[:, -1]
        project = Projector(np.ascontiguousarray(groups.T))
        products += project(columns[:, rows], n_threads, np.float64)
    return totals, products


def differences_of_means(totals, products, scale) -> np.ndarray:
    """Return the differences of the groups' means of standardised features, a row per target.

    The centre of a feature does not matter. An infinite feature has no mean.
    """
    positive, negative = totals.reshape(2, -1, 1)
    both = (positive > 0) & (negative > 0)
    of_positive, of_negative = products.reshape(2, len(both), -1)
    with np.errstate(invalid="ignore", over="ignore"):
        means = of_positive / np.where(both, positive, 1), of_negative / np.where(both, negative, 1)
        found = np.where(both, means[0] - means[1], 0).astype(np.float32) * scale
    return np.where(np.isfinite(found), found, 0)


def sampled_places(n_samples) -> np.ndarray:
    """Return the examples from which covariances are computed.

    Evenly spaced: a caller that sorts examples by class gets every class in proportion.
    """
    n = min(n_samples, SAMPLE)
    return np.arange(n) * n_samples // n


class RidgeDirections:
    """The part of `Discriminants` that needs a sample of the examples only.

    Parameters
    ----------
    sample : ndarray or CSR matrix of shape (n_sampled, n_features)
        The examples at `sampled_places`.
    n_drawn, shrinkage, centre, scale, n_threads
        As for `Discriminants`.

    Attributes
    ----------
    n_drawn : int
        Number of features of a direction.
    """

    def __init__(self, n_drawn, shrinkage, sample, centre, scale, n_threads):
        self._n_features = sample.shape[1]
        self._sample = sample
        self._centre, self._scale = centre, scale
        self._shrinkage, self._n_threads = shrinkage, n_threads
        self._varying = np.flatnonzero(scale > 0)
        self.n_drawn = min(n_drawn, len(self._varying))
        self._covariance = None
        if 0 < len(self._varying) <= KEPT:
            self._covariance = self._covariances(self._varying)

    def draw_features(self, rng) -> np.ndarray:
        """Return the features of the round's directions, ascending; none if none varies."""
        if not len(self._varying):
            return self._varying
        drawn = rng.choice(len(self._varying), self.n_drawn, replace=False)
        return self._varying[np.sort(drawn)]

    def directions(self, features, differences) -> Drawn:
        """Return the directions with these differences of means, (n_targets, n_drawn)."""
        S, places = self._covariance, None
        if S is None:
            S = self._covariances(features)
        elif len(features) < len(S):
            places = np.searchsorted(self._varying, features)
        found = ridge_solve(S, differences.T, self._shrinkage, places).T
        size = np.abs(found).max(axis=1, keepdims=True)
        rows = found / np.where(size > 0, size, 1)  # of largest entry one
        return Drawn.explicit(SparseRows.dense(rows, features, self._n_features))

    def _covariances(self, features) -> np.ndarray:
        """Return the covariance matrix of standardised features on the sample."""
        Z = self._sample[:, features]
        Z = (Z.toarray() if sparse.issparse(Z) else Z).astype(np.float64)
        Z = (Z - self._centre[features]) * self._scale[features]
        Z[~np.isfinite(Z)] = 0
        by_feature = np.ascontiguousarray(Z.T)
        S = np.empty((len(features), len(features)))
        for start in range(0, len(features), BLOCK):
            part = slice(start, start + BLOCK)
            S[part] = Projector(Z[:, part])(by_feature, self._n_threads)
        return S / len(Z)
