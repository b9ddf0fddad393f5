"""Checks of scalar parameters."""

from __future__ import annotations

from numbers import Integral

import numpy as np

__all__ = ["check_choice", "check_number"]


def check_number(name, value, kind, low, high=np.inf, *, low_open=False):
    """Check kind (Integral or Real) and range of a scalar parameter and return it.

    Raises
    ------
    TypeError, ValueError
        Naming the parameter, what was expected and what came.
    """
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
    """Check a parameter that takes one of a few values and return it.

    Raises
    ------
    ValueError
        Naming the parameter, the choices and what came.
    """
    # Compare types as well: 1 == True, and an array has no truth value.
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        raise ValueError(f"{name} must be one of {choices}, got {value!r}")
    return value
