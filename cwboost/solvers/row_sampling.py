"""The examples on which a round prices weak learners: all of them or a random sample."""

from __future__ import annotations

import numpy as np

from cwboost._kernels.fcd.row_sampling import draw_rows, draw_uniformly, take_rows

__all__ = ["SAMPLING", "RowSampler"]

SAMPLING = ("uniform", "mvs")


class RowSampler:
    """Weights for pricing that are zero but for a random sample of the examples.

    The expectation of each of them is the weight itself, so that an edge on the sample is an
    unbiased estimate of the edge.

    Parameters
    ----------
    share : float
        In (0, 1]. Fraction of the examples in the sample.
    sampling : {"uniform", "mvs"}
        "uniform" draws each example with that probability. "mvs" (minimal variance sampling,
        Ibragimov and Gusev 2019) draws each with a probability proportional to the sum of its pair
        weights, at most 1. Both draw that fraction on average.
    n_priced : int or None, default=None
        Number of classes, the last ones, whose weights are wanted; None for all.

    Attributes
    ----------
    takes_all : bool
        True if every sample is all examples.
    """

    def __init__(self, share: float, sampling: str, n_priced: int | None = None):
        self.takes_all = share == 1.0
        self._share = share
        self._sampling = sampling
        self._wanted = slice(None if n_priced is None else -n_priced, None)
        self._sampled: np.ndarray | None = None
        self._rows = np.empty(0, dtype=np.int64)

    def draw(self, master, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
        """Draw a sample for the present weights of a restricted master.

        Returns
        -------
        weights : ndarray of shape (n_priced, n_samples), dtype float64
            Valid until the next draw. All weights, if all examples are in the sample.
        rows : ndarray of shape (n_rows,), dtype int64, or None
            Indices of the sample, ascending; None if all examples are in it.
        """
        weights = master.weights
        if self.takes_all:
            return weights[self._wanted], None
        if self._sampled is None:
            self._sampled = np.zeros(weights.shape)
        if self._sampling == "mvs":
            sizes = master.own_sums
            rows, factors = draw_rows(sizes, self._share * len(sizes), rng.random(len(sizes)))
        else:
            seed, places = int(rng.integers(2**63)), np.arange(weights.shape[1])
            rows = draw_uniformly(places, len(places), self._share, seed)
            factors = np.full(len(rows), 1.0 / self._share)
        take_rows(weights, rows, factors, self._rows, self._sampled)
        self._rows = rows
        return self._sampled[self._wanted], rows
