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
    checked = []
    for name, (dtype, shape) in expected.items():
        array = arrays[name]
        if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype):
            got = getattr(array, "dtype", type(array).__name__)
            raise ValueError(f"array {name!r} must have dtype {np.dtype(dtype)}, got {got}")
        if array.ndim != len(shape):
            raise ValueError(f"array {name!r} must have {len(shape)} dimensions, got {array.ndim}")
        expected_shape = tuple(
            lengths.setdefault(length, got) if isinstance(length, str) else length
            for length, got in zip(shape, array.shape)
        )
        if array.shape != expected_shape:
            raise ValueError(f"array {name!r} must have shape {expected_shape}, got {array.shape}")
        checked.append(array)
    return checked


def check_names(returned: object, layout: Mapping[str, tuple], what: str) -> None:
    """Raise ValueError unless a method, `what`, returned a dict with the names of a layout."""
    got = sorted(returned) if isinstance(returned, Mapping) else type(returned).__name__
    if got != sorted(layout):
        raise ValueError(f"{what} must return a dict with the names {sorted(layout)}, got {got}")


def check_layout(layout: Mapping[str, tuple], what: str) -> None:
    """Raise TypeError unless a class declares the arrays of its learners as it should."""
    form = "dtypes and tuples of lengths by name, such as {'along': ('float64', ('n_features',))}"
    for name, declared in layout.items():
        try:
            dtype, shape = declared
            is_right = np.dtype(dtype).kind in "biuf" and isinstance(shape, tuple)
        except (TypeError, ValueError):
            is_right = False
        if not (is_right and str(name).isidentifier()):
            raise TypeError(f"{what} must have {form}, got {{{name!r}: {declared!r}}}")
