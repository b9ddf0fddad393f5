"""The loop over rounds that every classifier runs: progress, callbacks, interrupts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Protocol

from cwboost.callbacks import ProgressBar

__all__ = ["RoundState", "Training", "train"]


class Training(Protocol):
    """What the loop asks of training in progress.

    Attributes
    ----------
    n_rounds : int
        Rounds done.
    history : dict of lists
        One entry a round in each.
    stop_reason : str or None
        Why `round` returned False.
    """

    n_rounds: int
    history: dict
    stop_reason: str | None

    def round(self) -> bool:
        """One round; False when training is over, whether or not it did a round before."""


@dataclass
class RoundState:
    """What a callback sees at the end of a round.

    Parameters
    ----------
    round : int
        Rounds done, from 1.
    n_rounds : int
        Rounds asked for.
    seconds : float
        Since `fit` began.
    latest : dict of float
        The round's entry of every history array.
    training : Training
        For `CWBoostClassifier` and `MultiBoostClassifier` a `ColumnGeneration`.
    estimator : BoostingClassifier
    snapshot : callable
        Returns a copy of the estimator, fitted with the rounds so far and the state that
        ``warm_start`` goes on from. Raises TypeError for a classifier that has no warm start.
    """

    round: int
    n_rounds: int
    seconds: float
    latest: dict
    training: Training
    estimator: object
    snapshot: Callable[[], object]


def train(
    estimator,
    training: Training,
    callbacks: Sequence,
    keep: Callable[[], None],
    start: float,
    snapshot: Callable[[], object] | None = None,
) -> None:
    """Run the rounds and set ``stop_reason_``; an interrupt keeps those that were finished.

    Parameters
    ----------
    estimator : BoostingClassifier
        Its ``n_estimators`` is the number of rounds, its ``verbose`` shows a progress bar.
    training : Training
    callbacks : sequence
        Objects with ``on_round_end(state)``, called in turn; one that returns True stops
        training. Its attribute ``stop_reason``, where it has one, becomes ``stop_reason_``, else
        "callback" does.
    keep : callable
        Sets the fitted attributes of the estimator.
    start : float
        ``perf_counter()`` when `fit` began.
    snapshot : callable, optional
        What callbacks get as ``state.snapshot``.
    """
    if snapshot is None:
        snapshot = partial(_no_snapshot, estimator)
    tell = partial(_tell, estimator, training, start, snapshot)
    try:
        estimator.stop_reason_ = _run(estimator, training, callbacks, tell)
    except KeyboardInterrupt:
        estimator.stop_reason_ = "interrupted"
        if training.n_rounds:
            keep()
        raise
    keep()


def _no_snapshot(estimator):
    raise TypeError(f"{type(estimator).__name__} has no warm start, hence no checkpoints")


def _run(estimator, training, callbacks, tell) -> str:
    with ProgressBar(estimator.n_estimators, estimator.verbose) as bar:
        listeners = [bar, *callbacks] if estimator.verbose else callbacks
        while training.n_rounds < estimator.n_estimators:
            done = training.n_rounds
            goes_on = training.round()
            if listeners and training.n_rounds > done:
                stopped_by = tell(listeners)
                if goes_on and stopped_by is not None:
                    return getattr(stopped_by, "stop_reason", "callback")
            if not goes_on:
                return training.stop_reason
    return "n_estimators"


def _tell(estimator, training, start, snapshot, callbacks):
    """Tell every callback of a round; the first that wants to stop, or None."""
    state = RoundState(
        round=training.n_rounds,
        n_rounds=estimator.n_estimators,
        seconds=perf_counter() - start,
        latest={name: values[-1] for name, values in training.history.items()},
        training=training,
        estimator=estimator,
        snapshot=snapshot,
    )
    wants = [callback for callback in callbacks if callback.on_round_end(state)]
    return wants[0] if wants else None
