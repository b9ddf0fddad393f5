"""Checks of parameters."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from cwboost.kernels import usable_threads
from cwboost.kernels.threads import threads_of_jobs

__all__ = [
    "check_auto",
    "check_callbacks",
    "check_choice",
    "check_n_jobs",
    "check_number",
    "check_verbose",
    "check_weight",
    "generator_of",
]


def check_number(name, value, kind, low, high=np.inf, *, low_open=False):
    """Check kind (Integral or Real) and range of a scalar parameter and return it."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, kind):
        wanted = "an integer" if kind is Integral else "a number"
        raise TypeError(f"{name} must be {wanted}, got {value!r}")
    # Compared as a Python number: NumPy would cast the bound to the value's type, and overflow.
    number = value.item() if isinstance(value, np.generic) else value
    if not (low < number if low_open else low <= number) or not number <= high:
        bound = ">" if low_open else ">="
        upper = "" if high == np.inf else f" and <= {high}"
        raise ValueError(f"{name} must be {bound} {low}{upper}, got {value!r}")
    return value


def check_auto(name, value, kind, low, high=np.inf, *, low_open=False):
    """Check a parameter that is "auto" or a number, see `check_number`, and return it."""
    if not isinstance(value, str):
        return check_number(name, value, kind, low, high, low_open=low_open)
    if value != "auto":
        raise ValueError(f"{name} must be 'auto' or a number, got {value!r}")
    return value


def check_choice(name, value, choices):
    """Check a parameter that takes one of a few strings and return it."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{name} must be one of {choices}, got {value!r}")
    return value


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


def check_weight(weight, n_samples: int, name: str):
    """Check the weights of held-out examples; return them as float64, None if there are none."""
    if weight is None:
        return None
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise ValueError(f"{name} must have shape ({n_samples},), got {weight.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        total = weight.sum()
    if not ((weight >= 0).all() and 0 < total < np.inf):
        raise ValueError(f"{name} must be finite, not negative, of a finite sum > 0, got {total}")
    return weight


def check_n_jobs(n_jobs) -> int:
    """Return the threads for `n_jobs`: None is one outside a joblib context, -1 all left over."""
    if n_jobs is not None:
        check_number("n_jobs", n_jobs, Integral, -np.inf)
    if n_jobs == 0:
        raise ValueError("n_jobs must be a number of threads, -1 for all, or None, got 0")
    return usable_threads(threads_of_jobs(n_jobs))


def generator_of(random_state) -> np.random.Generator:
    """Return the one generator of a fit."""
    words = check_random_state(random_state).randint(2**32, size=4, dtype=np.uint32)
    return np.random.Generator(np.random.PCG64([int(word) for word in words]))
