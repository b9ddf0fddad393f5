"""The hyper-parameter `max_features`, which has the same meaning in every family."""

import math
from numbers import Integral, Real


def count_max_features(max_features: int | float | str | None, n_features: int) -> int:
    """Return the number of features that `max_features` stands for.

    Parameters
    ----------
    max_features : int, float, "sqrt" or None
        An int is that number, at most all; a float in (0, 1] that fraction of all, rounded down,
        but at least one; "sqrt" the square root of all, rounded down; None all.
    n_features : int

    Raises
    ------
    ValueError
        For anything else.

    Examples
    --------
    >>> from cwboost import count_max_features
    >>> [count_max_features(value, 16) for value in (5, 100, 0.5, "sqrt", None)]
    [5, 16, 8, 4, 16]
    """
    if max_features is None:
        return n_features
    if isinstance(max_features, str) and max_features == "sqrt":
        return max(1, math.isqrt(n_features))
    if isinstance(max_features, Integral):
        if max_features >= 1 and not isinstance(max_features, bool):
            return min(int(max_features), n_features)
    elif isinstance(max_features, Real) and 0 < max_features <= 1:
        return max(1, int(max_features * n_features))
    raise ValueError(
        "max_features must be an int of at least 1, a float in (0, 1], 'sqrt' or None, "
        f"got {max_features!r}"
    )
