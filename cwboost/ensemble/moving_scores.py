"""Scores of a fixed set of examples that follow the coefficients of a growing ensemble."""

from __future__ import annotations

import numpy as np

from cwboost._kernels.prediction.votes import add_votes, new_scores

__all__ = ["MovingScores"]


class MovingScores:
    """Scores updated by changes of coefficients; outputs are kept as one bit per example.

    Parameters
    ----------
    n_samples, n_scores : int
    """

    def __init__(self, n_samples: int, n_scores: int):
        self._n_samples = n_samples
        self._moved = new_scores(n_scores, n_samples)
        self._packed = np.empty((0, -(-n_samples // 8)), np.uint8)
        self._free = np.empty(0, np.int64)  # rows of `_packed`
        self._row_of = np.empty(0, np.int64)  # by learner, -1 where it is not kept

    @property
    def scores(self) -> np.ndarray:
        """The current scores, a view of shape (n_samples, n_scores) in Fortran order."""
        return self._moved[:, : self._n_samples].T

    def is_kept(self, ids) -> np.ndarray:
        """Return True for each learner whose outputs are kept."""
        self._know(ids)
        return self._row_of[ids] >= 0

    def keep(self, ids, packed) -> None:
        """Keep the outputs of new learners, packed by `pack_outputs`."""
        self._know(ids)
        if (missing := len(ids) - len(self._free)) > 0:
            size = len(self._packed)
            more = max(missing, size // 2, 64)
            self._packed = np.concatenate(
                [self._packed, np.empty((more, self._packed.shape[1]), np.uint8)]
            )
            self._free = np.concatenate([self._free, np.arange(size, size + more)])
        rows, self._free = self._free[: len(ids)], self._free[len(ids) :]
        self._packed[rows] = packed
        self._row_of[ids] = rows

    def _know(self, ids) -> None:
        """Make room in the table for these learners."""
        missing = int(ids.max(initial=-1)) + 1 - len(self._row_of)
        if missing > 0:
            more = np.full(max(missing, len(self._row_of), 64), -1)
            self._row_of = np.concatenate([self._row_of, more])

    def drop(self, ids) -> None:
        """Drop the outputs of learners whose coefficients do not change any more."""
        self._free = np.concatenate([self._row_of[ids], self._free])
        self._row_of[ids] = -1

    def move(self, ids, score_index, steps) -> None:
        """Add ``steps[e]`` times the outputs of learner ``ids[e]`` to score ``score_index[e]``."""
        add_votes(self._packed, self._row_of[ids], score_index, steps, self._moved)

    def shift(self, offset) -> None:
        """Add ``offset[s]`` to score s of every example."""
        self._moved += np.asarray(offset)[:, None]
