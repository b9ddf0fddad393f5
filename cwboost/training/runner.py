"""The rounds of a fit: progress, callbacks, interrupts, and what the estimator keeps of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from cwboost.callbacks import ProgressBar
from cwboost.support.warnings import warn_caller

if TYPE_CHECKING:
    from cwboost.calibration.stopping import EarlyStopping
    from cwboost.training.sklearn_callbacks import FitTask
    from cwboost.training.training import Training


@dataclass
class RoundState:
    """What a callback sees at the end of a round.

    Parameters
    ----------
    round : int
        Finished rounds, from 1.
    n_rounds : int
        Rounds after which training ends at the latest.
    seconds : float
        Time since `fit` began.
    latest : dict of float
        The round's entry of every history array.
    training : Training
        For `CWBoostClassifier` and `MultiBoostClassifier` a `ColumnGeneration`.
    estimator : BoostingClassifier
    snapshot : callable
        Returns a copy of the estimator, fitted with the rounds so far, from which ``warm_start``
        goes on: bit for bit if the fit has ``warm_start`` itself, or a callback with a true
        attribute ``needs_training_state``. Raises TypeError for a classifier without warm start.
    score : str or None
        Name of the scorer by which early stopping stops, with which the names of its arrays in the
        history end; None for a measure that falls as the model improves, or without early stopping.
    """

    round: int
    n_rounds: int
    seconds: float
    latest: dict
    training: Training
    estimator: object
    snapshot: Callable[[], Any]
    score: str | None = None


@dataclass
class Runner:
    """Does the rounds of a training while others watch, and lets an estimator keep them.

    `n_rounds` is the number after which training ends at the latest, `outcome` a `ModelOutcome` or
    what has its methods, and `score` that of `RoundState`.
    After each round `early_stopping`, then `callbacks` are called, as ``on_round_end(state)``. One
    that returns True stops training; its attribute ``stop_reason`` is the reason, else "callback".
    The method ``on_fit_end()``, if there is one, is called however the rounds end.
    """

    training: Any
    n_rounds: int
    outcome: Any
    callbacks: list
    early_stopping: EarlyStopping | None = None
    score: str | None = None

    def __post_init__(self):
        # Not in `run`: what an interrupt leaves half reviewed would not be the best round.
        stopping = self.early_stopping
        self._is_over = stopping is not None and stopping.review(self.training.model.history)

    def train_and_keep(self, estimator, start: float, task: FitTask | None) -> None:
        """Do the rounds of the fit of an estimator, which keeps them, also if an error ended them.

        The fit began at the ``perf_counter()`` of `start`; `task` is that of scikit-learn.
        """
        if task is not None:
            task.begin(self)
        before = self.training.n_rounds
        try:
            stop_reason, error = self.run(estimator, start)
            if stop_reason == "n_estimators" and self.training.n_rounds == before:
                warn_caller(
                    f"warm_start adds no rounds to the {before} of the fitted model, since "
                    "n_estimators asks for no more"
                )
            self._keep(estimator, stop_reason, error)
        except KeyboardInterrupt as interrupt:
            # It came while the model was put together: do that again, then pass it on.
            error = interrupt
            self._keep(estimator, "interrupted", error)
        if error is not None:
            raise error
        if task is not None:
            task.end()

    def _keep(self, estimator, stop_reason: str, error: BaseException | None) -> None:
        """Make the estimator the model of the finished rounds, in one step, if there are any."""
        if error is None or self.training.n_rounds:
            self.outcome.release()
            attributes = self.outcome.attributes(stop_reason)
            estimator.__dict__ = fitted_again(estimator, attributes)

    def run(self, estimator, start: float) -> tuple[str, BaseException | None]:
        """Do the rounds; return why they ended, and what ended them against the training's will.

        Whatever ends them, those that were finished are in `training.model`. Callbacks see the
        `estimator` that is fitted, since the ``perf_counter()`` of `start`.
        """
        try:
            return self._rounds(estimator, start), None
        except BaseException as error:  # such as Ctrl-C or SystemExit
            return "failed" if isinstance(error, Exception) else "interrupted", error

    def _rounds(self, estimator, start: float) -> str:
        """Do the rounds and return why they ended."""
        training = self.training
        if training.stop_reason is not None:
            return training.stop_reason
        if self._is_over:
            return self.early_stopping.stop_reason
        # No bar unless it is shown: it has a destructor all the same, and an interrupt that arrives
        # in a destructor is lost.
        bar = ProgressBar() if estimator.verbose else None
        listeners = [
            each for each in (bar, self.early_stopping, *self.callbacks) if each is not None
        ]
        with ExitStack() as ended:
            for each in listeners:
                if hasattr(each, "on_fit_end"):
                    ended.callback(each.on_fit_end)
            while training.n_rounds < self.n_rounds:
                done = training.n_rounds
                goes_on = training.round()
                if listeners and training.n_rounds > done:
                    state = self._state(estimator, start)
                    stopped_by = [each for each in listeners if each.on_round_end(state)]
                    if goes_on and stopped_by:
                        return getattr(stopped_by[0], "stop_reason", "callback")
                if not goes_on:
                    return training.stop_reason
        return "n_estimators"

    def _state(self, estimator, start: float) -> RoundState:
        return RoundState(
            round=self.training.n_rounds,
            n_rounds=self.n_rounds,
            seconds=perf_counter() - start,
            latest=self.training.model.latest,
            training=self.training,
            estimator=estimator,
            snapshot=partial(self.outcome.snapshot, estimator),
            score=self.score,
        )


def fitted_again(estimator, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator with these in place of those of an earlier fit."""
    return {k: v for k, v in vars(estimator).items() if not is_fitted(k)} | dict(attributes)


def is_fitted(name: str) -> bool:
    """Return True for the name of an attribute that `fit` sets."""
    return name == "_state" or (name.endswith("_") and not name.startswith("_"))
