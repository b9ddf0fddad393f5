"""Learners stored as arrays with one row per learner; checks of arrays that come from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import ClassVar

import numpy as np

from cwboost.families.contract import WeakLearners

__all__ = ["ArrayLearners", "check_arrays"]


@cache
def _dtypes_of(learners_type: type[ArrayLearners]) -> dict[str, np.dtype]:
    """Return the dtypes of the arrays that a class declares."""
    return {name: np.dtype(dtype) for name, (dtype, _) in learners_type.layout.items()}


class ArrayLearners(WeakLearners):
    """A batch in which every array has one row per learner; a subclass adds `outputs`.

    A subclass declares its arrays in `layout`; it inherits the constructor and everything that
    stores, checks, picks and joins learners.

    Parameters
    ----------
    n_features : int or None, default=None
        Number of features of the matrices that the learners are for. It need not be given;
        `from_arrays`, `take` and `concatenate` pass it on.
    **arrays : array-like
        One for each name in `layout`; they become attributes.

    Attributes
    ----------
    n_features : int or None
    layout : dict of str to (dtype, shape)
        Class attribute: the dtype of each array and the shape of one learner's row, a tuple of
        ints and ``"n_features"``; ``()`` for one number per learner.

    Examples
    --------
    >>> import numpy as np
    >>> from cwboost import ArrayLearners
    >>> class Signs(ArrayLearners):
    ...     layout = {"direction": ("float64", ("n_features",)), "polarity": ("int8", ())}
    ...
    ...     def outputs(self, X):
    ...         return np.where(X @ self.direction.T > 0, self.polarity, -self.polarity)
    ...
    ...     def check_values(self, n_features):
    ...         if not np.isin(self.polarity, (-1, 1)).all():
    ...             raise ValueError("array 'polarity' must hold -1 and +1")
    """

    layout: ClassVar[Mapping[str, tuple[str, tuple]]]

    def __init__(self, *, n_features: int | None = None, **arrays):
        dtypes = _dtypes_of(type(self))
        if arrays.keys() != dtypes.keys():
            wanted, got = ", ".join(sorted(self.layout)), ", ".join(sorted(arrays))
            raise TypeError(f"{type(self).__name__} takes {wanted}, got {got}")
        self.n_features = n_features
        for name, dtype in dtypes.items():
            array = arrays[name]
            # To ask here costs less than a call of NumPy that finds the array right, as most are.
            is_right = type(array) is np.ndarray and array.dtype is dtype
            setattr(self, name, array if is_right else np.asarray(array, dtype=dtype))

    def check_values(self, n_features: int) -> None:
        """Raise ValueError for stored values that cannot be right for `n_features` features.

        Names and shapes are right here.
        Override it: indices in range, signs -1 and +1, and what else `outputs` relies on.
        """

    def __len__(self) -> int:
        return len(getattr(self, next(iter(self.layout))))

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in self.layout}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int) -> ArrayLearners:
        sizes = {"n_features": n_features}
        shapes = {
            name: (dtype, ("n_learners", *(sizes.get(size, size) for size in shape)))
            for name, (dtype, shape) in cls.layout.items()
        }
        own = dict(zip(shapes, check_arrays(arrays, shapes)))
        learners = cls(n_features=n_features, **own)
        learners.check_values(n_features)
        return learners

    def take(self, indices) -> ArrayLearners:
        indices = np.asarray(indices, dtype=np.intp)
        parts = {name: getattr(self, name)[indices] for name in self.layout}
        return type(self)(n_features=self.n_features, **parts)

    @classmethod
    def concatenate(cls, batches: Sequence[ArrayLearners]) -> ArrayLearners:
        numbers = {batch.n_features for batch in batches} - {None}
        if len(numbers) > 1:
            raise ValueError(f"batches: expected one number of features, got {sorted(numbers)}")
        parts = [batch.arrays() for batch in batches]
        joined = {name: np.concatenate([part[name] for part in parts]) for name in cls.layout}
        return cls(n_features=numbers.pop() if numbers else None, **joined)


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
        missing, unknown = sorted(set(expected) - set(arrays)), sorted(set(arrays) - set(expected))
        raise ValueError(f"arrays: missing {missing}, unexpected {unknown}")
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
