"""C by the data: a holdout run of total correction along a path of C, from few columns to many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from cwboost.conformity import Conformity
from cwboost.kernels import log, softmax
from cwboost.recipe import constants as at
from cwboost.recipe.holdout import HoldoutRun
from cwboost.recipe.initial import Start
from cwboost.recipe.parameters import GAP, ONE_SE, Parameters
from cwboost.recipe.plan import HoldoutPath, PathPoint, Plan
from cwboost.support.clock import Clock
from cwboost.support.weights import effective_size


def with_C(parameters: Parameters, bench, start: Start, plan: Plan, clock: Clock) -> Plan:
    """Return the plan with the values of C that the training goes through.

    `bench` is a `cwboost.training.place.Bench`.
    """
    first = parameters.settings.C
    if bench.is_elsewhere:
        C = float(bench.previous.history["C"][-1])
        return plan.because("C", "that of the fitted model", Cs=(C,))
    plan, points = _best_path(parameters, bench, start, plan, clock)
    if not points:
        why = "a value for few coefficients, since no holdout run reached a column"
        return plan.because("C", why, Cs=(first, at.UNMEASURED_C))
    path = HoldoutPath(tuple(points), chosen(points, parameters.max_columns))
    best, exact = points[path.kept], np.isfinite(points[path.kept].gap)
    rules = {None: "the lowest", ONE_SE: "within a standard error of the lowest"}
    rule = rules.get(parameters.max_columns, f"the lowest with at most {parameters.max_columns}")
    size = f"{best.n_nonzero:.0f} coefficients"
    reason = f"holdout log loss is {best.log_loss:.3g} with {size}, {rule}"
    if path.kept == len(points) - 1:
        reason += ", at the end of the path"
    plan = plan.because("C", reason, path=path, Cs=values_of_C(first, best.C))
    within = f"within {GAP:.0%} of the optimum over all weak learners of the family"
    falls = f"after ten rounds in a row that each lower the objective by at most {GAP:.0%}"
    plan = plan.because("rounds_per_C", f"it leaves each {within if exact else falls}")
    if parameters.probability_scale is not None or bench.has_validation:
        return plan
    return plan.because("scale", "the best factor for the rows left out", scale=best.scale)


def _best_path(
    parameters: Parameters, bench, start: Start, plan: Plan, clock: Clock
) -> tuple[Plan, list[PathPoint]]:
    """Return the plan with the encoding of categories whose path ends lower, and its points."""

    def points_with(encoding: str) -> list[PathPoint]:
        with bench.holdout(plan.family, start, 1.0, encoding) as run:
            return [] if run is None else follow_path(run, parameters, plan.n_rounds, clock)

    def loss_of(points: list[PathPoint]) -> float:
        return points[chosen(points, parameters.max_columns)].log_loss if points else np.inf

    points = points_with(plan.encoding)
    is_open = parameters.category_encoding is None and bench.previous is None
    if not (is_open and bench.has_statistics):
        return plan, points
    other = points_with("target")
    loss, other_loss = loss_of(points), loss_of(other)
    other_plan = replace(plan, encoding="target")
    if other_loss < (1.0 - at.LEAST_GAIN) * loss:
        reason = other_plan.lower_than("encoding", other_loss, plan, loss)
        return other_plan.because("encoding", reason), other
    reason = plan.lower_than("encoding", loss, other_plan, other_loss)
    return plan.because("encoding", reason), points


def values_of_C(first: float, last: float) -> tuple[float, ...]:
    """Return the path from one value of C to another; of two on it, both are in it."""
    values = [first]
    while values[-1] < last:
        values.append(first * 2.0 ** (len(values) / at.STEPS_PER_DOUBLING))
    return tuple(values)


def follow_path(
    run: HoldoutRun, parameters: Parameters, most: int, clock: Clock
) -> list[PathPoint]:
    """Return the points of a holdout run at growing C, until its log loss rises.

    Or until there are more columns than are parameters.

    Every value of C begins with the columns and coefficients of the one before. No training does
    more than `most` rounds; the value at which one would, is a point only if it is the first.
    """
    points: list[PathPoint] = []
    most_columns = parameters.max_columns if isinstance(parameters.max_columns, int) else np.inf
    for C in values_of_C(parameters.settings.C, at.LARGEST_C):
        whole = [_solved(training, C, most, clock) for training in run.trainings]
        is_whole = all(whole)
        if run.n_rounds and (is_whole or not points):
            points.append(_measured(run, C))
        if not is_whole or (points and _is_past(points, most_columns)):
            break
    return points


def _is_past(points: list[PathPoint], most_columns: float) -> bool:
    """Return True if no further point will be the choice."""
    last, best = points[-1], min(points, key=lambda point: point.log_loss)
    is_worse = last.log_loss > at.PAST_BEST * best.log_loss and last.C >= 2.0 * best.C
    return is_worse or last.n_nonzero > most_columns


def _solved(training, C: float, most: int, clock: Clock) -> bool:
    """Go on at a value of C until training is over there; return False if it was cut."""
    training.change_C(C)
    while training.n_rounds < most and clock.left > 0:
        if not training.round():
            return True
        training.model.forget_learners()
    return False


def _measured(run: HoldoutRun, C: float) -> PathPoint:
    """Return the point of a path at which the trainings of a run are."""
    latest = [training.model.latest for training in run.trainings]
    scores, left_out = run.scores(), run.left_out
    scale, _ = left_out.scale_and_loss(scores)
    p = softmax(scale * scores)
    losses = -log(np.maximum(p[np.arange(len(left_out.y)), left_out.y], np.finfo(np.float64).tiny))
    loss = np.average(losses, weights=left_out.weight)
    variance = np.average((losses - loss) ** 2, weights=left_out.weight)
    return PathPoint(
        C=C,
        n_nonzero=float(np.mean([one["n_nonzero"] for one in latest])),
        gap=float(np.mean([one["gap"] / one["objective"] for one in latest])),
        error=float(np.average(scores.argmax(axis=1) != left_out.y, weights=left_out.weight)),
        log_loss=float(loss),
        log_loss_se=float(np.sqrt(variance / effective_size(left_out.weight))),
        scale=scale,
        conformity=Conformity.of(scale * scores, left_out.y, left_out.weight),
    )


def chosen(points: list[PathPoint], max_columns: int | str | None) -> int:
    """Return the point of lowest log loss, or the smaller model that `max_columns` asks for.

    "one_se" is the first point within a standard error of the lowest log loss (Breiman, Friedman,
    Olshen and Stone 1984).
    """
    losses = np.array([point.log_loss for point in points])
    if max_columns == ONE_SE:
        best = points[int(losses.argmin())]
        return int(np.argmax(losses <= best.log_loss + best.log_loss_se))
    if max_columns is not None:
        n_nonzero = np.array([point.n_nonzero for point in points])
        losses[n_nonzero > max_columns] = np.inf
    return int(losses.argmin())


def kept_round(history: Mapping[str, np.ndarray], most: int) -> int:
    """Return after how many rounds of a training at most `most` coefficients are left.

    This is the end of a value of C if there is one with as few.
    """
    few = history["n_nonzero"] <= most
    at_ends = few & np.append(history["C"][1:] != history["C"][:-1], True)
    rounds = np.flatnonzero(at_ends if at_ends.any() else few)
    return int(rounds[-1]) + 1 if len(rounds) else 1
