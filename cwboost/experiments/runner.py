"""One run of one method on one protocol: choose C, train, measure every round."""

from __future__ import annotations

from time import perf_counter, process_time

import numpy as np

from cwboost.experiments.methods import Method
from cwboost.experiments.protocols import Split

__all__ = ["choose_C", "hold_out", "train_and_measure"]

HOLD_OUT = 0.25
CURVES = ("objective", "pricing_seconds", "solver_seconds", "train_error")


class RoundClock:
    """Callback that advances a progress bar, records the time and stops training at a limit.

    It measures processor time, which stays comparable on a busy machine.

    Parameters
    ----------
    limit : float or None
        Seconds of processor time after which no round begins; None for no limit.
    bar : tqdm or None
    """

    def __init__(self, limit=None, bar=None):
        self.limit = limit
        self.bar = bar
        self.stopped = False
        self.cpu_seconds = []
        self._start = process_time()

    def on_round_end(self, state) -> bool:
        """Record the round; return True once the time limit is exceeded."""
        self.cpu_seconds.append(process_time() - self._start)
        if self.bar is not None:
            self.bar.update(1)
        self.stopped = self.limit is not None and self.cpu_seconds[-1] > self.limit
        return self.stopped


def hold_out(y, rng) -> tuple[np.ndarray, np.ndarray]:
    """Return training rows and validation rows; validation has a quarter of each class.

    Validation has at least one example per class.
    """
    validation = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        validation[members[: max(1, round(HOLD_OUT * len(members)))]] = True
    return np.flatnonzero(~validation), np.flatnonzero(validation)


def choose_C(
    method: Method, split: Split, *, rounds, limit=None, rng, parameters, bar=None
) -> dict:
    """Choose C by the error on a held-out quarter of the training part; ties go to the first.

    The values of C share a limit on processor time equally, so that each is judged by what it
    reaches in the same time, as is the training that follows.

    Returns
    -------
    dict
        ``C``; ``validation_error`` by value of C, after `rounds` rounds or at the time limit;
        ``stopped``, True if the time limit stopped one of the trainings.
    """
    train, validation = hold_out(split.y_train, rng)
    errors, stopped = {}, False
    for C in method.grid:
        clock = RoundClock(None if limit is None else limit / len(method.grid), bar)
        model = method.make(C=C, n_estimators=rounds, callbacks=[clock], **parameters)
        model.fit(split.X_train[train], split.y_train[train])
        predicted = model.predict(split.X_train[validation])
        errors[C] = float(np.mean(predicted != split.y_train[validation]))
        stopped |= clock.stopped
    return {
        "C": min(errors, key=errors.get),
        "validation_error": {f"{C:g}": e for C, e in errors.items()},
        "stopped": stopped,
    }


def train_and_measure(
    method: Method, split: Split, *, rounds, limit=None, parameters, bar=None
) -> dict:
    """Train and measure every round.

    Returns
    -------
    dict
        ``rounds``, the number trained; ``stopped``, True if the time limit ended training;
        ``fit_seconds`` (wall clock); and lists with one entry per round: ``test_error``,
        ``cpu_seconds`` (processor time of training so far) and those `CURVES` that the history
        has.
    """
    clock = RoundClock(limit, bar)
    model = method.make(n_estimators=rounds, callbacks=[clock], **parameters)
    start = perf_counter()
    model.fit(split.X_train, split.y_train)
    fit_seconds = perf_counter() - start
    test_error = [float(np.mean(p != split.y_test)) for p in model.staged_predict(split.X_test)]
    record = {
        "rounds": len(test_error),
        "stopped": clock.stopped,
        "fit_seconds": fit_seconds,
        "test_error": test_error,
        "cpu_seconds": [_number(value) for value in clock.cpu_seconds],
    }
    for name in CURVES:
        if name in model.history_:
            record[name] = [_number(value) for value in model.history_[name]]
    return record


def _number(value):
    """Return a float with seven digits for JSON, or None if it is not finite."""
    return float(f"{value:.7g}") if np.isfinite(value) else None
