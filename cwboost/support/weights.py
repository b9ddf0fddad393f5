"""Weights of examples: their checks, what they count."""

import numpy as np

from cwboost.support.checks import unmasked

ABSENT = 1e-6
"""Examples of less than this fraction of the mean weight are as good as absent."""

PARTS, MOST_UNITS = 2520, 10
"""Parts of the least weight that others may be multiples of: halves, thirds, up to tenths. Common
multiples of further ones are chance."""

MOST_PARTS, ROUNDING = 2.0**33, 1e-12
"""Largest number of these parts, and relative error, that tell whole numbers from others."""


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
    """Return how many examples weights stand for; a common factor of all does not change it.

    Weights that are multiples of one number, the least of a few times it, are counts: the size is
    that of their copies. Other weights have the effective sample size of Kish (1965), (sum w)^2 /
    sum w^2.
    """
    return size_of([parts_of_size(weight)])


def parts_of_size(weight: np.ndarray) -> tuple[float, float, float, float]:
    """Return sum, sum of squares, least and `unit_of` of the weights of some of the examples."""
    weight = weight[weight > ABSENT * weight.mean()]
    return float(weight.sum()), float(np.square(weight).sum()), float(weight.min()), unit_of(weight)


def size_of(parts) -> float:
    """Return the effective size of the weights of all examples, of which these are parts."""
    totals, squares, least, units = map(np.array, zip(*parts))
    unit = unit_of(units) if units.all() else 0.0
    are_counts = least.min() <= MOST_UNITS * (1.0 + ROUNDING) * unit
    return float(totals.sum() / unit if are_counts else totals.sum() ** 2 / squares.sum())


def share_of_size(weight, factor) -> float:
    """Return the share of their size that weights keep if they are multiplied by factors.

    Factors, such as those of the classes, count nothing: of equal weights, Kish's size remains.
    """
    own = weight * factor
    return float(own.sum() ** 2 / (weight.sum() * (own * factor).sum()))


def size_with_factors(weight, factor) -> float:
    """Return how many examples weights stand for if they are multiplied by factors."""
    return effective_size(weight) * share_of_size(weight, factor)


def unit_of(weight: np.ndarray) -> float:
    """Return the largest number of which all of some weights are multiples, 0 if there is none."""
    least = float(weight.min())
    parts = weight / least
    if (parts == 1.0).all():
        return least
    parts *= PARTS
    whole = np.rint(parts)
    if whole.max() > MOST_PARTS or (np.abs(parts - whole) > ROUNDING * whole).any():
        return 0.0
    return least * float(np.gcd.reduce(whole.astype(np.int64))) / PARTS


def near_one(weight: np.ndarray) -> np.ndarray:
    """Return weights scaled to a mean near one, by a power of two, which rounds none."""
    return np.ldexp(weight, -int(np.frexp(weight.mean())[1]))
