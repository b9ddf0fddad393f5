"""Callbacks: objects that are told of the end of a round and may stop training."""

from __future__ import annotations

from numbers import Real

from tqdm.auto import tqdm

__all__ = ["ProgressBar", "TimeLimit"]


class ProgressBar:
    """A tqdm bar over the rounds, with objective, gap and training error.

    Parameters
    ----------
    n_rounds : int
        Rounds asked for.
    verbose : int
        Zero shows nothing.
    """

    def __init__(self, n_rounds: int, verbose: int = 1):
        self._bar = tqdm(total=n_rounds, disable=not verbose, unit="round")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._bar.close()

    def on_round_end(self, state) -> bool:
        """Advance to the round of `state`; never stops training."""
        if not self._bar.disable:
            latest = state.latest
            self._bar.set_postfix(
                objective=f"{latest['objective']:.4g}",
                gap=f"{latest['gap']:.3g}",
                train_error=f"{latest['train_error']:.2%}",
                refresh=False,
            )
            self._bar.update(state.round - self._bar.n)
        return False


class TimeLimit:
    """Stops training at the end of the first round that ends after a number of seconds.

    Parameters
    ----------
    seconds : float, >= 0
        Counted from the beginning of ``fit``.
    """

    stop_reason = "max_seconds"

    def __init__(self, seconds: float):
        if isinstance(seconds, bool) or not isinstance(seconds, Real):
            raise TypeError(f"seconds must be a number, got {seconds!r}")
        if not seconds >= 0:
            raise ValueError(f"seconds must be >= 0, got {seconds!r}")
        self.seconds = seconds

    def on_round_end(self, state) -> bool:
        return state.seconds >= self.seconds
