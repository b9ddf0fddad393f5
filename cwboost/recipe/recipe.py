"""The recipe: where boosting starts, how long it goes on, and the scale of the probabilities.

What the parameters leave open is decided by holdout runs: trainings in which a fifth of the
examples has next to no weight, on small data a few such trainings together. `decide` reads the
parameters and what a bench measures; nothing else of the data decides.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from math import ceil
from time import perf_counter

import numpy as np

from cwboost.calibration.calibration import LOSS_SCALE, UNKNOWN
from cwboost.calibration.metrics import LOGLOSS
from cwboost.conformity import MOST_KEPT, Conformity, own_probability
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.sealing.pricer import candidates_of
from cwboost.recipe import constants as at
from cwboost.recipe.holdout import HoldoutRun
from cwboost.recipe.initial import Start
from cwboost.recipe.parameters import Parameters
from cwboost.recipe.path_of_C import with_C
from cwboost.recipe.plan import Calibration, HoldoutCurve, Plan
from cwboost.recipe.start_choice import FITTED, FirstStart, first_start
from cwboost.support.clock import Clock
from cwboost.support.samples import spaced_by_weight


def decide(parameters: Parameters, bench, clock: Clock) -> tuple[Start, Plan]:
    """Return where boosting starts, and the plan of a training that ends in time.

    `bench` is a `cwboost.training.place.Bench`.
    """
    stagewise = parameters.settings.stagewise
    chooses_rounds = (
        stagewise and parameters.n_estimators is None and parameters.early_stopping is None
    )
    first = first_start(parameters, bench, clock)
    start, plan = first.start, _first_plan(parameters, bench, first)
    fits_scale = parameters.probability_scale is None
    if parameters.chooses_C:
        plan = with_C(parameters, bench, start, plan, clock.part(at.SHARE_OF_TIME))
    if bench.has_validation:
        if fits_scale:
            why = "the held-out rows choose the factor anew after training"
            plan = plan.because("scale", why)
        return start, replace(plan, metric=LOGLOSS) if chooses_rounds else plan
    if not chooses_rounds and not (fits_scale and stagewise and plan.n_rounds >= at.FEWEST_ROUNDS):
        return start, plan
    if bench.is_elsewhere:
        made = "a training on these examples alone is not known to have made"
        if chooses_rounds:
            raise ValueError(
                "n_estimators must be a number, or X_val and y_val given, if warm_start=True goes "
                f"on from a model that {made}, got 'auto'"
            )
        why, scale = f"that of the fitted model, which {made}", bench.previous.model.scale
        return start, plan.because("scale", why, scale=scale)
    for_runs = clock.part(at.SHARE_OF_TIME)
    curve = holdout_curve(bench, start, plan, chooses_rounds, for_runs)
    if curve is None:
        if chooses_rounds:
            left = "no row can" if for_runs.left > 0 else "there is no time to"
            why, few = f"{left} be left out to choose the number", at.FEWEST_ROUNDS
            plan = plan.because("n_rounds", why, n_rounds=min(plan.n_rounds, few))
        return start, plan
    name = plan.name(parameters.family)
    plan = replace(plan, curves={name: curve}, leader=name)
    if chooses_rounds:
        if bench.previous is None and not curve.is_cut:
            start, plan = _race(parameters, bench, first, plan, for_runs)
        plan = _with_rounds(plan, parameters.learning_rate is None, clock.left)
    if not fits_scale:
        return start, plan
    (likely,) = plan.curve.at([plan.curve.kept_length])
    return start, plan.because("scale", "the best factor for the rows left out", scale=likely.scale)


def _first_plan(parameters: Parameters, bench, first: FirstStart) -> Plan:
    """Return what can be decided without a holdout run."""
    rate = parameters.settings.learning_rate
    if parameters.n_estimators is not None:
        n_rounds, why = parameters.n_estimators, "as given"
    elif parameters.settings.stagewise:
        n_rounds = ceil(at.MOST_LENGTH / rate)
        why = f"their learning rates may sum up to {at.MOST_LENGTH:g}"
    else:
        n_rounds = at.PATH_ROUNDS if parameters.chooses_C else at.ROUNDS
        why = "the default of correction='total'"
    scale, why_scale = parameters.probability_scale, "as given"
    if scale is None:
        scale, why_scale = LOSS_SCALE, "the factor that the loss of training implies"
    encoding, why_encoding = _first_encoding(parameters, bench)
    family, why_family = _first_family(parameters, bench)
    reasons = {"init": first.reason, "encoding": why_encoding, "family": why_family}
    reasons |= {"n_rounds": why, "scale": why_scale}
    return Plan(
        family=family,
        size=bench.size,
        n_rounds=n_rounds,
        learning_rate=rate,
        scale=scale,
        init=first.start.name,
        encoding=encoding,
        metric=parameters.early_stopping,
        reasons={name: reason for name, reason in reasons.items() if reason},
    )


def _first_family(parameters: Parameters, bench) -> tuple[WeakLearnerFamily, str]:
    """Return the family of the parameters, or its candidate that training goes on with, and why."""
    given = parameters.family
    if bench.previous is None:
        return given, "nothing else was tried"
    before = bench.previous.schema.family.get_params()
    for candidate in candidates_of(given, bench.size):
        if candidate.get_params() == before:
            return candidate, FITTED
    return given, "as given"


def _first_encoding(parameters: Parameters, bench) -> tuple[str, str]:
    """Return how categories are compared, and why; without a reason if it is the only way."""
    if bench.previous is not None:
        has_statistics = bench.previous.model.statistics is not None
        return ("target", FITTED) if has_statistics else ("rank", FITTED * bench.has_statistics)
    if not bench.has_statistics:
        return "rank", ""
    if parameters.category_encoding is None:
        return "rank", "no holdout run chose"
    return parameters.category_encoding, "as given"


def _race(
    parameters: Parameters, bench, first: FirstStart, plan: Plan, clock: Clock
) -> tuple[Start, Plan]:
    """Return the start and the plan of the candidate whose holdout run ends lowest.

    A challenger differs from the leader in one choice, and takes its place if it ends lower by
    `LEAST_GAIN`. All runs leave out the same examples and share bins and draws. One that falls too
    slowly to reach the leader ends early.
    """
    start = first.start
    # The start comes last: beside one, a family that finds interactions would not be seen.
    for what in ("encoding", "family", "init"):
        for value in _alternatives(what, parameters, bench, first, plan):
            own, goal = start, plan.curve.kept_loss
            if what == "init":
                own, value = value, value.name
            challenger = replace(plan, **{what: value})
            curve = holdout_curve(bench, own, challenger, True, clock, goal)
            if curve is None or curve.is_cut:
                return start, plan
            name = challenger.name(parameters.family)
            curves = {**plan.curves, name: curve}
            if curve.kept_loss < (1.0 - at.LEAST_GAIN) * goal:
                reason = challenger.lower_than(what, curve.kept_loss, plan, goal)
                start, plan = own, replace(challenger, leader=name)
            else:
                reason = plan.lower_than(what, goal, challenger, curve.kept_loss)
            plan = plan.because(what, reason, curves=curves)
    return start, plan


def _alternatives(
    what: str, parameters: Parameters, bench, first: FirstStart, plan: Plan
) -> Iterable:
    """Return what may take the place of one choice of the leader."""
    if what == "family":
        return candidates_of(plan.family, bench.size)
    if what == "init":
        return first.challengers(bench, plan.curve.kept_loss)
    chooses_encoding = parameters.category_encoding is None and bench.has_statistics
    return ["target"] if chooses_encoding else []


def _with_rounds(plan: Plan, may_change_steps: bool, seconds_left: float) -> Plan:
    """Return the plan with the rounds that its holdout run found best.

    If these are few, more of them take smaller steps, of the same length in all; if they are more
    than there is time for, fewer take longer steps.
    """
    curve, rate = plan.curve, plan.learning_rate
    best = n_rounds = max(1, min(plan.n_rounds, round(curve.kept_length / rate)))
    reason = f"holdout log loss is {curve.kept_loss:.3g} after {best} rounds of {rate:g}"
    reason += ", when the time limit ended the run" if curve.is_cut else " and hardly falls later"
    if may_change_steps:
        n_rounds = max(best, min(at.ENOUGH_ROUNDS, at.MOST_TIMES * best))
        fewest = ceil(best * rate / at.LONGEST_STEP)
        n_rounds = max(fewest, int(min(n_rounds, seconds_left / curve.seconds)))
        rate *= best / n_rounds
        if n_rounds > best:
            reason += "; more, smaller steps of the same sum average out noise"
        elif n_rounds < best:
            reason += "; the time limit allows fewer, longer steps of the same sum"
    return plan.because("n_rounds", reason, n_rounds=n_rounds, learning_rate=rate)


def holdout_curve(
    bench, start: Start, plan: Plan, chooses_rounds: bool, clock: Clock, goal: float = np.inf
) -> HoldoutCurve | None:
    """Return what a holdout run from a start finds, None if there can be none.

    It is to end below the `goal`. Its steps are longer than those of the training, and its rounds
    fewer accordingly.
    """
    if clock.left <= 0:
        return None
    rate = plan.learning_rate
    longer = max(rate, at.LONGEST_STEP)
    most = ceil(plan.n_rounds * (rate / longer))
    with bench.holdout(plan.family, start, longer, plan.encoding) as run:
        if run is None:
            return None
        patience = ceil(at.PATIENCE / longer) if chooses_rounds else None
        return follow(run, most, longer, patience, clock, goal)


def follow(
    run: HoldoutRun,
    most: int,
    rate: float,
    patience: int | None,
    clock: Clock,
    goal: float = np.inf,
) -> HoldoutCurve | None:
    """Do up to `most` rounds of a holdout run; return its curve, None if no round could be done.

    With `patience`, the run ends when this number of rounds has lowered the log loss too little,
    when the loss is further from the `goal` than twice what these rounds have lowered it, or when
    all examples together have less of it than the row of unknown class that `LeftOut` counts with
    them. The training is to reach the last round that is close to the lowest loss, by what has been
    learned if that is little; the first one if all examples have learned less than that row.
    Without, the training is to reach the last round. The limit of the clock cuts the run.
    """
    began, best, kept, kept_scores, due = perf_counter(), [np.inf], 0, None, 1
    left_out = run.left_out
    of_shares = left_out.loss_of_shares()
    lengths: list[float] = []
    losses: list[float] = []
    scales: list[float] = []
    calibrations: dict[float, Calibration] = {}
    # The others would take memory at every length.
    sample, weight = spaced_by_weight(left_out.weight, MOST_KEPT)
    y = left_out.y[sample]

    def measure(scores) -> None:
        before = scales[-1] if scales else LOSS_SCALE
        scale, loss = left_out.scale_and_loss(scores, before)
        lengths.append(rate * run.n_rounds)
        losses.append(loss)
        scales.append(scale)

    def calibrate(point: int, scores) -> None:
        length, scale = lengths[point], scales[point]
        probability = own_probability(scale * scores[sample], y)
        conformity = partial(Conformity.of_own, probability, y, weight)
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
        learnt = max(0.0, of_shares - best[-1])
        is_close = losses[-1] <= best[-1] + LOGLOSS.tolerance * min(best[-1], learnt)
        if kept_scores is None or (is_close and learnt * left_out.n_known > UNKNOWN):
            kept, kept_scores = len(losses) - 1, scores
        waits = patience if learnt > at.LITTLE_LEARNT * of_shares else at.ON_PLATEAU * patience
        before = best[-waits - 1 :][0]
        is_behind = best[-1] - goal > 2.0 * (before - best[-1])
        is_solved = best[-1] * left_out.n_known < UNKNOWN
        if is_behind or is_solved or best[-1] >= (1.0 - at.LEAST_FALL) * before:
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
