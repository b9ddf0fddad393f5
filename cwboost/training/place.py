"""Where a fit trains, and what the recipe measures there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from cwboost.calibration.stopping import EarlyStopping, patience_for
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.init_contract import InitModel
from cwboost.recipe import recipe
from cwboost.recipe.holdout import HoldoutRun
from cwboost.recipe.initial import Start
from cwboost.recipe.parameters import Parameters
from cwboost.recipe.plan import Plan
from cwboost.support.clock import Clock
from cwboost.training.outcome import BoostingOutcome
from cwboost.training.resumption import PreviousFit
from cwboost.training.runner import Runner


class Place(ABC):
    """Where a fit trains: this machine, a worker of a cluster, or partitions of the data."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the training data."""

    @abstractmethod
    def decide(self, clock: Clock) -> Runner:
        """Decide on the training, and return what does its rounds; the clock limits both."""


class Bench(Place):
    """A place where the recipe measures, and where this process trains.

    `previous` is the fitted model that training goes on from, None for a cold start.
    `changes_start` is True if boosting may start from an init model after a holdout run without.
    """

    previous: PreviousFit | None
    changes_start = True

    def __init__(self, parameters: Parameters, previous: PreviousFit | None):
        self._parameters, self.previous = parameters, previous

    def decide(self, clock: Clock) -> Runner:
        start, plan = recipe.decide(self._parameters, self, clock)
        return self.begin(start, plan)

    @abstractmethod
    def begin(self, start: Start, plan: Plan) -> Runner:
        """Return what does the rounds of the training, before the first."""

    def planned_runner(
        self, outcome: type[BoostingOutcome], plan: Plan, *, training, schema, **facts: Any
    ) -> Runner:
        """Return what does the rounds of a training; `facts` are other fields of its outcome."""
        parameters, stopping = self._parameters, None
        if plan.metric is not None:
            patience = patience_for(parameters.n_iter_no_change, plan.learning_rate)
            stopping = EarlyStopping(plan.metric, patience)
        return Runner(
            training=training,
            n_rounds=max(plan.n_rounds, training.n_rounds),
            outcome=outcome(
                training=training,
                schema=replace(schema, family=plan.family),
                parameters=parameters,
                plan=plan,
                early_stopping=stopping,
                **facts,
            ),
            callbacks=list(parameters.callbacks),
            early_stopping=stopping,
            score=parameters.score,
        )

    # ---------------------------------------------------------------- what the recipe measures

    @property
    @abstractmethod
    def has_validation(self) -> bool:
        """True if held-out examples can stop training and fit the scale of the probabilities."""

    @property
    @abstractmethod
    def is_elsewhere(self) -> bool:
        """True if training goes on from a model that these examples alone may not have made."""

    @property
    @abstractmethod
    def n_examples(self) -> int:
        """Number of training examples."""

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Number of classes."""

    @property
    @abstractmethod
    def size(self) -> float:
        """Number of training examples of equal weight that these are worth."""

    @property
    @abstractmethod
    def has_statistics(self) -> bool:
        """True if a column may have target statistics."""

    @abstractmethod
    def init_loss(self, model: InitModel, n: int) -> tuple[float, float]:
        """Return log losses on a sample of `n` examples; see `InitFitter.sample_loss`."""

    @abstractmethod
    def start(self, model: InitModel | None) -> Start:
        """Return the start of boosting from an init model, or that of the previous fit."""

    @abstractmethod
    def holdout(
        self, family: WeakLearnerFamily, start: Start, learning_rate: float, encoding: str
    ) -> AbstractContextManager[HoldoutRun | None]:
        """Provide a holdout run from a start, None if no class has an example to spare."""
