"""Following a holdout run: its log loss by length, and what calibrates models of each length."""

from math import ceil
from time import perf_counter

import numpy as np

from cwboost.automatic import constants as at
from cwboost.conformity import Conformity
from cwboost.estimator.clock import Clock
from cwboost.estimator.held_out.calibration import LOSS_SCALE, scale_and_loss
from cwboost.estimator.held_out.metrics import LOGLOSS
from cwboost.estimator.holdout import HoldoutRun
from cwboost.estimator.plan import Calibration, HoldoutCurve


class _Measured:
    """What was measured of a run so far, whose rounds have a learning rate."""

    def __init__(self, run: HoldoutRun, rate: float):
        self._run, self._rate = run, rate
        self.rounds: list[int] = []
        self.losses: list[float] = []
        self.scales: list[float] = []
        self.calibrations: dict[float, Calibration] = {}

    def add(self, scores) -> float:
        """Measure the scores after the last round; return their log loss."""
        before = self.scales[-1] if self.scales else LOSS_SCALE
        scale, loss = scale_and_loss(scores, self._run.y, self._run.weight, before)
        self.rounds.append(self._run.n_rounds)
        self.scales.append(scale)
        self.losses.append(loss)
        return loss

    def calibrate(self, point: int, scores) -> None:
        """Keep what calibrates a model of the length of a point, of these scores."""
        length, scale = self._rate * self.rounds[point], self.scales[point]
        conformity = Conformity.of(scale * scores, self._run.y, self._run.weight)
        self.calibrations[length] = Calibration(length, scale, conformity)

    def curve(self, kept: int, seconds: float, is_cut: bool) -> HoldoutCurve:
        return HoldoutCurve(
            length=self._rate * np.array(self.rounds),
            loss=np.array(self.losses),
            scale=np.array(self.scales),
            kept=kept,
            calibrations=tuple(self.calibrations[length] for length in sorted(self.calibrations)),
            seconds=seconds,
            is_cut=is_cut,
        )


def follow(
    run: HoldoutRun, most: int, rate: float, patience: int | None, clock: Clock
) -> HoldoutCurve | None:
    """Do up to `most` rounds of a holdout run; return its curve, None if no round could be done.

    With `patience`, the run ends when this number of rounds has lowered the log loss too little,
    and the training is to reach the last round that is close to the lowest one. Without, it is to
    reach the last round. The limit of the clock cuts the run.
    """
    found, began = _Measured(run, rate), perf_counter()
    best, kept, kept_scores, due = [np.inf], 0, None, 1
    while run.n_rounds < most and clock.left > 0 and run.round():
        if patience is None and run.n_rounds < due:
            continue
        scores = run.scores()
        loss = found.add(scores)
        if run.n_rounds >= due:
            found.calibrate(-1, scores)
            due = ceil(at.CLOSE * run.n_rounds)
        if patience is None:
            continue
        best.append(min(loss, best[-1]))
        if loss <= (1.0 + LOGLOSS.tolerance) * best[-1]:
            kept, kept_scores = len(found.losses) - 1, scores
        if best[-1] >= (1.0 - at.LEAST_FALL) * best[-patience - 1 :][0]:
            break
    if not run.n_rounds:
        return None
    if kept_scores is None:
        kept_scores = run.scores()
        found.add(kept_scores)
        kept = len(found.losses) - 1
    found.calibrate(kept, kept_scores)
    pace = (perf_counter() - began) / (run.n_rounds * len(run.trainings))
    return found.curve(kept, pace, is_cut=clock.left <= 0)
