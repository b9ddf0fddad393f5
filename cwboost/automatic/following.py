"""Following a holdout run: its log loss by length, and what calibrates models of each length."""

from math import ceil
from time import perf_counter

import numpy as np

from cwboost.automatic import constants as at
from cwboost.conformity import MOST_KEPT, Conformity
from cwboost.estimator.clock import Clock
from cwboost.estimator.held_out.calibration import LOSS_SCALE, scale_and_loss
from cwboost.estimator.held_out.metrics import LOGLOSS
from cwboost.estimator.holdout import HoldoutRun
from cwboost.estimator.plan import Calibration, HoldoutCurve
from cwboost.support.samples import spaced_by_weight


def follow(
    run: HoldoutRun, most: int, rate: float, patience: int | None, clock: Clock
) -> HoldoutCurve | None:
    """Do up to `most` rounds of a holdout run; return its curve, None if no round could be done.

    With `patience`, the run ends when this number of rounds has lowered the log loss too little,
    and the training is to reach the last round that is close to the lowest one. Without, it is to
    reach the last round. The limit of the clock cuts the run.
    """
    began, best, kept, kept_scores, due = perf_counter(), [np.inf], 0, None, 1
    lengths: list[float] = []
    losses: list[float] = []
    scales: list[float] = []
    calibrations: dict[float, Calibration] = {}
    # Once: `Conformity.of` would sort all of them at every length. They were drawn at random.
    sample, weight = spaced_by_weight(run.weight, MOST_KEPT)

    def measure(scores) -> None:
        before = scales[-1] if scales else LOSS_SCALE
        scale, loss = scale_and_loss(scores, run.y, run.weight, before)
        lengths.append(rate * run.n_rounds)
        losses.append(loss)
        scales.append(scale)

    def calibrate(point: int, scores) -> None:
        length, scale = lengths[point], scales[point]
        conformity = Conformity.of(scale * scores[sample], run.y[sample], weight)
        calibrations[length] = Calibration(length, scale, conformity)

    while run.n_rounds < most and clock.left > 0 and run.round():
        if patience is None and run.n_rounds < due:
            continue
        scores = run.scores()
        measure(scores)
        if run.n_rounds >= due:
            calibrate(-1, scores)
            due = ceil(at.CLOSE * run.n_rounds)
        if patience is None:
            continue
        best.append(min(losses[-1], best[-1]))
        if losses[-1] <= (1.0 + LOGLOSS.tolerance) * best[-1]:
            kept, kept_scores = len(losses) - 1, scores
        if best[-1] >= (1.0 - at.LEAST_FALL) * best[-patience - 1 :][0]:
            break
    if not run.n_rounds:
        return None
    if kept_scores is None:
        kept, kept_scores = len(losses), run.scores()
        measure(kept_scores)
    calibrate(kept, kept_scores)
    return HoldoutCurve(
        length=np.array(lengths),
        loss=np.array(losses),
        scale=np.array(scales),
        kept=kept,
        calibrations=tuple(own for _, own in sorted(calibrations.items())),
        seconds=(perf_counter() - began) / (run.n_rounds * len(run.trainings)),
        is_cut=clock.left <= 0,
    )
