"""Callbacks of scikit-learn, from its version 1.9 on: a fit is a task, with one task per round."""

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


class FitTask:
    """The scikit-learn callback task of a fit of X, y: a callback of the loop over rounds.

    Create it before anything in `fit` can fail, so that scikit-learn finds what to tear down.
    """

    def __init__(self, estimator, X, y):
        self._task: dict[str, Any] = {"estimator": estimator, "X": X, "y": y}
        self._fit = estimator._init_callback_context(max_subtasks=None)
        self._loop: Any = None
        self._round: Any = None

    def begin(self, loop) -> None:
        """Begin the rounds of a loop, of which this becomes a callback."""
        self._loop = loop
        self._fit.max_subtasks = loop.n_rounds - loop.training.n_rounds
        self._fit.call_on_fit_task_begin(**self._task)
        loop.callbacks.append(self)
        self._begin_round()

    def on_round_end(self, state) -> bool:
        """End the task of a round; return whether a callback wants to stop."""
        stops = self._round.call_on_fit_task_end(
            reconstruction_attributes=partial(self._loop.outcome.attributes, "callback"),
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
