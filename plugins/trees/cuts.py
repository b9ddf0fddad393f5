"""Candidates for the splits of nodes: cuts between bins, and subsets of categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["CODES", "Candidates", "Subsets", "cuts_between_bins"]

CODES = 256
"""Bins of a feature, missing values included."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Possible splits of nodes.

    Parameters
    ----------
    nodes, features : ndarrays of shape (n,)
    cuts : ndarray of shape (n,), dtype int32
        The last code that goes left; negative for a subset, see `Subsets`.
    below : ndarray of shape (n, 2, 3), dtype float64
        Sum, mass and number of the examples on the left, without missing values, and of those.
    """

    nodes: np.ndarray
    features: np.ndarray
    cuts: np.ndarray
    below: np.ndarray

    @classmethod
    def none(cls) -> Candidates:
        """Return no candidate."""
        nothing = np.zeros(0, dtype=np.int32)
        return cls(nothing.astype(np.int64), nothing, nothing, np.zeros((0, 2, 3)))

    @classmethod
    def concatenate(cls, parts) -> Candidates:
        """Return the candidates of all parts."""
        every = zip(*((p.nodes, p.features, p.cuts, p.below) for p in parts))
        return cls(*map(np.concatenate, every))


def cuts_between_bins(bins, nodes, features, sums) -> Candidates:
    """Return every cut between bins of pairs of a node and a feature.

    Parameters
    ----------
    bins : cwboost.kernels.SharedBins
    nodes, features : ndarrays of shape (n_pairs,)
    sums : ndarray of shape (n_pairs, n_codes, 3), dtype float64
        Sum, mass and number of the examples of each code.
    """
    lost = _of_missing(bins, features, sums)
    pair, cut = np.nonzero(np.arange(sums.shape[1]) < bins.n_bins[features][:, None])
    below = np.stack([np.cumsum(sums, axis=1)[pair, cut], lost[pair]], axis=1)
    return Candidates(nodes[pair], features[pair], cut.astype(np.int32), below)


class Subsets:
    """The subsets of categories that may be best for pairs of a node and a feature.

    Of all subsets, the best by a convex criterion is among those that take the categories of the
    node in the order of their mean signs. The means are shrunk by one average mass of a category,
    as in local training (_kernels/trees/categories.h).

    Parameters
    ----------
    bins, nodes, features, sums
        As for `cuts_between_bins`.

    Attributes
    ----------
    candidates : Candidates
        The cut -1 - (256 p + i) is that of pair p after the category at place i of its order.
    """

    def __init__(self, bins, nodes, features, sums):
        n_bins = bins.n_bins[features][:, None]
        mass = sums[:, :, 1]
        there = (mass > 0) & (np.arange(sums.shape[1]) < n_bins)
        self._n_there = there.sum(axis=1)
        average = np.where(there, mass, 0).sum(axis=1) / np.maximum(1, self._n_there)
        mean = sums[:, :, 0] / np.maximum(mass + average[:, None], 1.0)
        # Ties stay in the order of the codes.
        self._order = np.argsort(np.where(there, mean, np.inf), axis=1, kind="stable")
        ordered = np.take_along_axis(sums, self._order[:, :, None], axis=1)
        pair, place = np.nonzero(np.arange(sums.shape[1]) < self._n_there[:, None])
        lost = _of_missing(bins, features, sums)
        below = np.stack([np.cumsum(ordered, axis=1)[pair, place], lost[pair]], axis=1)
        cuts = (-1 - (CODES * pair + place)).astype(np.int32)
        self.candidates = Candidates(nodes[pair], features[pair], cuts, below)

    def sides(self, cuts, missing_right) -> np.ndarray:
        """Return the codes that go right at cuts, of shape (len(cuts), 256), dtype bool.

        Codes that the node does not have go where missing values go.
        """
        right = np.repeat(np.asarray(missing_right, dtype=bool)[:, None], CODES, axis=1)
        for row, (pair, place) in zip(right, zip(*np.divmod(-1 - cuts, CODES))):
            order = self._order[pair, : self._n_there[pair]]
            row[order[: place + 1]] = False
            row[order[place + 1 :]] = True
        return right


def _of_missing(bins, features, sums) -> np.ndarray:
    """Return the sums of missing values, zero if the feature has none."""
    n_bins = bins.n_bins[features]
    lost = sums[np.arange(len(features)), np.minimum(n_bins, sums.shape[1] - 1)]
    return np.where(bins.has_nan[features][:, None], lost, 0.0)
