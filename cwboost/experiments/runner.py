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


def choose_C(method: Method, split: Split, *, rounds, rng, parameters, bar=None) -> dict:
    """Choose C by the error on a held-out quarter of the training part; ties go to the first.

    Every value of C gets the same number of rounds, whatever their time.

    Returns
    -------
    dict
        ``C``; and by value of C after `rounds` rounds ``validation_error``, ``selection_seconds``
        (processor time), ``selection_nonzero`` and ``selection_learners``, the numbers of non-zero
        coefficients and of weak learners that have one.
    """
    train, validation = hold_out(split.y_train, rng)
    names = ("validation_error", "selection_seconds", "selection_nonzero", "selection_learners")
    found = {name: {} for name in names}
    for C in method.grid:
        clock = RoundClock(bar=bar)
        model = method.make(C=C, n_estimators=rounds, callbacks=[clock], **parameters)
        model.fit(split.X_train[train], split.y_train[train])
        predicted = model.predict(split.X_train[validation])
        coef = model.ensemble_.coef()
        values = (
            float(np.mean(predicted != split.y_train[validation])),
            _number(clock.cpu_seconds[-1]) if clock.cpu_seconds else 0.0,
            int(coef.nnz),
            int(np.count_nonzero(np.diff(coef.indptr))),
        )
        for name, value in zip(names, values):
            found[name][f"{C:g}"] = value
    errors = found["validation_error"]
    return {"C": min(method.grid, key=lambda C: errors[f"{C:g}"]), **found}


def train_and_measure(
    method: Method, split: Split, *, rounds, limit=None, parameters, bar=None
) -> dict:
    """Train and measure every round.

    Returns
    -------
    dict
        ``rounds``, the number trained; ``stopped``, True if the time limit ended training;
        ``stop_reason``; ``fit_seconds`` (wall clock); ``settings``, the parameters; and lists with
        one entry per round: ``test_error``, ``cpu_seconds`` (processor time of training so far),
        ``n_nonzero`` and ``n_learners`` (non-zero coefficients, and weak learners that have one)
        and those `CURVES` that the history has.
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
        "stop_reason": model.stop_reason_,
        "fit_seconds": fit_seconds,
        "settings": _settings(model),
        "test_error": test_error,
        "cpu_seconds": [_number(value) for value in clock.cpu_seconds],
    }
    for name in CURVES:
        if name in model.history_:
            record[name] = [_number(value) for value in model.history_[name]]
    record["n_nonzero"], record["n_learners"] = used(model.ensemble_)
    return record


def used(ensemble) -> tuple[list[int], list[int]]:
    """Return, per round, the non-zero coefficients and the weak learners that have one."""
    path, n_scores = ensemble.path, ensemble.n_scores
    is_used = np.zeros(path.n_learners * n_scores, dtype=bool)
    per_learner = np.zeros(path.n_learners, dtype=np.int64)
    n_nonzero, n_learners = [], []
    for start, end in zip(path.round_offsets[:-1], path.round_offsets[1:]):
        column = path.column[start:end]
        keys = column.astype(np.int64) * n_scores + path.score_index[start:end]
        now = path.value[start:end] != 0.0
        np.add.at(per_learner, column, now.astype(np.int64) - is_used[keys])
        is_used[keys] = now
        n_nonzero.append(int(per_learner.sum()))
        n_learners.append(int(np.count_nonzero(per_learner)))
    return n_nonzero, n_learners


def _settings(model) -> dict:
    """Return the parameters of an estimator as JSON values, a family as its text."""
    given = model.get_params(deep=False)
    return {
        name: value if isinstance(value, str | int | float | None) else str(value)
        for name, value in given.items()
        if name not in ("callbacks", "verbose")
    }


def _number(value):
    """Return a float with seven digits for JSON, or None if it is not finite."""
    return float(f"{value:.7g}") if np.isfinite(value) else None
