"""Early stopping: when to end training, and which rounds the model keeps."""

from __future__ import annotations

import numpy as np

from cwboost.estimator.held_out.scores import HeldOutScores

__all__ = ["EarlyStopping"]


class EarlyStopping:
    """Stops when a measure on held-out examples has not improved for a number of rounds.

    Parameters
    ----------
    scores : HeldOutScores
    measure : {"error", "loss"}
    patience : int
        Rounds without a new minimum after which to stop.

    Attributes
    ----------
    best_round : int
        The first round (from 1) at which the measure was smallest.
    """

    stop_reason = "early stopping"

    def __init__(self, scores: HeldOutScores, measure: str, patience: int):
        self._scores, self._measure, self._patience = scores, measure, patience
        self._best = np.inf
        self.best_round = 0

    def on_round_end(self, state) -> bool:
        value = getattr(self._scores, self._measure)
        if value < self._best:
            self._best, self.best_round = value, state.round
        return state.round - self.best_round >= self._patience

    def state(self) -> dict:
        """Return what `restore` needs to continue from here."""
        return {"best": self._best, "best_round": self.best_round}

    def restore(self, state: dict) -> None:
        """Continue from the result of `state`."""
        self._best, self.best_round = float(state["best"]), int(state["best_round"])
