"""Batches of directions: drawn, stored compactly, and written out as a matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from cwboost.plugins.projections.sparse_rows import SparseRows

from cwboost.kernels import seeded_directions, stored_directions

__all__ = ["CONSTANT", "SEEDED", "STORED", "Drawn", "RandomDirections"]

CONSTANT, SEEDED, STORED = 0, 1, 2


@dataclass(frozen=True)
class Drawn:
    """Directions in standardised features.

    Parameters
    ----------
    kind : ndarray of shape (n,), dtype int8
        `SEEDED`: a function of `seed`, see `cwboost.kernels.seeded_directions`; `STORED`: a row
        of `stored`; `CONSTANT`: the learner is constant and has no direction.
    seed : ndarray of shape (n,), dtype uint64
    stored : SparseRows of length n
    """

    kind: np.ndarray
    seed: np.ndarray
    stored: SparseRows

    def __len__(self):
        return len(self.kind)

    @classmethod
    def seeded(cls, seed, n_features):
        n = len(seed)
        return cls(np.full(n, SEEDED, np.int8), seed, SparseRows.empty(n, n_features))

    @classmethod
    def explicit(cls, stored):
        n = len(stored)
        return cls(np.full(n, STORED, np.int8), np.zeros(n, np.uint64), stored)

    def directions(self, scale) -> np.ndarray:
        """Return the directions times `scale` as columns of a matrix (n_features, n)."""
        stored = self.stored
        W = stored_directions(stored.start, stored.feature, stored.value, scale)
        seeded = np.flatnonzero(self.kind == SEEDED)
        if len(seeded):
            W[:, seeded] = seeded_directions(self.seed[seeded], scale)
        return W

    def take(self, indices) -> Drawn:
        if np.array_equal(indices, np.arange(len(self))):
            return self
        return Drawn(self.kind[indices], self.seed[indices], self.stored.take(indices))

    def spread(self, places, n) -> Drawn:
        """Return a batch of n with these directions at `places` and constants elsewhere."""
        if len(places) == n:
            return self
        kind, seed = np.full(n, CONSTANT, np.int8), np.zeros(n, np.uint64)
        kind[places], seed[places] = self.kind, self.seed
        return Drawn(kind, seed, self.stored.spread(places, n))

    @classmethod
    def concatenate(cls, batches):
        return cls(
            np.concatenate([batch.kind for batch in batches]),
            np.concatenate([batch.seed for batch in batches]),
            SparseRows.concatenate([batch.stored for batch in batches]),
        )


class RandomDirections:
    """Independent draws of Gaussian directions.

    Parameters
    ----------
    n_projections, n_features : int

    Attributes
    ----------
    n_searched : int
        Number of directions that a learner may choose from.
    """

    def __init__(self, n_projections, n_features):
        self.n_searched, self._n_features = n_projections, n_features

    def draw(self, rng, weights=None) -> Drawn:
        seeds = rng.integers(0, 2**64, size=self.n_searched, dtype=np.uint64)
        return Drawn.seeded(seeds, self._n_features)
