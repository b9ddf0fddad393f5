"""A fit on one worker, for data that fit there: that of one machine, which the client follows."""

from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, replace
from time import perf_counter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from cwboost.dask.crew import PartitionsLost
from cwboost.dask.input.chunks import Chunk, checked, joined, joined_set, named
from cwboost.dask.input.encoding import Encoding
from cwboost.input.examples import Examples, sort_by_class
from cwboost.input.labels import encode_labels
from cwboost.input.schema import InputSchema
from cwboost.kernels import usable_threads
from cwboost.recipe import recipe
from cwboost.recipe.parameters import Parameters
from cwboost.support.clock import Clock
from cwboost.training.one_machine import OneMachine
from cwboost.training.resumption import PreviousFit
from cwboost.training.runner import Runner

SLICE_SECONDS = 1.0
"""Time of the rounds that the client lets the worker do at once: an interrupt waits as long."""

REPORT_SECONDS = 10.0
"""Interval at which the client gets the model, to keep it if no worker is left: at least 20 times
as long as the model takes."""


@dataclass(frozen=True, eq=False)
class Job:
    """What the worker is to do: the arguments of `OneMachine`, without the examples.

    `names` has the name of each set of held-out examples, by its role, and `place` is the reason
    why one worker trains.
    """

    parameters: Parameters
    previous: PreviousFit | None
    schema: InputSchema
    encoding: Encoding
    names: dict[str, str]
    place: str


class Progress(NamedTuple):
    """What the client gets of the training after some rounds; `attributes` now and then."""

    n_rounds: int
    most: int
    mean_loss: float
    latest: dict[str, float]
    stop_reason: str | None
    attributes: dict[str, Any] | None


class WorkerFit:
    """The fit on the worker that holds all chunks, which it lets go of."""

    def __init__(self, chunks: dict[int, Chunk], job: Job, n_threads: int):
        clock = Clock(perf_counter(), job.parameters.time_limit)
        parameters = replace(job.parameters, n_threads=usable_threads(n_threads))
        with closing(OneMachine(_examples(chunks, job), parameters, job.previous)) as place:
            start, plan = recipe.decide(parameters, place, clock)
            self._runner = place.begin(start, plan.because("place", job.place))
        self._runner.callbacks.append(self)
        self._until, self._end = 0, 0.0
        self._report_due = perf_counter() + REPORT_SECONDS

    stop_reason = "paused"

    def on_round_end(self, state) -> bool:
        """Pause the rounds."""
        return state.round >= self._until or perf_counter() > self._end

    def advance(self, until: int, seconds: float = np.inf) -> Progress:
        """Go on up to a number of rounds, at most for some time."""
        runner, training, now = self._runner, self._runner.training, perf_counter()
        self._until, self._end = until, now + seconds
        reason = self.stop_reason
        if training.n_rounds < until or training.n_rounds >= runner.n_rounds:
            reason, error = runner.run(SimpleNamespace(verbose=0), now)
            if error is not None:
                raise error
        is_open = reason in (self.stop_reason, "n_estimators")
        attributes = None
        if training.n_rounds and (begun := perf_counter()) > self._report_due:
            attributes, end = self.attributes("failed"), perf_counter()
            self._report_due = end + max(REPORT_SECONDS, 20 * (end - begun))
        return Progress(
            n_rounds=training.n_rounds,
            most=runner.n_rounds,
            mean_loss=training.mean_loss,
            latest=training.model.latest if training.n_rounds else {},
            stop_reason=None if is_open else reason,
            attributes=attributes,
        )

    def attributes(self, stop_reason: str) -> dict[str, Any]:
        """Return the fitted attributes after the finished rounds."""
        return self._runner.outcome.attributes(stop_reason)

    def snapshot(self) -> dict[str, Any]:
        """Return the attributes of a model with all rounds so far, from which it can go on."""
        return vars(self._runner.outcome.snapshot(SimpleNamespace()))


def _examples(chunks: dict[int, Chunk], job: Job) -> Examples:
    """Return the examples of all chunks, in their order, which are let go of."""
    parameters, parts = job.parameters, defaultdict(list)
    for index in sorted(chunks):
        chunk = chunks.pop(index)
        if chunk.n_rows:
            with named(index, chunk.role):
                parts[chunk.role].append((index, checked(chunk, job.encoding)))
    own = [chunk for _, chunk in parts.pop("training")]
    X = joined([chunk.X for chunk in own])
    y = np.concatenate([chunk.y for chunk in own])
    weight = np.concatenate([chunk.weights() for chunk in own])
    has_groups = own[0].groups is not None
    groups = np.concatenate([chunk.groups for chunk in own]) if has_groups else None
    del own
    examples = sort_by_class(X, y, weight, parameters.class_weight, groups)
    held_out = {}
    for role, name in job.names.items():
        own = []
        for index, chunk in parts[role]:
            with named(index, role):
                y = encode_labels(chunk.y, examples.classes, weight=chunk.weight)
                own.append((y, chunk.weight))
        rows_of_set = joined_set(role, own)
        held_out[name] = rows_of_set._replace(X=joined([chunk.X for _, chunk in parts[role]]))
    return replace(examples, schema=job.schema, held_out=held_out)


class FollowedTraining:
    """Training on a worker and its outcome, as the client sees them.

    `model` has the history's `latest` entry alone.
    """

    def __init__(self, crew, callbacks: list, is_shown: bool):
        self._crew, self._callbacks, self._is_shown = crew, callbacks, is_shown
        self._reported: dict[str, Any] | None = None
        self._take(0)

    def round(self) -> bool:
        """Let the worker do a round, or several if nobody follows them."""
        is_followed = self._is_shown or bool(self._callbacks)
        self._take(self.n_rounds + 1 if is_followed else self.most)
        return self.stop_reason is None

    def _take(self, until: int) -> None:
        try:
            progress = self._crew.advance(until, SLICE_SECONDS)
        except PartitionsLost:
            self.n_rounds = 0 if self._reported is None else self._reported["n_iter_"]
            raise
        self.n_rounds, self.most = progress.n_rounds, progress.most
        self.mean_loss, self.stop_reason = progress.mean_loss, progress.stop_reason
        self.model = SimpleNamespace(latest=progress.latest, history={})
        self._reported = progress.attributes or self._reported

    def release(self) -> None:
        """Free nothing: the client has none of the training."""

    def attributes(self, stop_reason: str) -> dict[str, Any]:
        """Return the fitted attributes, after the rounds reported last if the worker is lost."""
        if self._crew.is_lost:
            return self._reported
        return self._crew.ask_fit("attributes", stop_reason)

    def snapshot(self, estimator):
        """Return a local classifier with all rounds so far, from which it can go on."""
        snapshot = estimator.to_local(fitted=False)
        snapshot.__dict__.update(self._crew.ask_fit("snapshot"))
        return snapshot


def following_runner(crew, parameters: Parameters) -> Runner:
    """Return the client's view of the rounds of a training on one worker."""
    callbacks = list(parameters.callbacks)
    training = FollowedTraining(crew, callbacks, bool(parameters.verbose))
    return Runner(training, training.most, training, callbacks, score=parameters.score)
