"""Scores of a fixed set of examples that follow the coefficients of a growing ensemble."""

import numpy as np

from cwboost._kernels.prediction.votes import add_votes
from cwboost.families.contract import WeakLearners

CELLS_A_CHUNK = 2**22


class MovingScores:
    """Scores updated by changes of coefficients; outputs are kept as one bit per example.

    Those of graded learners are kept as one byte per score.
    """

    def __init__(self, n_samples: int, n_scores: int):
        self._n_samples = n_samples
        n_bytes = -(-n_samples // 8)
        self._moved = np.zeros((n_scores, 8 * n_bytes))
        self._packed = np.empty((0, n_bytes), np.uint8)
        self._free = np.empty(0, np.int64)  # rows of `_packed`
        self._row_of = np.empty(0, np.int64)  # by learner, -1 where it is not kept in bits
        self._graded: dict[int, np.ndarray] = {}

    @property
    def scores(self) -> np.ndarray:
        """The current scores, a view of shape (n_samples, n_scores) in Fortran order."""
        return self._moved[:, : self._n_samples].T

    def is_kept(self, ids) -> np.ndarray:
        """Return True for each learner whose outputs are kept."""
        self._know(ids)
        return (self._row_of[ids] >= 0) | np.isin(ids, list(self._graded))

    def keep(self, ids, learners: WeakLearners, X) -> None:
        """Keep the outputs of new learners on the examples, which are the rows of X."""
        if len(ids) == 0:
            return
        if learners.is_graded:
            outputs = np.moveaxis(learners.outputs(X), 0, -1)
            self._graded |= zip(ids.tolist(), np.ascontiguousarray(outputs))
            return
        self._know(ids)
        packed = _packed_outputs(learners, X)
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
        for learner in ids.tolist():
            self._graded.pop(learner, None)
        self._know(ids)
        rows = self._row_of[ids]
        self._free = np.concatenate([rows[rows >= 0], self._free])
        self._row_of[ids] = -1

    def move(self, ids, score_index, steps) -> None:
        """Add ``steps[e]`` times the outputs of learner ``ids[e]`` to score ``score_index[e]``."""
        graded = np.isin(ids, list(self._graded)) if self._graded else np.zeros(len(ids), bool)
        for learner, score, step in zip(ids[graded], score_index[graded], steps[graded]):
            outputs = self._graded[int(learner)]  # of the last scores
            self._moved[score, : self._n_samples] += step * outputs[score - len(self._moved)]
        if not graded.all():
            voters, rest = ids[~graded], ~graded
            add_votes(
                self._packed, self._row_of[voters], score_index[rest], steps[rest], self._moved
            )

    def shift(self, offset) -> None:
        """Add ``offset[s]`` to score s of every example."""
        self._moved += np.asarray(offset)[:, None]


def _packed_outputs(learners: WeakLearners, X) -> np.ndarray:
    """Return outputs as packed bits (see `pack_outputs`), computed in chunks of examples."""
    n_samples = X.shape[0]
    packed = np.empty((len(learners), -(-n_samples // 8)), np.uint8)
    rows = max(8, CELLS_A_CHUNK // len(learners) // 8 * 8)
    for start in range(0, n_samples, rows):
        positive = learners.outputs(X[start : start + rows]) > 0
        part = np.packbits(positive.T, axis=1, bitorder="little")
        packed[:, start // 8 : start // 8 + part.shape[1]] = part
    return packed
