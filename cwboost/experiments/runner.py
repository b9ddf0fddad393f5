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
    """Callback that moves a progress bar, notes the time and stops training when it is over.

    Time is the processor's: on a busy machine it is the one that can be compared.

    Parameters
    ----------
    limit : float or None
        Seconds of processor time after which no round is begun; None is without end.
    bar : tqdm or None
    """

    def __init__(self, limit=None, bar=None):
        self.limit = limit
        self.bar = bar
        self.stopped = False
        self.cpu_seconds = []
        self._start = process_time()

    def on_round_end(self, state) -> bool:
        """Note the round; True when the time is over."""
        self.cpu_seconds.append(process_time() - self._start)
        if self.bar is not None:
            self.bar.update(1)
        self.stopped = self.limit is not None and self.cpu_seconds[-1] > self.limit
        return self.stopped


def hold_out(y, rng) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to validate on: a quarter of each class, at least one."""
    validation = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        validation[members[: max(1, round(HOLD_OUT * len(members)))]] = True
    return np.flatnonzero(~validation), np.flatnonzero(validation)


def choose_C(
    method: Method, split: Split, *, rounds, limit=None, rng, parameters, bar=None
) -> dict:
    """Choose C by the error on a held-out quarter of the training part; the first of equals.

    A limit on processor time is shared by the values of C in equal parts: they are then compared
    at what each reaches in the same time, as the training that follows will be.

    Returns
    -------
    dict
        ``C``, ``validation_error`` (by value of C, after `rounds` rounds or when the time is over)
        and ``stopped``, whether one of the trainings was stopped by the clock.
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
        ``rounds`` done, ``stopped`` by the clock, ``fit_seconds`` (wall clock) and one list a
        round each of ``test_error``, ``cpu_seconds`` (processor time of training so far) and what
        the history has of `CURVES`.
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
    """A float as JSON knows it: seven digits, None for what is not finite."""
    return float(f"{value:.7g}") if np.isfinite(value) else None
