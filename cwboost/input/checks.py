"""Checks of parameters."""

import re
from contextlib import contextmanager
from numbers import Integral, Real

import numpy as np

from cwboost.kernels import usable_threads
from cwboost.kernels.threads import threads_of_jobs
from cwboost.master import LARGEST_C
from cwboost.support.checks import check_number, checked_random_state


@contextmanager
def errors_naming(name: str):
    """Let the errors of a matrix call it by the name of the argument, in place of X."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(re.sub(r"^(Input )?X\b", lambda _: name, str(error))) from error


def check_auto(name, value, kind, low, high=np.inf, *, low_open=False):
    """Check a parameter that is "auto" or a number, see `check_number`; return None or a number."""
    if isinstance(value, str) and value != "auto":
        raise ValueError(f"{name} must be 'auto' or a number, got {value!r}")
    if isinstance(value, str):
        return None
    check_number(name, value, kind, low, high, low_open=low_open)
    return int(value) if kind is Integral else float(value)


def check_choice(name, value, choices):
    """Check a parameter that takes one of a few strings and return it."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{name} must be one of {choices}, got {value!r}")
    return value


def check_Cs(C) -> list[float]:
    """Check one weight of the loss or several; return them ascending, each once."""
    is_one = isinstance(C, str) or not np.iterable(C)
    Cs = [C] if is_one else list(C)
    if not Cs:
        raise ValueError("C must hold at least one number, got an empty sequence")
    for value in Cs:
        check_number("C", value, Real, 0.0, LARGEST_C, low_open=True)
    return sorted({float(value) for value in Cs})


def check_callbacks(callbacks):
    """Check the parameter `callbacks`: None, or a list of objects with ``on_round_end``."""
    if not isinstance(callbacks, list | tuple | None):
        raise TypeError(f"callbacks must be a list or None, got {callbacks!r}")
    for place, callback in enumerate(callbacks or []):
        is_class = isinstance(callback, type)
        if is_class or not callable(getattr(callback, "on_round_end", None)):
            raise TypeError(
                f"callbacks[{place}] must be an object with a method on_round_end(state), got "
                f"{callback!r}"
            )


def check_verbose(verbose):
    """Check the parameter `verbose`: a bool, or an integer >= 0."""
    if not isinstance(verbose, bool | np.bool_):
        check_number("verbose", verbose, Integral, 0)


def check_n_jobs(n_jobs) -> int:
    """Return the threads for `n_jobs`: None is one outside a joblib context, -1 all left over."""
    if n_jobs is not None:
        check_number("n_jobs", n_jobs, Integral, -np.inf)
    if n_jobs == 0:
        raise ValueError("n_jobs must be a number of threads, -1 for all, or None, got 0")
    return usable_threads(threads_of_jobs(n_jobs))


def generator_of(random_state) -> np.random.Generator:
    """Return the one generator of a fit."""
    words = checked_random_state(random_state).randint(2**32, size=4, dtype=np.uint32)
    return np.random.Generator(np.random.PCG64([int(word) for word in words]))
