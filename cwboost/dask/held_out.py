"""Held-out examples on the workers, followed round by round."""

from __future__ import annotations

import numpy as np

from cwboost.dask.master import sum_in_order
from cwboost.estimator.held_out.calibration import fit_scale

__all__ = ["PartitionedHeldOut"]


class PartitionedHeldOut:
    """Stands for `HeldOutScores` where the held-out examples are divided into partitions.

    Parameters
    ----------
    crew : Crew
    n_classes : int

    Attributes
    ----------
    error, loss : float
        As of `HeldOutScores`.
    """

    def __init__(self, crew, n_classes):
        self._crew, self._n_classes = crew, n_classes
        self._new: list = []
        self._n_learners = 0
        self.error = self.loss = np.nan

    def add(self, learners) -> None:
        """Note new learners; their outputs are computed with the next move."""
        ids = np.arange(self._n_learners, self._n_learners + len(learners))
        self._n_learners += len(learners)
        self._new.append((learners, ids))

    def move(self, ids, score_index, differences, offset=None) -> float:
        """Follow changed coefficients and return the error; see `HeldOutScores.move`."""
        new, self._new = [batch for batch in self._new if len(batch[1])], []
        nothing = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        rounds = [("follow", (*batch, *nothing)) for batch in new[:-1]]
        last = new[-1] if new else (None, nothing[0])
        moved = np.asarray(ids), np.asarray(score_index), np.asarray(differences)
        *_, parts = self._crew.ask(*rounds, ("follow", (*last, *moved)))
        errors, loss, n_samples = sum_in_order(parts)
        self.error = float(errors / n_samples)
        self.loss = float(loss / (n_samples * (self._n_classes - 1)))
        return self.error

    def scale(self, ensemble) -> float:
        """Return the scale of the probabilities of `ensemble`, fitted on these examples."""
        (parts,) = self._crew.ask(("scores", (ensemble,)))
        scores = np.concatenate([scores for scores, _ in parts])
        return fit_scale(scores, np.concatenate([y for _, y in parts]))
