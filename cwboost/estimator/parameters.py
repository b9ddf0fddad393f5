"""Checks of parameters."""

from __future__ import annotations

from numbers import Integral

import numpy as np

__all__ = [
    "check_auto",
    "check_callbacks",
    "check_choice",
    "check_class_weight",
    "check_jobs",
    "check_number",
    "check_verbose",
    "check_weight",
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


def check_choice(name, value, choices):
    """Check a parameter that takes one of a few values and return it."""
    # Compare types as well: 1 == True, and an array has no truth value.
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        raise ValueError(f"{name} must be one of {choices}, got {value!r}")
    return value


def check_callbacks(callbacks):
    """Check the parameter `callbacks`: None, or a list of objects with ``on_round_end``."""
    if not isinstance(callbacks, list | tuple | None):
        raise TypeError(f"callbacks must be a list or None, got {callbacks!r}")
    for place, callback in enumerate(callbacks or []):
        if isinstance(callback, type):
            raise TypeError(
                f"callbacks[{place}] must be an object, got the class {callback.__name__}: call it"
            )
        if not callable(getattr(callback, "on_round_end", None)):
            name = getattr(callback, "__qualname__", None)
            got = f"the function {name}" if callable(callback) and name else repr(callback)
            raise TypeError(
                f"callbacks[{place}] must be an object with a method on_round_end(state), got {got}"
            )


def check_class_weight(class_weight):
    """Check the parameter `class_weight` (None, "balanced" or a dict) and return it."""
    is_name = isinstance(class_weight, str) and class_weight == "balanced"
    if not (is_name or isinstance(class_weight, dict | None)):
        raise ValueError(
            "class_weight must be 'balanced', a dict of weights by label, or None, got "
            f"{class_weight!r}"
        )
    return class_weight


def check_jobs(n_jobs):
    """Check the parameter `n_jobs` (None or an integer other than 0) and return it."""
    if n_jobs is None:
        return n_jobs
    if isinstance(n_jobs, bool | np.bool_) or not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs must be an integer or None, got {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs must be a number of threads, -1 for all, or None, got 0")
    return n_jobs


def check_auto(name, value, kind, low, high=np.inf, *, low_open=False):
    """Check a parameter that is "auto" or a number, see `check_number`, and return it."""
    if not isinstance(value, str):
        return check_number(name, value, kind, low, high, low_open=low_open)
    if value != "auto":
        wanted = "an integer" if kind is Integral else "a number"
        bound = ">" if low_open else ">="
        raise ValueError(f"{name} must be 'auto' or {wanted} {bound} {low}, got {value!r}")
    return value


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
    if not (np.isfinite(weight).all() and (weight >= 0).all() and (weight > 0).any()):
        raise ValueError(f"{name} must be finite, not negative and not all zero")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise ValueError(f"{name} must sum to a finite number, got {total}")
    return weight
