"""Checks of arrays that come from a file or a plugin."""

from collections.abc import Mapping

import numpy as np


def check_arrays(
    arrays: Mapping[str, np.ndarray], expected: Mapping[str, tuple]
) -> list[np.ndarray]:
    """Check names, dtypes and shapes of arrays.

    Parameters
    ----------
    arrays : mapping of str to ndarray
    expected : mapping of str to (dtype, shape)
        A shape is a tuple: an int is a length, a str names a length that must be the same in
        every place with that name.

    Returns
    -------
    list of ndarray
        The arrays in the order of `expected`. The caller checks their values.

    Raises
    ------
    ValueError
        If an array differs; the message names it, what was expected and what came.

    Examples
    --------
    >>> import numpy as np
    >>> from cwboost import check_arrays
    >>> stored = {"feature": np.zeros(5, np.int32), "weight": np.ones((5, 2))}
    >>> expected = {"feature": ("int32", ("n",)), "weight": ("float64", ("n", 2))}
    >>> feature, weight = check_arrays(stored, expected)
    """
    if set(arrays) != set(expected):
        raise ValueError(f"arrays must be {sorted(expected)}, got {sorted(arrays)}")
    lengths: dict[str, int] = {}
    found = []
    for name, (dtype, shape) in expected.items():
        array = arrays[name]
        if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype):
            got = getattr(array, "dtype", type(array).__name__)
            raise ValueError(f"array {name!r} must have dtype {np.dtype(dtype)}, got {got}")
        if array.ndim != len(shape):
            raise ValueError(f"array {name!r} must have {len(shape)} dimensions, got {array.ndim}")
        wanted = tuple(
            lengths.setdefault(length, got) if isinstance(length, str) else length
            for length, got in zip(shape, array.shape)
        )
        if array.shape != wanted:
            raise ValueError(f"array {name!r} must have shape {wanted}, got {array.shape}")
        found.append(array)
    return found
