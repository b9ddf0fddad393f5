"""Checks of arguments that every layer has."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state


def check_number(name, value, kind, low, high=np.inf, *, low_open=False):
    """Check kind (Integral or Real) and range of a scalar parameter and return it."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, kind):
        kind_of_number = "an integer" if kind is Integral else "a number"
        raise TypeError(f"{name} must be {kind_of_number}, got {value!r}")
    # Compared as a Python number: NumPy would cast the bound to the value's type, and overflow.
    number = value.item() if isinstance(value, np.generic) else value
    if not (low < number if low_open else low <= number) or not number <= high:
        bound = ">" if low_open else ">="
        upper = "" if high == np.inf else f" and <= {high}"
        raise ValueError(f"{name} must be {bound} {low}{upper}, got {number!r}")
    return value


def check_bool(name, value) -> bool:
    """Check a parameter that is True or False and return it."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be a bool, got {value!r}")
    return bool(value)


def unmasked(values):
    """Return values as they came; with None, as objects, where the mask of an array hides them."""
    if not np.ma.is_masked(values):
        return values
    return np.where(np.ma.getmaskarray(values), None, np.ma.getdata(values).astype(object))


def checked_random_state(random_state) -> np.random.RandomState:
    """Return what the parameter `random_state` seeds or is."""
    try:
        return check_random_state(random_state)
    except ValueError as error:
        raise ValueError(
            "random_state must be None, an integer from 0 to 2**32 - 1 or a RandomState, got "
            f"{random_state!r}"
        ) from error
