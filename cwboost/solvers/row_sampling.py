"""The examples on which a round prices weak learners: all of them or a random sample."""

import numpy as np

from cwboost._kernels.fcd.row_sampling import draw_rows


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
        rows = self.draw_rows(weights.shape[1], rng)
        if rows is None:
            return weights, None
        self._room = sampled(weights, rows, self._share, self._room)
        return self._room, rows

    def draw_rows(self, n_samples: int, rng: np.random.Generator) -> np.ndarray | None:
        """Draw the indices of a sample, ascending; None if all examples are in it."""
        if self.takes_all:
            return None
        if len(self._places) != n_samples:
            self._places = np.arange(n_samples)
        return draw_rows(self._places, n_samples, self._share, int(rng.integers(2**63)))


def sampled(weights, rows, share: float, out=None) -> np.ndarray:
    """Return the weights of some examples over their share, and zeros elsewhere."""
    factors = np.zeros(weights.shape[1])
    factors[rows] = 1.0 / share
    return np.multiply(weights, factors, out=out)
