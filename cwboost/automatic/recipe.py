"""The recipe: where boosting starts, how long it goes on, and the scale of the probabilities.

What the parameters leave open is decided by holdout runs: trainings in which a fifth of the
examples has next to no weight, on small data a few such trainings together. `decide` reads the
parameters and what a bench measures; nothing else of the data decides.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np

from cwboost.automatic import constants as at
from cwboost.conformity import Conformity
from cwboost.estimator.held_out.calibration import LOSS_SCALE, scale_and_loss
from cwboost.estimator.held_out.metrics import LOGLOSS
from cwboost.estimator.holdout import HoldoutRun
from cwboost.estimator.initial import Start
from cwboost.estimator.parameters import Parameters
from cwboost.estimator.plan import HoldoutCurve, Plan
from cwboost.families.init_models import resolve_init

__all__ = ["decide", "follow"]


def decide(wanted: Parameters, bench) -> tuple[Start, Plan]:
    """Return where boosting starts, and the plan of a training.

    `bench` is a `cwboost.estimator.bench.Bench`, or has its methods.
    """
    stagewise = wanted.settings.stagewise
    chooses_rounds = stagewise and wanted.n_estimators is None and wanted.early_stopping is None
    start, plan = _first_plan(wanted, bench)
    if bench.has_validation:
        return start, replace(plan, watched=LOGLOSS) if chooses_rounds else plan
    fits_scale = wanted.probability_scale is None
    if not chooses_rounds and not (fits_scale and stagewise and plan.n_rounds >= at.FEWEST_ROUNDS):
        return start, plan
    curve = holdout_curve(bench, start, plan, chooses_rounds)
    if curve is None:
        return start, plan
    if chooses_rounds:
        if _may_drop(wanted, bench, start):
            start, curve, plan = _better_start(bench, start, curve, plan)
        plan = _with_rounds(plan, curve, wanted.learning_rate is None)
    plan = replace(plan, curve=curve)
    if not fits_scale:
        return start, plan
    likely = {"scale": curve.kept_scale, "conformity": curve.conformity}
    return start, plan.because("scale", "most likely on the examples left out", **likely)


def _first_plan(wanted: Parameters, bench) -> tuple[Start, Plan]:
    """Return what can be decided without a holdout run."""
    rate = wanted.settings.learning_rate
    if wanted.n_estimators is not None:
        n_rounds, why = wanted.n_estimators, "given"
    elif wanted.settings.stagewise:
        n_rounds, why = ceil(at.MOST_LENGTH / rate), f"{at.MOST_LENGTH:g} / learning_rate"
    else:
        n_rounds, why = at.ROUNDS, "the default of total correction"
    scale, why_scale = wanted.probability_scale, "given"
    if scale is None:
        scale, why_scale = LOSS_SCALE, "the inverse of the loss"
    start, why_init = _first_start(wanted, bench)
    plan = Plan(
        n_rounds=n_rounds,
        learning_rate=rate,
        scale=scale,
        init=None if start.base is None else start.base.model.name,
        watched=wanted.early_stopping,
        reasons={"n_rounds": why, "scale": why_scale, "init": why_init},
    )
    return start, plan


def _first_start(wanted: Parameters, bench) -> tuple[Start, str]:
    """Return the start to try first, and why."""
    if bench.previous is not None:
        return bench.start(None), "that of the fitted model"
    constraints = " and ".join(wanted.constraints)
    if not _is_auto(wanted.init):
        model = resolve_init(wanted.init)
        if model is not None and constraints:
            raise ValueError(
                f"init must be 'auto' or None with {constraints}, since an init model keeps no "
                f"constraints, got {wanted.init!r}"
            )
        return bench.start(model), "given"
    if constraints:
        return Start(), f"an init model would not keep {constraints}"
    if not wanted.settings.stagewise:
        return Start(), "the method of the paper, correction='total', starts from zero"
    model = resolve_init(at.DEFAULT_INIT)
    loss, of_shares = bench.init_loss(model, at.SAMPLE)
    reason = f"log loss {loss:.4g} on a sample, {of_shares:.4g} by the class shares"
    is_worth_it = loss < at.MOST_LOSS_LEFT * of_shares
    return (bench.start(model) if is_worth_it else Start()), reason


def _is_auto(init) -> bool:
    return isinstance(init, str) and init == "auto"


def _may_drop(wanted: Parameters, bench, start: Start) -> bool:
    """Return True if boosting may start from zero in place of base scores."""
    return _is_auto(wanted.init) and start.base is not None and bench.previous is None


def _better_start(bench, start: Start, curve: HoldoutCurve, plan: Plan):
    """Return the start, its curve and the plan: from zero if that run ends lower.

    Trees may have to undo what the base scores get wrong.
    """
    from_zero = holdout_curve(bench, Start(), plan, chooses_rounds=True)
    if from_zero is None:
        return start, curve, plan
    losses = f"holdout log loss {curve.kept_loss:.4g}, {from_zero.kept_loss:.4g} from zero"
    if from_zero.kept_loss >= curve.kept_loss:
        return start, curve, plan.because("init", losses)
    return Start(), from_zero, plan.because("init", losses, init=None)


def _with_rounds(plan: Plan, curve: HoldoutCurve, may_shorten_steps: bool) -> Plan:
    """Return the plan with the rounds that a holdout run found best.

    If these are few, more of them take smaller steps, of the same length in all.
    """
    best = min(plan.n_rounds, round(curve.kept_rounds / curve.ratio))
    n_rounds, rate = best, plan.learning_rate
    if may_shorten_steps:
        n_rounds = max(best, min(at.ENOUGH_ROUNDS, at.MOST_TIMES * best))
        rate *= best / n_rounds
    reason = f"lowest holdout log loss after {best} rounds of learning rate {plan.learning_rate:g}"
    return plan.because("n_rounds", reason, n_rounds=n_rounds, learning_rate=rate)


def holdout_curve(bench, start: Start, plan: Plan, chooses_rounds: bool) -> HoldoutCurve | None:
    """Return what a holdout run from a start finds, None if there can be none.

    Its steps are longer than those of the training, and its rounds fewer accordingly.
    """
    rate = plan.learning_rate
    longer = max(rate, min(at.LONGER_STEPS * rate, at.LONGEST_STEP))
    most = ceil(plan.n_rounds * (rate / longer))
    with bench.holdout(start, longer) as run:
        if run is None:
            return None
        patience = ceil(at.PATIENCE / longer) if chooses_rounds else None
        return follow(run, most, rate / longer, patience)


def follow(run: HoldoutRun, most: int, ratio: float, patience: int | None) -> HoldoutCurve | None:
    """Do up to `most` rounds of a holdout run; return its curve, None if no round could be done.

    With `patience`, the run ends when so many rounds have lowered the log loss too little, and the
    training is to reach the last round that is close to the lowest one. Without, only the last
    round is measured.
    """
    rounds, losses, scales, best = [], [], [], [np.inf]
    kept, kept_scores = 0, None

    def measure(scores) -> float:
        before = scales[-1] if scales else LOSS_SCALE
        scale, loss = scale_and_loss(scores, run.y, run.weight, before)
        rounds.append(run.n_rounds)
        scales.append(scale)
        losses.append(loss)
        return loss

    while run.n_rounds < most and run.round():
        if patience is None:
            continue
        scores = run.scores()
        loss = measure(scores)
        best.append(min(loss, best[-1]))
        if loss <= (1.0 + LOGLOSS.tolerance) * best[-1]:
            kept, kept_scores = len(losses) - 1, scores
        if best[-1] >= (1.0 - at.LEAST_FALL) * best[-patience - 1 :][0]:
            break
    if not run.n_rounds:
        return None
    if kept_scores is None:
        kept_scores = run.scores()
        measure(kept_scores)
    return HoldoutCurve(
        rounds=np.array(rounds),
        loss=np.array(losses),
        scale=np.array(scales),
        ratio=ratio,
        kept=kept,
        conformity=Conformity.of(scales[kept] * kept_scores, run.y, run.weight),
    )
