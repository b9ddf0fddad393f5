"""Early stopping: when to end training, and which rounds the model keeps."""

from math import ceil

import numpy as np

from cwboost.calibration.metrics import Metric

LEAST_PATIENCE, PATIENCE_AT_FULL_STEP = 20, 15.0
"""With "auto", patience is the larger of the first and the second divided by the learning rate."""


class EarlyStopping:
    """Stops when a measure on held-out examples has not improved for `patience` rounds.

    It was best at the `best_round`, from 1. The model keeps the rounds up to `kept_round`, the last
    at which it was within the metric's tolerance of the best so far.
    """

    stop_reason = "early stopping"

    def __init__(self, metric: Metric, patience: int):
        self._sign = -1.0 if metric.greater_is_better else 1.0
        self._factor = 1.0 + metric.tolerance
        self._name, self._patience = f"valid_{metric.name}", patience
        self._best = np.inf
        self.best_round = self.kept_round = 0

    def on_round_end(self, state) -> bool:
        return self.observe(state.latest[self._name], state.round)

    def observe(self, value: float, n_rounds: int) -> bool:
        """Take note of the measure after a round; return True if training should stop."""
        value *= self._sign
        if value < self._best or self.best_round == 0:
            self._best, self.best_round, self.kept_round = value, n_rounds, n_rounds
        elif self._factor > 1.0 and value <= self._best * self._factor:
            self.kept_round = n_rounds
        return n_rounds - self.best_round >= self._patience

    def review(self, history) -> bool:
        """Take note of all rounds so far; return True if training was to stop after the last."""
        stop = False
        for n_rounds, value in enumerate(history[self._name], 1):
            stop = self.observe(value, n_rounds)
        return stop


def patience_for(n_iter_no_change: int | None, learning_rate: float) -> int:
    """Return the rounds of patience for the parameter `n_iter_no_change`, None for "auto"."""
    if n_iter_no_change is None:
        return max(LEAST_PATIENCE, ceil(PATIENCE_AT_FULL_STEP / learning_rate))
    return n_iter_no_change
