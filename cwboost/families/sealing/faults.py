"""Faults of families, and where a family comes from."""

import sys
from collections.abc import Callable

import numpy as np

from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.discovery import distribution_of


class FamilyFault(RuntimeError):
    """A weak-learner family broke its contract during training.

    The message names the family, its distribution and version, the round and what is wrong.
    """


def fault_of(family: WeakLearnerFamily, what: str) -> FamilyFault:
    """Return the fault of a family outside of pricing."""
    return FamilyFault(f"{family_source(family)}: {what}")


def noted(where: Callable[[], str], method: Callable, *arguments):
    """Call a method of a family; an exception gets a note of where it was raised."""
    try:
        return method(*arguments)
    except Exception as error:
        add_note(error, f"raised by {where()}")
        raise


def check_array(name: str, array, dtype: np.dtype, shape: tuple, fault: Callable) -> None:
    """Raise what `fault` makes of a message unless an array has this dtype and shape."""
    if not isinstance(array, np.ndarray):
        raise fault(f"{name} must be an ndarray, got {type(array).__name__}")
    if array.dtype != dtype or array.shape != shape:
        raise fault(
            f"{name} must have dtype {dtype} and shape {shape}, got {array.dtype} and {array.shape}"
        )


def family_source(family: WeakLearnerFamily) -> str:
    """Return the family's name, with its distribution and version if it is a plugin."""
    owner = distribution_of(type(family))
    source = " ".join(owner) if owner else f"module {type(family).__module__}"
    return f"weak learner {type(family).name!r} ({source})"


def add_note(error: BaseException, note: str) -> None:
    """Add a note to an exception; in Python 3.10, which lacks `add_note`, extend its args."""
    if sys.version_info >= (3, 11):
        error.add_note(note)
    elif error.args and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]}\n{note}", *error.args[1:])
    else:
        error.args = (*error.args, note)
