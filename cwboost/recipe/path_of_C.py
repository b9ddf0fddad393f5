"""C by the data: a holdout run of total correction along a path of C, from few columns to many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from cwboost.conformity import Conformity, own_probability
from cwboost.kernels import log
from cwboost.recipe import constants as at
from cwboost.recipe.holdout import HoldoutRun
from cwboost.recipe.initial import Start
from cwboost.recipe.parameters import GAP, ONE_SE, Parameters
from cwboost.recipe.plan import HoldoutPath, PathPoint, Plan
from cwboost.solvers.schedule import MOST_IDLE
from cwboost.support.clock import Clock


def with_C(parameters: Parameters, bench, start: Start, plan: Plan, clock: Clock) -> Plan:
    """Return the plan with the values of C that the training goes through.

    `bench` is a `cwboost.training.place.Bench`.
    """
    first = parameters.settings.C
    if bench.is_elsewhere:
        kept = max(1, bench.previous.model.ensemble.n_rounds)
        C = float(bench.previous.history["C"][kept - 1])
        return plan.because("C", "that of the fitted model", Cs=(C,))
    plan, points = _best_path(parameters, bench, start, plan, clock)
    if not points:
        why = "a value for few coefficients, since no holdout run reached a column"
        return plan.because("C", why, Cs=(first, at.UNMEASURED_C))
    path = HoldoutPath(tuple(points), chosen(points, parameters.max_columns))
    best, exact = points[path.kept], np.isfinite(points[path.kept].gap)
    last_C = best.C
    rules = {
        None: f"the first within {at.PAST_BEST - 1.0:.0%} of the lowest",
        ONE_SE: "the first within a standard error of the lowest",
    }
    rule = rules.get(parameters.max_columns, "the lowest")
    size = f"{best.n_nonzero:.0f} coefficients"
    reason = f"holdout log loss is {best.log_loss:.3g} with {size}, {rule}"
    if path.kept == len(points) - 1:
        reason += ", at the end of the path"
        if parameters.settings.most_columns is not None:
            last_C *= 4.0  # all examples may have fewer columns
    plan = plan.because("C", reason, path=path, Cs=values_of_C(first, last_C))
    within = f"within {GAP:.0%} of the optimum over all weak learners of the family"
    idle = f"after {MOST_IDLE} rounds in a row that gain less than {GAP / MOST_IDLE:.1%} each"
    plan = plan.because("rounds_per_C", f"it leaves each {within if exact else idle}")
    if parameters.probability_scale is not None or bench.has_validation:
        return plan
    return plan.because("scale", "the best factor for the rows left out", scale=best.scale)


def _best_path(
    parameters: Parameters, bench, start: Start, plan: Plan, clock: Clock
) -> tuple[Plan, list[PathPoint]]:
    """Return the plan with the encoding of categories whose path ends lower, and its points."""

    def points_with(encoding: str, rivals: Sequence[PathPoint] = ()) -> list[PathPoint]:
        with bench.holdout(plan.family, start, 1.0, encoding) as run:
            if run is None:
                return []
            return follow_path(run, parameters, plan.n_rounds, clock, rivals)

    def loss_of(points: list[PathPoint]) -> float:
        return points[chosen(points, parameters.max_columns)].log_loss if points else np.inf

    points = points_with(plan.encoding)
    is_open = parameters.category_encoding is None and bench.previous is None
    if not (is_open and bench.has_statistics):
        return plan, points
    other = points_with("target", points)
    loss, other_loss, where = loss_of(points), loss_of(other), ""
    other_plan = replace(plan, encoding="target")
    if other_loss < (1.0 - at.LEAST_GAIN) * loss:
        reason = other_plan.lower_than("encoding", other_loss, plan, loss)
        return other_plan.because("encoding", reason), other
    if other and _is_behind(other[-1], points):
        other_loss, C = other[-1].log_loss, other[-1].C
        loss, where = next(one.log_loss for one in points if one.C == C), f", at C = {C:.4g}"
    reason = plan.lower_than("encoding", loss, other_plan, other_loss)
    return plan.because("encoding", reason + where), points


def values_of_C(first: float, last: float) -> tuple[float, ...]:
    """Return the path from one value of C to another; of two on it, both are in it."""
    values = [first]
    while values[-1] < last:
        values.append(first * 2.0 ** (len(values) / at.STEPS_PER_DOUBLING))
    return tuple(values)


def follow_path(
    run: HoldoutRun,
    parameters: Parameters,
    most: int,
    clock: Clock,
    rivals: Sequence[PathPoint] = (),
) -> list[PathPoint]:
    """Return the points of a holdout run at growing C, until its log loss rises.

    If there are more than `max_columns` before, the last points are those that `next_C` asks for.
    A path that is behind that of its `rivals` ends as well.

    Every value of C begins with the columns and coefficients of the one before. No training does
    more than `most` rounds; the value at which one would, is a point only if it is the first.
    """
    points: list[PathPoint] = []
    Cs = values_of_C(parameters.settings.C, at.LARGEST_C)
    C: float | None = Cs[0]
    while C is not None:
        whole = [_solved(training, C, most, clock) for training in run.trainings]
        is_whole = all(whole)
        if run.n_rounds and (is_whole or not points):
            points.append(_measured(run, C))
        if not is_whole or (points and (_is_past(points) or _is_behind(points[-1], rivals))):
            break
        history = {name: [getattr(point, name) for point in points] for name in ("C", "n_nonzero")}
        C = next_C(history, [later for later in Cs if later > C], parameters.settings.most_columns)
    return sorted(points, key=lambda point: point.C)


def _is_past(points: list[PathPoint]) -> bool:
    """Return True if no further point will be the choice."""
    last, best = points[-1], min(points, key=lambda point: point.log_loss)
    return last.log_loss > at.PAST_BEST * best.log_loss and last.C >= 2.0 * best.C


def _is_behind(point: PathPoint, rivals: Sequence[PathPoint]) -> bool:
    """Return True if the path of a point will not end `LEAST_GAIN` lower than another, `rivals`.

    From a part of the best C on, it must be as much lower at the same C.
    """
    best = min(rivals, key=lambda rival: rival.log_loss, default=point)
    return point.C >= at.JUDGED_FROM * best.C and any(
        rival.C == point.C and point.log_loss > (1.0 - at.LEAST_GAIN) * rival.log_loss
        for rival in rivals
    )


def _solved(training, C: float, most: int, clock: Clock) -> bool:
    """Go on at a value of C until training is over there; return False if it was cut."""
    training.change_C(C)
    while training.n_rounds < most and clock.left > 0:
        if not training.round_at_C():
            return True
        training.model.forget_learners()
    return False


def _measured(run: HoldoutRun, C: float) -> PathPoint:
    """Return the point of a path at which the trainings of a run are."""
    latest = [training.model.latest for training in run.trainings]
    scores, left_out = run.scores(), run.left_out
    scale, _ = left_out.scale_and_loss(scores)
    own = own_probability(scale * scores, left_out.y)
    losses = -log(np.maximum(own, np.finfo(np.float64).tiny))
    loss = np.average(losses, weights=left_out.weight)
    variance = np.average((losses - loss) ** 2, weights=left_out.weight)
    return PathPoint(
        C=C,
        n_nonzero=float(np.mean([one["n_nonzero"] for one in latest])),
        gap=float(np.mean([one["gap"] / one["objective"] for one in latest])),
        error=float(np.average(scores.argmax(axis=1) != left_out.y, weights=left_out.weight)),
        log_loss=float(loss),
        log_loss_se=float(np.sqrt(variance / left_out.n_used)),
        scale=scale,
        conformity=Conformity.of_own(own, left_out.y, left_out.weight),
    )


def chosen(points: list[PathPoint], max_columns: int | str | None) -> int:
    """Return the first point whose log loss is below `PAST_BEST` times the lowest.

    If `max_columns` is "one_se", it is the first one within a standard error of the lowest
    (Breiman, Friedman, Olshen and Stone 1984), and if it is a number, the lowest itself.
    """
    losses = np.array([point.log_loss for point in points])
    best = points[int(losses.argmin())]
    spreads = {None: (at.PAST_BEST - 1.0) * best.log_loss, ONE_SE: best.log_loss_se}
    spread = spreads.get(max_columns, 0.0)
    return int(np.argmax(losses <= best.log_loss + spread))


def next_C(
    history: Mapping[str, Sequence[float]], later: Sequence[float], most: int | None
) -> float | None:
    """Return the value of C that follows those of a training, None if its path ends.

    It is the first of the `later` ones, until a value gives more than `most` columns. Bisection
    then looks for the largest C that gives no more.
    """
    first = later[0] if later else None
    if most is None:
        return first
    _, Cs, n_columns = _ends_of_values(history)
    if not (n_columns > most).any():
        return first
    high = Cs[n_columns > most].min()
    # At half of the first value, no column pays.
    low = Cs[Cs < high].max(initial=0.5 * Cs[0])
    is_full = (n_columns[Cs == low] == most).any()
    return None if is_full or high <= at.CLOSEST_C * low else float(np.sqrt(low * high))


def kept_round(history: Mapping[str, Sequence[float]], most: int) -> int:
    """Return after how many rounds of a training the model has at most `most` columns.

    It is the end of the largest C that gives as few, as all smaller ones do, but not none; else the
    last round with as few, and 0 if there is none.
    """
    rounds, Cs, n_columns = _ends_of_values(history)
    is_kept = (n_columns > 0) & (Cs < Cs[n_columns > most].min(initial=np.inf))
    if is_kept.any():
        return int(rounds[is_kept][Cs[is_kept].argmax()]) + 1
    n_columns = np.array(history["n_nonzero"])
    rounds = np.flatnonzero((n_columns > 0) & (n_columns <= most))
    return int(rounds[-1]) + 1 if len(rounds) else 0


def ended_at(plan: Plan, history: Mapping[str, Sequence[float]], n_rounds: int, most: int) -> Plan:
    """Return the plan of a training that keeps the first rounds, for at most `most` columns."""
    Cs = np.unique(history["C"])
    kept = history["C"][max(1, n_rounds) - 1]
    if kept == Cs[-1]:
        return plan
    reason = f"the largest value that leaves at most {most} coefficients"
    return plan.because("C", reason, Cs=tuple(Cs[Cs <= kept].tolist()))


def _ends_of_values(history: Mapping[str, Sequence[float]]) -> tuple[np.ndarray, ...]:
    """Return the last round at each value of C, the values, and the numbers of columns there."""
    Cs, n_columns = np.array(history["C"]), np.array(history["n_nonzero"])
    rounds = np.flatnonzero(np.append(Cs[1:] != Cs[:-1], len(Cs) > 0))
    return rounds, Cs[rounds], n_columns[rounds]
