"""Callbacks: objects that are called after each round and may stop training."""

from __future__ import annotations

import csv
import math
import os
import sys
import time
from contextlib import ExitStack, suppress
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING

from cwboost.support.checks import check_number
from cwboost.support.extras import extra
from cwboost.support.files import append, check_path, open_stream, replacing, write_all

if TYPE_CHECKING:
    import optuna

    from cwboost.support.types import FilePath
    from cwboost.training.runner import RoundState

__all__ = ["CSVLog", "Checkpoint", "OptunaPruning", "ProgressBar", "TimeLimit"]


class ProgressBar:
    """Progress bar of tqdm over the rounds, with loss, gap and errors.

    It shows the loss of the training examples, which is 1 before the first round; the gap as a
    share of the objective, if the weak learners allow a bound; the training error; and what the
    history holds of validation examples.

    Raises
    ------
    ImportError
        If tqdm is not installed.
    """

    def __init__(self) -> None:
        with extra("progress", "a progress bar needs tqdm"):
            from tqdm.auto import tqdm
        self._open = tqdm
        self._bar: tqdm | None = None

    def __reduce__(self):
        # A copy, as in a clone of an estimator, gets a new bar: the terminal cannot be copied.
        return ProgressBar, ()

    def on_round_end(self, state: RoundState) -> bool:
        """Advance to the round of `state`; never stops training."""
        if sys.stderr is not None:
            with suppress(OSError, ValueError):  # a stream that is closed or full
                self._show(state)
        return False

    def on_fit_end(self) -> None:
        """End the bar, however training ended."""
        bar, self._bar = self._bar, None
        if bar is not None:
            with suppress(OSError, ValueError):
                bar.close()

    def _show(self, state: RoundState) -> None:
        if self._bar is None:
            self._bar = self._open(total=state.n_rounds, initial=state.round - 1, unit="round")
        self._bar.set_postfix_str(_figures(state), refresh=False)
        self._bar.update(state.round - self._bar.n)


def _figures(state) -> str:
    """Return the figures of a round that show how training goes; NaN stands for an unknown one."""
    latest = state.latest
    shown = {"loss": state.training.mean_loss}
    if "gap" in latest:
        shown["gap"] = latest["gap"] / latest["objective"]
    held_out = [name for name in latest if name.startswith("valid_")]
    shown |= {name: latest[name] for name in ("train_error", *held_out)}
    return ", ".join(
        f"{name}={value:.2%}" if name == "gap" or name.endswith("_error") else f"{name}={value:.3g}"
        for name, value in shown.items()
        if not math.isnan(value)
    )


class TimeLimit:
    """Callback that stops training after the first round that ends past a time limit.

    `CWBoostClassifier` plans for the limit: holdout runs take half of the time at most, and if
    fewer rounds than they recommend fit into the rest, their steps are longer.

    Parameters
    ----------
    seconds : float, >= 0
        Limit, counted from the start of ``fit``. Reading the data, the fit of an init model and a
        round that has begun are finished.

    Examples
    --------
    >>> from cwboost import CWBoostClassifier
    >>> from cwboost.callbacks import TimeLimit
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CWBoostClassifier("stump", n_estimators=100, callbacks=[TimeLimit(0)]).fit(X, y)
    >>> clf.n_iter_, clf.stop_reason_
    (1, 'time limit')
    """

    stop_reason = "time limit"
    seconds: float

    def __init__(self, seconds: float) -> None:
        self.seconds = check_number("seconds", seconds, Real, 0)

    def on_round_end(self, state: RoundState) -> bool:
        """Return whether the round of `state` ended past the limit."""
        return state.seconds >= self.seconds


class OptunaPruning:
    """Callback that reports a figure of every round to an Optuna trial, which may prune it.

    Parameters
    ----------
    trial : optuna.trial.Trial
    name : str, default="valid_error"
        Array of the history, such as "valid_logloss" with ``early_stopping="logloss"``. If the
        study's direction is not that in which the figure improves, its negative is reported.

    Raises
    ------
    optuna.TrialPruned
        Out of `fit`, at the round after which the study's pruner ends the trial.
    ValueError
        Out of `fit`, if the history has no such array, or it is not finite: "valid_error" needs
        held-out examples.
    """

    def __init__(self, trial: optuna.trial.Trial, name: str = "valid_error") -> None:
        self.trial = trial
        self.name = name

    def __deepcopy__(self, memo):
        # A clone of an estimator, as in a search, reports to the same trial.
        return OptunaPruning(self.trial, self.name)

    def on_round_end(self, state: RoundState) -> bool:
        """Report the figure of the round of `state`; never stops training but by pruning."""
        from optuna import TrialPruned

        if self.name not in state.latest:
            raise ValueError(f"name must be one of {sorted(state.latest)}, got {self.name!r}")
        value = float(state.latest[self.name])
        if not math.isfinite(value):
            raise ValueError(
                f"name must be an array of finite numbers, got {self.name!r} with {value} at round "
                f"{state.round}: pass X_val and y_val, set early_stopping, or name 'train_error'"
            )
        self.trial.report(value if self._is_in_direction(state.score) else -value, state.round)
        if self.trial.should_prune():
            raise TrialPruned(f"{self.name} at round {state.round}")
        return False

    def _is_in_direction(self, score: str | None) -> bool:
        """Return True if the figure improves in the study's direction: a scorer's rises."""
        study = getattr(self.trial, "study", None)  # a FixedTrial has none
        is_score = score is not None and self.name.endswith(f"_{score}")
        return study is None or is_score == (study.direction.name == "MAXIMIZE")


class CSVLog:
    """Callback that writes one row of the history to a CSV file per round.

    The columns are ``round``, ``seconds`` (since the start of `fit`) and the names of the history.
    A fit that continues an earlier one keeps the rows of the earlier rounds and replaces the rest,
    so that rounds repeated after a crash do not appear twice; names that it adds are NaN there.

    Parameters
    ----------
    path : path-like
        A file, or a stream such as a pipe, which gets the rows of one fit.
    """

    def __init__(self, path: FilePath) -> None:
        check_path(path)
        self.path = path
        self._next: tuple[int, list[str]] | None = None
        self._stream: int | None = None
        self._open = ExitStack()

    def __reduce__(self):
        return CSVLog, (self.path,)

    def on_round_end(self, state: RoundState) -> bool:
        """Append the row of `state`; never stops training."""
        names = ["round", "seconds", *state.latest]
        if self._next != (state.round, names):
            self._start(names, state.round)
        row = state.round, state.seconds, *state.latest.values()
        self._write(",".join(map(str, row)) + "\r\n")
        self._next = state.round + 1, names
        return False

    def on_fit_end(self) -> None:
        """Close the stream, if it is one."""
        self._open.close()
        self._stream = self._next = None

    def _write(self, text: str) -> None:
        if self._stream is None:
            append(self.path, text)
        else:
            write_all(self._stream, text.encode())

    def _start(self, names: list[str], first: int) -> None:
        """Write a new file that keeps the earlier rows of the rounds before `first`."""
        self.on_fit_end()
        self._stream = self._open.enter_context(open_stream(self.path))
        if self._stream is not None:
            self._write(",".join(names) + "\r\n")
            return
        kept = []
        if first > 1 and os.path.exists(self.path):
            with open(self.path, newline="", encoding="utf-8") as file:
                rows = csv.DictReader(file)
                if (rows.fieldnames or [])[:2] == names[:2]:
                    whole = (row for row in rows if None not in {*row, *row.values()})
                    kept = [row for row in whole if int(row["round"]) < first]
        with replacing(self.path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names, restval="nan", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(kept)


class Checkpoint:
    """Callback that saves the model at intervals during training.

    The file is a model file with the state of training. To continue, load it, set
    ``warm_start=True`` and call ``fit`` with the same data. If ``random_state`` of the classifier
    is an integer, the result equals that of an uninterrupted fit, bit for bit. From partitions of a
    cluster the file has the coefficients only; there, `DaskCWBoostClassifier.from_local` goes on.

    Parameters
    ----------
    path : path-like
        Replaced in one step each time: a crash while saving leaves the previous checkpoint.
    every_rounds : int or None, default=None
        Number of rounds between checkpoints.
    every_seconds : float or None, default=60.0
        Seconds after the last checkpoint (or the start); the next round that ends is saved.
    """

    needs_training_state = True

    def __init__(
        self, path: FilePath, every_rounds: int | None = None, every_seconds: float | None = 60.0
    ) -> None:
        if every_rounds is None and every_seconds is None:
            raise ValueError("every_rounds or every_seconds must be given")
        if every_rounds is not None:
            check_number("every_rounds", every_rounds, Integral, 1)
        if every_seconds is not None:
            check_number("every_seconds", every_seconds, Real, 0)
        check_path(path)
        if not Path(path).absolute().parent.is_dir():
            raise ValueError(f"path must be in an existing folder, got {os.fspath(path)!r}")
        self.path = path
        self.every_rounds = every_rounds
        self.every_seconds = every_seconds
        self._saved_at: float | None = None

    def on_round_end(self, state: RoundState) -> bool:
        """Save a checkpoint of `state` if one is due; never stops training."""
        now = time.monotonic()
        if self._saved_at is None:
            self._saved_at = now - state.seconds
        due = self.every_rounds is not None and state.round % self.every_rounds == 0
        if self.every_seconds is not None:
            due = due or now - self._saved_at >= self.every_seconds
        if due:
            state.snapshot().save(self.path, training_state=True)
            self._saved_at = time.monotonic()
        return False
