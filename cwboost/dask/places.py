"""The places of a fit on a cluster: one worker, or the partitions on all of them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Integral
from typing import Any

import numpy as np

from cwboost.calibration.calibration import LeftOut
from cwboost.dask.actors import ActorCrew
from cwboost.dask.held_out import PartitionedSets, left_out_master
from cwboost.dask.host import Setup
from cwboost.dask.initial import SharedExamples, sample_of, shared_examples
from cwboost.dask.input.chunks import report
from cwboost.dask.input.collections import most_bytes, sources
from cwboost.dask.input.encoding import columns_of
from cwboost.dask.listing import listing, splits
from cwboost.dask.master import PartitionedMaster
from cwboost.dask.one_worker import Job, following_runner
from cwboost.dask.problem import coordinator_of, described, shared_encoding, shared_problem
from cwboost.dask.training import (
    PartitionedColumnGeneration,
    PartitionedLeafBoosting,
    PartitionedPricer,
)
from cwboost.families.composed.mixed import check_members
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.discovery import distribution_of
from cwboost.families.init_contract import InitModel
from cwboost.families.init_models import resolve_init
from cwboost.families.partitioned import PartitionedFamily
from cwboost.input.checks import generator_of
from cwboost.input.examples import VALID, check_groups
from cwboost.input.reading import Arguments, names_of_set
from cwboost.input.schema import InputSchema
from cwboost.input.splits import Split
from cwboost.recipe.holdout import HoldoutRun
from cwboost.recipe.initial import InitFitter, Start
from cwboost.recipe.parameters import Parameters
from cwboost.recipe.plan import Plan
from cwboost.support.checks import checked_random_state
from cwboost.support.clock import Clock
from cwboost.support.weights import size_of
from cwboost.training.outcome import BoostingOutcome
from cwboost.training.place import Bench, Place
from cwboost.training.resumption import PreviousFit, check_continues
from cwboost.training.runner import Runner


@dataclass(frozen=True, eq=False)
class ClusterData:
    """The data of a fit on the workers of a cluster, and what the partitions share.

    `roles` has the name of each set of held-out examples, by what messages call it.
    """

    crew: ActorCrew
    roles: dict[str, str]
    setup: Setup
    schema: InputSchema


def place_of(
    client, arguments: Arguments, parameters: Parameters, previous: PreviousFit | None
) -> Place:
    """Return the place of a fit on a cluster: one worker if one has room for all data."""
    X, y, weight = arguments.X, arguments.y, arguments.sample_weight
    tasks = sources(X, y, weight, "training", groups=arguments.groups)
    n_training = len(tasks)
    roles = {_role(name): name for name in arguments.held_out()}
    for name, held_out in arguments.held_out().items():
        tasks += sources(*held_out, _role(name), names_of_set(name), first=len(tasks))
    family = parameters.family
    asks_once = isinstance(family, PartitionedFamily) and family.asks_once
    init = None if parameters.chooses_init else resolve_init(parameters.init)
    owners = (distribution_of(type(plugin)) for plugin in (*family.members(), init) if plugin)
    needed = {"cwboost", *(owner[0] for owner in owners if owner)}
    crew = ActorCrew(client, tasks, asks_once, sorted(needed), most_bytes(X))
    try:
        crew.start()
        if not crew.is_whole:
            _refuse(parameters, arguments, crew.place)
        data = _described(crew, roles, n_training, parameters, previous)
        if crew.is_whole:
            return OneWorker(data, parameters, previous)
        return Partitions(data, parameters, previous, arguments.groups is not None)
    except BaseException:
        crew.close()
        raise


def _described(
    crew: ActorCrew,
    roles: dict[str, str],
    n_training: int,
    parameters: Parameters,
    previous: PreviousFit | None,
) -> ClusterData:
    """Let the partitions describe themselves: what they share becomes known."""
    given = parameters.categorical_features
    known = None if previous is None else previous.schema.categories
    found = crew.collect(columns_of, None, given)
    encoding, schema = shared_encoding(found, given, parameters.family, known)
    reports = crew.collect(report, encoding, parameters.family)
    own = {index: reports[index] for index in range(n_training)}
    setup = shared_problem(own, encoding, parameters.settings.C, parameters.class_weight)
    return ClusterData(crew, roles, setup, schema)


class OneWorker(Place):
    """The place of a fit on one worker, which decides and trains while the client follows."""

    def __init__(self, data: ClusterData, parameters: Parameters, previous: PreviousFit | None):
        self._data, self._parameters, self._previous = data, parameters, previous

    def close(self) -> None:
        self._data.crew.close()

    def decide(self, clock: Clock) -> Runner:
        seed, data = self._parameters.random_state, self._data
        if not isinstance(seed, Integral):
            # If the worker is lost, another one begins again with the same seed.
            seed = int(checked_random_state(seed).randint(2**31))
        changed = {"callbacks": [], "verbose": 0, "random_state": seed, "time_limit": clock.left}
        job = Job(
            parameters=replace(self._parameters, **changed),
            previous=self._previous,
            schema=data.schema,
            encoding=data.setup.encoding,
            names=data.roles,
            place=data.crew.place,
        )
        data.crew.train(job)
        return following_runner(data.crew, self._parameters)


class Partitions(Bench):
    """The place of a fit on the partitions of a cluster."""

    def __init__(
        self,
        data: ClusterData,
        parameters: Parameters,
        previous: PreviousFit | None,
        has_groups: bool,
    ):
        super().__init__(parameters, previous)
        crew, setup, family = data.crew, data.setup, parameters.family
        self._crew, self._roles, self._schema = crew, data.roles, data.schema
        self._training = (
            PartitionedLeafBoosting if parameters.divides else PartitionedColumnGeneration
        )
        self._bound: WeakLearnerFamily | None = None
        self._rng = generator_of(parameters.random_state)
        init_rng, self._holdout_rng = self._rng.spawn(2)
        self._init_models = InitFitter(init_rng, parameters.n_threads, self._schema.categorical)
        if previous is not None:
            check_continues(previous, self._schema, setup.classes, {}, parameters.divides)
        self._listed = listing(crew, setup) if has_groups else None
        if self._listed is not None:
            check_groups(self._listed.keys)
        found = crew.collect(described, setup.encoding, setup, family)
        sizes, checksums, descriptions, samples = zip(*(own for _, own in sorted(found.items())))
        self._checksum = zlib.crc32(np.array(checksums).tobytes())
        self._sample = sample_of(samples)
        self._setup = setup = replace(setup, size=size_of(sizes))
        self._coordinator_of = partial(coordinator_of, setup, descriptions, self._schema, self._rng)

    def close(self) -> None:
        self._crew.close()

    @property
    def has_validation(self) -> bool:
        return VALID in self._roles.values()

    @property
    def is_elsewhere(self) -> bool:
        return self.previous is not None and self.previous.model.examples != self._checksum

    @property
    def n_examples(self) -> int:
        return self._setup.n_total

    @property
    def n_classes(self) -> int:
        return len(self._setup.classes)

    @property
    def size(self) -> float:
        return self._setup.size

    has_statistics = changes_start = False

    @cached_property
    def _shared(self) -> SharedExamples:
        """Examples on which the client fits init models."""
        return shared_examples(self._crew, self._setup, self._listed)

    def init_loss(self, model: InitModel, n: int) -> tuple[float, float]:
        return self._init_models.sample_loss(model, self._shared.examples, n)

    def start(self, model: InitModel | None) -> Start:
        if self.previous is None:
            begin, given = self._init_models.start, model
        else:
            begin, given = self._init_models.start_again, self.previous.model.base
        if given is None:
            return Start()
        found = begin(given, self._shared.examples)
        if found.base is None:
            return found
        return replace(found, scores=self._shared.by_partition(found.scores))

    @contextmanager
    def holdout(
        self, family: WeakLearnerFamily, start: Start, learning_rate: float, encoding: str
    ) -> Iterator[HoldoutRun | None]:
        splits, seed = self._splits
        if not splits:
            yield None
            return
        self._bind(family, start)
        settings = self._parameters.settings.of_holdout(learning_rate)
        left_out, base = splits[0].left_out, None if start.base is None else self._setup.base
        setup = replace(self._setup, base=base)
        rng = np.random.default_rng(seed)
        with left_out_master(self._crew, setup, settings, left_out) as (master, y, weight):
            pricer = PartitionedPricer(master, family, rng)
            training = self._training(pricer, master, settings, rng)
            groups, masses = None, setup.masses / setup.class_weight
            if self._listed is not None:
                groups = self._listed.keys[np.isin(self._listed.places, left_out)]
            examples = LeftOut.in_shares(y, weight, masses, groups)
            yield HoldoutRun([training], master.left_out_scores, examples)

    def begin(self, start: Start, plan: Plan) -> Runner:
        parameters, previous = self._parameters, self.previous
        self._bind(plan.family, start)
        if self._setup.base is not None and start.base is None:
            self._crew.ask(("drop_base", ()))
            self._setup = replace(self._setup, base=None)
        settings = parameters.settings.planned(plan.learning_rate, plan.Cs)
        setup, classes = self._setup, self._setup.classes
        master = PartitionedMaster(self._crew, setup, keeps_columns=not settings.stagewise)
        pricer = PartitionedPricer(master, plan.family, self._rng, self._sample)
        held_out = []
        if self._roles:
            held_out.append(PartitionedSets(self._crew, classes, self._roles, plan.metric))
        training = self._training(pricer, master, settings, self._rng, held_out)
        training.is_followed = bool(parameters.callbacks or parameters.verbose)
        if previous is not None:
            training.resume(setup.previous, previous.history)
        return self.planned_runner(
            PartitionedOutcome,
            plan.because("place", self._crew.place),
            training=training,
            schema=self._schema,
            classes=classes,
            base=start.base,
            constraints={},
            examples=None if self.is_elsewhere else self._checksum,
            origin=None,
            statistics=None,
        )

    def _bind(self, family: WeakLearnerFamily, start: Start) -> None:
        """Bind the partitions, at the first call, with the base scores of a start.

        The coordinators of a family's candidates bind alike: another one takes over.
        """
        if family is self._bound:
            return
        self._bound, coordinator = family, self._coordinator_of(family)
        if self._crew.coordinator is None:
            own = {} if start.base is None else start.scores
            previous = None if self.previous is None else self.previous.model.ensemble
            self._setup = replace(
                self._setup,
                coordinator=coordinator,
                base=start.base,
                own_scores=own,
                previous=previous,
            )
            self._crew.bind(self._setup)
        self._crew.coordinator = coordinator

    @cached_property
    def _splits(self) -> tuple[list[Split], int]:
        return splits(self._setup, self._listed, self._holdout_rng)


class PartitionedOutcome(BoostingOutcome):
    """The outcome of training on partitions; it goes on from the coefficients."""

    def attributes(self, stop_reason: str) -> dict[str, Any]:
        self.training.finish()
        return super().attributes(stop_reason)

    def release(self) -> None:
        """Free nothing: the workers have the pair weights."""

    def snapshot(self, estimator):
        """Return a local classifier with all rounds so far, from which it can go on."""
        return super().snapshot(estimator.to_local(fitted=False))


def _refuse(parameters: Parameters, arguments: Arguments, place: str) -> None:
    """Raise an error for what partitions cannot do, which `place` gives the reason for."""
    check_members([parameters.family])
    for name, given in parameters.constraints.items():
        raise ValueError(f"{name} must be None on partitions, got {given!r}: {place}")
    if parameters.category_encoding == "target":
        raise ValueError(f"category_encoding must not be 'target' on partitions: {place}")
    if parameters.cv is not None:
        raise ValueError(f"cv must be None on partitions, got {parameters.cv!r}: {place}")
    if parameters.early_stopping is not None and VALID not in arguments.held_out():
        raise ValueError(f"early_stopping needs X_val and y_val on partitions: {place}")


def _role(name: str) -> str:
    """Return what messages call a set of held-out data."""
    return "held-out" if name == VALID else f"eval_sets[{name!r}]"
