"""Weights of examples: their checks, what they count."""

import numpy as np

from cwboost.support.checks import unmasked

ABSENT = 1e-6
"""Examples of less than this fraction of the mean weight are as good as absent."""


def check_weight(weight, n_samples: int, name: str = "sample_weight"):
    """Check the weights of examples; return them as float64, None if there are none."""
    if weight is None:
        return None
    given = np.asarray(unmasked(weight))
    try:
        found = given.astype(np.float64) if given.dtype.kind in "biufO" else np.empty(0)
    except (TypeError, ValueError):  # objects that are not numbers
        found = np.empty(0)
    if found.shape != (n_samples,):
        raise ValueError(
            f"{name} must have shape ({n_samples},) and hold numbers, got the shape {given.shape} "
            f"and the dtype {given.dtype}"
        )
    wrong = ~(np.isfinite(found) & (found >= 0))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(f"{name} must hold finite numbers >= 0, got {found[at]} in row {at}")
    return found


def check_total(weight, name: str = "sample_weight") -> None:
    """Raise ValueError unless checked weights, None for ones, have a finite sum above zero."""
    with np.errstate(over="ignore"):
        total = 1.0 if weight is None else weight.sum()
    if not 0 < total < np.inf:
        remedy = "divide all weights by one number" if total else "keep a weight above zero"
        raise ValueError(f"{name} must have a finite sum > 0, got {total}: {remedy}")


def check_relative(weight, n_samples: int, name: str = "sample_weight"):
    """Check weights as `check_weight` and `check_total` do; return them as `near_one` does."""
    weight = check_weight(weight, n_samples, name)
    check_total(weight, name)
    return None if weight is None else near_one(weight)


def effective_size(weight: np.ndarray) -> float:
    """Return how many examples of ordinary weight, the median, weigh as much as all.

    A weight is a count: the size grows with the weights of a few examples as with copies of them.
    A common factor of all weights does not change it.
    """
    ordinary = np.median(weight[weight > ABSENT * weight.mean()])
    return float(weight.sum() / ordinary)


def near_one(weight: np.ndarray) -> np.ndarray:
    """Return weights scaled to a mean near one, by a power of two, which rounds none."""
    return np.ldexp(weight, -int(np.frexp(weight.mean())[1]))
