"""The examples on which a round prices weak learners: all of them or a random sample."""

from __future__ import annotations

import numpy as np

from cwboost._kernels.fcd.row_sampling import draw_rows

__all__ = ["RowSampler", "sampled"]


class RowSampler:
    """Weights for pricing that are zero but for a random sample of the examples.

    An example is in it with probability `share`, in (0, 1]. The expectation of each weight is the
    weight itself, so that an edge on the sample is an unbiased estimate of the edge. Of the
    classes, the weights of the last `n_priced` are wanted.
    """

    def __init__(self, share: float, n_priced: int):
        self.takes_all = share == 1.0
        self._share = share
        self._wanted = slice(-n_priced, None)
        self._places = np.arange(0)
        self._room: np.ndarray | None = None

    def draw(self, master, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
        """Draw a sample for the present weights of a restricted master.

        Return the weights, (n_priced, n_samples), valid until the next draw, and the indices of the
        sample, ascending; all weights and None if all examples are in it.
        """
        weights = master.weights[self._wanted]
        if self.takes_all:
            return weights, None
        if len(self._places) != weights.shape[1]:
            self._places = np.arange(weights.shape[1])
        seed = int(rng.integers(2**63))
        rows = draw_rows(self._places, len(self._places), self._share, seed)
        self._room = sampled(weights, rows, self._share, self._room)
        return self._room, rows


def sampled(weights, rows, share: float, out=None) -> np.ndarray:
    """Return the weights of some examples over their share, and zeros elsewhere."""
    factors = np.zeros(weights.shape[1])
    factors[rows] = 1.0 / share
    return np.multiply(weights, factors, out=out)
