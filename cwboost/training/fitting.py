"""One call of `fit`, around whatever it does."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

from cwboost.support.clock import Clock
from cwboost.support.warnings import warn_caller
from cwboost.training.rounds import RoundLoop
from cwboost.training.sklearn_callbacks import FitTask


class Fitting:
    """The context of a fit: its clock, and the callbacks that scikit-learn has set.

    An estimator that leaves the context by an error stays the model that it was before, unless
    rounds were finished, which it keeps.
    """

    def __init__(self, estimator, X, y):
        self._estimator, self._start = estimator, perf_counter()
        self._task = FitTask(estimator, X, y) if hasattr(estimator, "_skl_callbacks") else None
        # With what scikit-learn finds there to tear down.
        self._before = dict(vars(estimator))

    def __enter__(self) -> Fitting:
        return self

    def __exit__(self, kind, error, trace) -> None:
        if kind is not None and vars(self._estimator).get("model_") is self._before.get("model_"):
            self._estimator.__dict__ = self._before

    def clock(self, limit: float) -> Clock:
        """Return the clock of the fit, which is to take `limit` seconds at most."""
        return Clock(self._start, limit)

    def run(self, loop: RoundLoop) -> None:
        """Do the rounds and take their outcome, also if an error ended them early."""
        if self._task is not None:
            self._task.begin(loop)
        before = loop.training.n_rounds
        try:
            stop_reason, error = loop.run(self._estimator, self._start)
            if stop_reason == "n_estimators" and loop.training.n_rounds == before:
                warn_caller(
                    f"warm_start adds no rounds to the {before} of the fitted model, since "
                    "n_estimators asks for no more"
                )
            self._take(loop, stop_reason, error)
        except KeyboardInterrupt as interrupt:
            # It came while the model was put together: do that again, then pass it on.
            error = interrupt
            self._take(loop, "interrupted", error)
        if error is not None:
            raise error
        if self._task is not None:
            self._task.end()

    def _take(self, loop: RoundLoop, stop_reason: str, error: BaseException | None) -> None:
        """Make the estimator the model of the finished rounds, in one step, if there are any."""
        if error is None or loop.training.n_rounds:
            loop.outcome.release()
            attributes = loop.outcome.attributes(stop_reason)
            self._estimator.__dict__ = fitted_again(self._estimator, attributes)


def fitted_again(estimator, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator with these in place of those of an earlier fit."""
    return {k: v for k, v in vars(estimator).items() if not is_fitted(k)} | dict(attributes)


def is_fitted(name: str) -> bool:
    """Return True for the name of an attribute that `fit` sets."""
    return name == "_state" or (name.endswith("_") and not name.startswith("_"))
