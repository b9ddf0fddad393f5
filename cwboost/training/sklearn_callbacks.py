"""Callbacks of scikit-learn, from its version 1.9 on: a fit is a task, with one task per round."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _managed
except ImportError:  # scikit-learn before 1.9, where nothing sets callbacks

    class CallbackSupportMixin:
        """Stands for the mixin of scikit-learn."""

    def _managed(method):
        return method


MethodT = TypeVar("MethodT", bound=Callable[..., Any])

with_callbacks: Callable[[MethodT], MethodT] = _managed
"""Decorates `fit`, so that scikit-learn tears its callbacks down at the end."""


def fit_task(estimator, X, y) -> FitTask | None:
    """Return the task of a fit, None without callbacks of scikit-learn.

    Call this before anything in `fit` can fail, so that scikit-learn finds what to tear down.
    """
    return FitTask(estimator, X, y) if hasattr(estimator, "_skl_callbacks") else None


class FitTask:
    """The scikit-learn callback task of a fit of X, y: a callback of its rounds."""

    def __init__(self, estimator, X, y):
        self._task: dict[str, Any] = {"estimator": estimator, "X": X, "y": y}
        self._fit = estimator._init_callback_context(max_subtasks=None)
        self._runner: Any = None
        self._round: Any = None

    def begin(self, runner) -> None:
        """Begin the rounds of a `Runner`, of which this becomes a callback."""
        self._runner = runner
        self._fit.max_subtasks = runner.n_rounds - runner.training.n_rounds
        self._fit.call_on_fit_task_begin(**self._task)
        runner.callbacks.append(self)
        self._begin_round()

    def on_round_end(self, state) -> bool:
        """End the task of a round; return whether a callback wants to stop."""
        stops = self._round.call_on_fit_task_end(
            reconstruction_attributes=partial(self._runner.outcome.attributes, "callback"),
            **self._task,
        )
        if not stops and state.round < state.n_rounds:
            self._begin_round()
        return stops

    def end(self) -> None:
        """End the task of the fit."""
        self._fit.call_on_fit_task_end(reconstruction_attributes=dict, **self._task)

    def _begin_round(self) -> None:
        if self._fit.max_subtasks:
            self._round = self._fit.subcontext(task_name="round")
            self._round.call_on_fit_task_begin(**self._task)
