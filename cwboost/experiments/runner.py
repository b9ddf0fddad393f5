"""One run of one method on one protocol: choose C, train, measure every round."""

from time import process_time

import numpy as np
from sklearn.model_selection import train_test_split

from cwboost.experiments.methods import Method
from cwboost.experiments.protocols import Split

HOLD_OUT = 0.25
CURVES = ("objective", "solver_seconds", "train_error")


class RoundClock:
    """Callback that advances a progress bar, records the time and stops training at a limit.

    It measures processor time, which stays comparable on a busy machine, and the wall time
    `seconds`, which the history is measured in. Both begin before the data are bound.
    """

    def __init__(self, bar, limit=None):
        self.limit = limit
        self.bar = bar
        self.stopped = False
        self.cpu_seconds, self.seconds = [], []
        self._start = process_time()

    def on_round_end(self, state) -> bool:
        self.cpu_seconds.append(process_time() - self._start)
        self.seconds.append(state.seconds)
        self.bar.update(1)
        self.stopped = self.limit is not None and self.cpu_seconds[-1] > self.limit
        return self.stopped


def choose_C(method: Method, split: Split, rounds, parameters, bar) -> dict:
    """Choose C by the error on a held-out quarter of the training part; ties go to the first.

    The dict also has, by value of C, the error, seconds of processor time and what `_size` returns.
    """
    X, X_held, y, y_held = train_test_split(
        split.X_train,
        split.y_train,
        test_size=HOLD_OUT,
        stratify=split.y_train,
        random_state=parameters["random_state"],
    )
    names = ("validation_error", "selection_seconds", "selection_nonzero", "selection_learners")
    measures = {name: {} for name in names}
    for C in method.grid:
        clock = RoundClock(bar)
        model = method.make(C=C, n_estimators=rounds, callbacks=[clock], **parameters)
        error = float(np.mean(model.fit(X, y).predict(X_held) != y_held))
        values = error, _number(clock.cpu_seconds[-1]), *_size(model.ensemble_.coef())
        for name, value in zip(names, values):
            measures[name][f"{C:g}"] = value
    errors = measures["validation_error"]
    return {"C": min(method.grid, key=lambda C: errors[f"{C:g}"]), **measures}


def train_and_measure(method: Method, split: Split, rounds, parameters, bar, limit=None) -> dict:
    """Train and measure every round.

    The dict has why training ended, and lists with one entry per round: test error, processor and
    wall time so far, what `_size` returns, and the `CURVES` of the history.
    """
    clock = RoundClock(bar, limit)
    model = method.make(n_estimators=rounds, callbacks=[clock], **parameters)
    model.fit(split.X_train, split.y_train)
    test_error = [float(np.mean(p != split.y_test)) for p in model.staged_predict(split.X_test)]
    record = {
        "rounds": len(test_error),
        "stopped": clock.stopped,
        "stop_reason": model.stop_reason_,
        "settings": _settings(model),
        "test_error": test_error,
        "cpu_seconds": [_number(value) for value in clock.cpu_seconds],
        "seconds": [_number(value) for value in clock.seconds],
    }
    record |= {name: [_number(value) for value in model.history_[name]] for name in CURVES}
    sizes = [_size(model.ensemble_.coef(n)) for n in range(1, len(test_error) + 1)]
    return {**record, **dict(zip(("n_nonzero", "n_learners"), zip(*sizes)))}


def _size(coef) -> tuple[int, int]:
    """Return the numbers of non-zero coefficients, and of weak learners that have one."""
    return int(coef.nnz), int(np.count_nonzero(np.diff(coef.indptr)))


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
