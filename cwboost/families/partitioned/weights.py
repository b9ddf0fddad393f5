"""The weights of one partition, such that sums of them are exact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

__all__ = ["PartitionWeights", "scales_of"]


@dataclass(frozen=True, eq=False)
class PartitionWeights:
    """Signed weights of a partition's examples, with the scales that make them integers.

    Parameters
    ----------
    weights : ndarray of shape (n_targets, n_samples), dtype float64
        Read-only; the last axis is contiguous, rows may be padded.
    scales : ndarray of shape (n_targets,), dtype float64
        Powers of two, the same for every partition.
    """

    weights: np.ndarray
    scales: np.ndarray

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return self.weights.shape[0]

    @property
    def n_samples(self) -> int:
        """Number of examples of the partition."""
        return self.weights.shape[1]

    def rounded(self) -> np.ndarray:
        """Return the weights as integers in float64, of shape (n_targets, n_samples).

        Their absolute values sum to less than 2**52 per target over all partitions. Sums of them
        are exact, so they do not depend on their order.
        """
        return np.rint(self.weights * self.scales[:, None])

    def squared(self) -> np.ndarray:
        """Return squares of the weights, rounded more coarsely, of shape (n_targets, n_samples).

        They are integers, in units of ``2**52 / scales**2``, whose sums are exact.
        """
        return np.rint(self.weights * (self.scales * 2.0**-26)[:, None]) ** 2

    def groups(self, n_targets: int) -> Iterator[PartitionWeights]:
        """Yield the weights of at most `n_targets` targets at a time."""
        for first in range(0, self.n_targets, n_targets):
            own = slice(first, first + n_targets)
            yield PartitionWeights(self.weights[own], self.scales[own])


def scales_of(masses) -> np.ndarray:
    """Return the powers of two that bring masses into (2**50, 2**51].

    A mass is the sum of the absolute weights of a target, which may be wrong by rounding.
    """
    masses = np.asarray(masses, dtype=np.float64)
    fraction, exponent = np.frexp(np.maximum(masses, 1e-290))
    exponent = exponent + (fraction > 1.0 - 2.0**-8)
    return np.where(masses > 0.0, np.ldexp(1.0, 51 - exponent), 1.0)
