"""Features drawn for the nodes of growing trees, until enough of them vary there."""

from __future__ import annotations

import numpy as np

from cwboost.kernels import smallest_places

__all__ = ["DrawnFeatures"]

SPARE = 1.25
"""Features asked for per feature wanted, beyond what varied in the parents, to spare exchanges."""


class DrawnFeatures:
    """Features of nodes in random orders, of which the first that vary in the node count.

    Local training draws them one by one (_kernels/trees/search.pyx). Here whole batches are asked
    for, whose sizes follow from the share of features that varied in the parents; what is drawn
    beyond the number wanted does not count.

    Parameters
    ----------
    usable : ndarray of shape (n_usable,), dtype int32
        The features.
    n_wanted : int
        Number of varying features per node, if there are as many.
    nodes : ndarray of shape (n_nodes,), dtype int64
    shares : ndarray of shape (n_nodes,), dtype float64, in (0, 1]
        Share of the features that varied in the parent of each node.
    rng : numpy.random.Generator
    """

    def __init__(self, usable, n_wanted, nodes, shares, rng):
        n_usable, n_nodes = len(usable), len(nodes)
        self._usable, self._nodes = usable, nodes
        self._n_wanted = min(n_wanted, n_usable)
        self._keys = None
        if self._n_wanted < n_usable:
            self._keys = rng.random((n_nodes, n_usable), dtype=np.float32)
        self._n_asked, self._n_found = (np.zeros(n_nodes, dtype=np.int64) for _ in range(2))
        expected = np.where(shares < 1, SPARE / np.maximum(shares, 1e-9), 1.0)
        self._goal = np.minimum(n_usable, np.ceil(expected * self._n_wanted)).astype(np.int64)

    @property
    def are_enough(self) -> bool:
        """True if every node has enough features, or all."""
        return bool((self._goal == self._n_asked).all())

    @property
    def shares(self) -> np.ndarray:
        """Share of the features that vary in every node, at least one feature."""
        return np.maximum(self._n_found, 1) / np.maximum(self._n_asked, 1)

    def next(self):
        """Return further pairs of a node and a feature, as two arrays."""
        nodes = np.flatnonzero(self._goal > self._n_asked)
        from_, to = self._n_asked[nodes][:, None], self._goal[nodes][:, None]
        most = int(to.max(initial=0))
        node, place = np.nonzero((np.arange(most) >= from_) & (np.arange(most) < to))
        feature = place
        if self._keys is not None:
            feature = smallest_places(self._keys[nodes], most)[node, place]
        self._pairs = nodes[node]
        self._n_asked[nodes] = self._goal[nodes]
        return self._nodes[self._pairs], self._usable[feature]

    def note(self, varies) -> np.ndarray:
        """Note which of the last pairs vary; return those of them that count."""
        before = np.cumsum(varies) - varies
        first, sizes = _groups(self._pairs)
        rank = before - np.repeat(before[first], sizes) + self._n_found[self._pairs]
        self._n_found += np.bincount(self._pairs[varies], minlength=len(self._nodes))
        lacks = self._n_found < self._n_wanted
        self._goal[lacks] = np.minimum(len(self._usable), 2 * self._n_asked[lacks])
        return varies & (rank < self._n_wanted)


def _groups(numbers) -> tuple:
    """Return the places of the first of equal ascending numbers, and how many there are of each."""
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    return first, np.diff(first, append=len(numbers))
