"""Batches of directions: drawn, stored compactly, and written out as a matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from cwboost.plugins.projections.sparse_rows import SparseRows
from scipy import sparse

from cwboost.kernels import orthonormal_rows, seeded_directions, stored_directions

__all__ = ["CONSTANT", "DRAWS", "SEEDED", "STORED", "Drawn", "RandomDirections"]

CONSTANT, SEEDED, STORED = 0, 1, 2


@dataclass(frozen=True)
class Drawn:
    """Directions in standardised features.

    Parameters
    ----------
    kind : ndarray of shape (n,), dtype int8
        `SEEDED`: a function of `seed` and `density`; `STORED`: a row of `stored`; `CONSTANT`:
        the learner is constant and has no direction.
    seed : ndarray of shape (n,), dtype uint64
    density : ndarray of shape (n,), dtype float64
        See `cwboost.kernels.seeded_directions`.
    stored : SparseRows of length n
    """

    kind: np.ndarray
    seed: np.ndarray
    density: np.ndarray
    stored: SparseRows

    def __len__(self):
        return len(self.kind)

    @classmethod
    def seeded(cls, seed, density, n_features):
        n = len(seed)
        stored = SparseRows.empty(n, n_features)
        return cls(np.full(n, SEEDED, np.int8), seed, np.full(n, float(density)), stored)

    @classmethod
    def explicit(cls, stored):
        n = len(stored)
        kind = np.full(n, STORED, np.int8)
        return cls(kind, np.zeros(n, np.uint64), np.zeros(n), stored)

    def directions(self, scale) -> np.ndarray:
        """Return the directions times `scale` as columns of a matrix (n_features, n)."""
        stored = self.stored
        W = stored_directions(stored.start, stored.feature, stored.value, scale)
        seeded = np.flatnonzero(self.kind == SEEDED)
        if len(seeded):
            W[:, seeded] = seeded_directions(self.seed[seeded], self.density[seeded], scale)
        return W

    def take(self, indices) -> Drawn:
        if np.array_equal(indices, np.arange(len(self))):
            return self
        parts = (self.kind[indices], self.seed[indices], self.density[indices])
        return Drawn(*parts, self.stored.take(indices))

    def spread(self, places, n) -> Drawn:
        """Return a batch of n with these directions at `places` and constants elsewhere."""
        if len(places) == n:
            return self
        kind = np.full(n, CONSTANT, np.int8)
        seed, density = np.zeros(n, np.uint64), np.zeros(n)
        kind[places], seed[places], density[places] = self.kind, self.seed, self.density
        return Drawn(kind, seed, density, self.stored.spread(places, n))

    @classmethod
    def concatenate(cls, batches):
        return cls(
            np.concatenate([batch.kind for batch in batches]),
            np.concatenate([batch.seed for batch in batches]),
            np.concatenate([batch.density for batch in batches]),
            SparseRows.concatenate([batch.stored for batch in batches]),
        )


def _seeds(rng, n):
    return rng.integers(0, 2**64, size=n, dtype=np.uint64)


def gaussian(rng, n, *, X, **_):
    return Drawn.seeded(_seeds(rng, n), 0.0, X.shape[1])


def sparse_signs(rng, n, *, density, X, **_):
    return Drawn.seeded(_seeds(rng, n), density, X.shape[1])


def orthogonal(rng, n, *, X, **_):
    n_features = X.shape[1]
    rows = seeded_directions(_seeds(rng, n), np.zeros(n), np.ones(n_features)).T.copy()
    for start in range(0, n, n_features):
        orthonormal_rows(rows[start : start + n_features])
    return Drawn.explicit(SparseRows.of(sparse.csr_array(rows)))


def difference(rng, n, *, X, scale, weights, **_):
    """Draw directions from an example of negative to one of positive weight of a target."""
    targets, draws = rng.integers(len(weights), size=n), rng.random((2, n))
    ends = np.empty((2, n), dtype=np.int64)
    for target in np.unique(targets):
        here = np.flatnonzero(targets == target)
        for end, signed in enumerate((weights[target], -weights[target])):
            ends[end, here] = _weighted(np.maximum(signed, 0), draws[end, here])
    return Drawn.explicit(SparseRows.of(_differences(X, *ends, scale)))


def _weighted(weights, draws):
    """Draw indices in proportion to the weights; uniformly if all are zero."""
    cumulated = np.cumsum(weights / max(weights.max(), 1e-300))
    if cumulated[-1] == 0:
        found = (draws * len(weights)).astype(np.int64)
    else:
        found = np.searchsorted(cumulated, draws * cumulated[-1], "right")
    return np.minimum(found, len(weights) - 1)


def _differences(X, first, second, scale):
    """Return standardised differences of rows of X, float32 CSR."""
    with np.errstate(invalid="ignore", over="ignore"):
        rows = sparse.csr_array(X[first].astype(np.float64) - X[second].astype(np.float64))
        rows.sort_indices()
        values = (rows.data * scale[rows.indices]).astype(np.float32)
    # Differences of infinities, or beyond float32, have no direction.
    values[~np.isfinite(values)] = 0
    rows = sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
    rows.eliminate_zeros()
    return rows


DRAWS = {
    "gaussian": gaussian,
    "sparse": sparse_signs,
    "orthogonal": orthogonal,
    "difference": difference,
}
"""Functions that draw a batch: ``draw(rng, n, *, density, X, scale, weights) -> Drawn``."""


class RandomDirections:
    """Draws of one kind for one training matrix.

    Parameters
    ----------
    draw : callable
        An entry of `DRAWS`.
    n_projections : int
    density : float
    X, centre, scale, n_threads
        As for `cwboost.plugins.projections.discriminants.Discriminants`.

    Attributes
    ----------
    n_searched : int
        Number of directions that a learner may choose from.
    """

    def __init__(self, draw, n_projections, density, X, centre, scale, n_threads):
        self._draw = draw
        self.n_searched = n_projections
        self._of_data = {"density": density, "X": X, "scale": scale}

    def draw(self, rng, weights, rows=None) -> Drawn:
        return self._draw(rng, self.n_searched, weights=weights, **self._of_data)
