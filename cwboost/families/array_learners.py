"""Learners stored as arrays with one row per learner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cwboost.families.arrays import check_arrays, check_layout
from cwboost.families.contract import WeakLearners

if TYPE_CHECKING:
    from typing_extensions import Self


@cache
def _dtypes_of(learners_type: type[ArrayLearners]) -> dict[str, np.dtype]:
    """Return the dtypes of the arrays that a class declares."""
    return {name: np.dtype(dtype) for name, (dtype, _) in learners_type.shapes(0).items()}


class ArrayLearners(WeakLearners):
    """A batch of arrays with one row per learner; a subclass adds `outputs`.

    A subclass declares its arrays in `layout`; it inherits the constructor and everything that
    stores, checks, picks and joins learners.

    Parameters
    ----------
    n_features : int or None, default=None
        Number of features of the matrices that the learners are for. It need not be given;
        `from_arrays`, `take` and `concatenate` pass it on.
    **arrays : array-like
        One for each name in `layout`; they become attributes. If arrays are `shared`, also those,
        with an axis of groups in front, and ``group``, the group of each learner: batches that
        `concatenate` joins may bring different ones.

    Attributes
    ----------
    n_features : int or None
    layout : dict of str to (dtype, shape)
        Class attribute: the dtype of each array and the shape of one learner's row, a tuple of
        ints, ``"n_features"`` and other names; ``()`` for one number per learner. A name of your
        own is a length that hyper-parameters decide, positive and the same wherever it occurs.
    shared : dict of str to (dtype, shape), default={}
        Class attribute: arrays that all learners of a batch share, such as landmarks.

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
    shared: ClassVar[Mapping[str, tuple[str, tuple]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for declared in vars(cls).keys() & {"layout", "shared"}:
            check_layout(vars(cls)[declared], f"{cls.__name__}.{declared}")

    def __init__(self, *, n_features: int | None = None, **arrays: Any) -> None:
        dtypes = _dtypes_of(type(self))
        if arrays.keys() != dtypes.keys():
            declared, got = ", ".join(sorted(dtypes)), ", ".join(sorted(arrays))
            raise TypeError(f"{type(self).__name__} takes {declared}, got {got}")
        self.n_features = n_features
        for name, dtype in dtypes.items():
            setattr(self, name, np.asarray(arrays[name], dtype=dtype))

    if TYPE_CHECKING:  # the arrays

        def __getattr__(self, name: str) -> np.ndarray: ...

    def check_values(self, n_features: int) -> None:
        """Raise ValueError for stored values that cannot be right for `n_features` features.

        Names and shapes are right here.
        Override it: indices in range, signs -1 and +1, and what else `outputs` relies on.
        """

    def __len__(self) -> int:
        return len(getattr(self, next(iter(self.layout))))

    def arrays(self) -> dict[str, np.ndarray]:
        return self._declared()

    def _declared(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in _dtypes_of(type(self))}

    @classmethod
    def shapes(cls, n_features: int | str) -> dict[str, tuple]:
        """Return dtype and shape of every array for `n_features` features; see `check_arrays`."""
        sizes = {"n_features": n_features}

        def declared(layout, first):
            return {
                name: (dtype, (first, *(sizes.get(size, size) for size in shape)))
                for name, (dtype, shape) in layout.items()
            }

        shapes = {**declared(cls.layout, "n_learners"), **declared(cls.shared, "n_groups")}
        return {**shapes, "group": ("int32", ("n_learners",))} if cls.shared else shapes

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int) -> ArrayLearners:
        shapes = cls.shapes(n_features)
        checked = dict(zip(shapes, check_arrays(arrays, shapes)))
        for name, (_, shape) in shapes.items():
            for axis, size in enumerate(shape):
                if isinstance(size, str) and size != "n_learners" and not checked[name].shape[axis]:
                    raise ValueError(f"array {name!r}: {size} must be positive, got 0")
        if cls.shared:
            n_groups = len(checked[next(iter(cls.shared))])
            if ((checked["group"] < 0) | (checked["group"] >= n_groups)).any():
                raise ValueError(f"array 'group' must hold indices of {n_groups} groups")
        learners = cls(n_features=n_features, **checked)
        learners.check_values(n_features)
        return learners

    def take(self, indices: np.ndarray) -> ArrayLearners:
        indices = np.asarray(indices, dtype=np.intp)
        parts = {
            name: array if name in self.shared else array[indices]
            for name, array in self._declared().items()
        }
        return type(self)(n_features=self.n_features, **parts)

    @classmethod
    def concatenate(cls, batches: Sequence[Self]) -> Self:
        numbers = {batch.n_features for batch in batches if batch.n_features is not None}
        if len(numbers) > 1:
            raise ValueError(
                f"batches must have the same number of features, got {sorted(numbers)}"
            )
        parts = (
            _in_one_numbering(batches) if cls.shared else [batch._declared() for batch in batches]
        )
        joined = {
            name: parts[0][name]
            if name in cls.shared
            else np.concatenate([part[name] for part in parts])
            for name in _dtypes_of(cls)
        }
        return cls(n_features=numbers.pop() if numbers else None, **joined)


def _in_one_numbering(batches: Sequence[ArrayLearners]) -> list[dict]:
    """Return the arrays of batches, with the groups of all in each and numbered alike."""
    names = list(batches[0].shared)
    known: dict[tuple, int] = {}
    kept: list[tuple[np.ndarray, ...]] = []
    parts = []
    places: dict[tuple, np.ndarray] = {}  # batches of one training hold the same arrays
    for batch in batches:
        shared = [getattr(batch, name) for name in names]
        identity = tuple(map(id, shared))
        if identity not in places:
            place = []
            for group in zip(*shared):
                key = tuple((array.shape, array.tobytes()) for array in group)
                if key not in known:
                    known[key] = len(kept)
                    kept.append(group)
                place.append(known[key])
            places[identity] = np.array(place, dtype=np.int32)
        own = batch._declared()
        parts.append(own | {"group": places[identity][own["group"]]})
    shapes = {tuple(array.shape for array in group) for group in kept}
    if len(shapes) > 1:
        raise ValueError(f"shared arrays of batches must have equal shapes, got {sorted(shapes)}")
    if len(kept) == len(getattr(batches[0], names[0])):
        joined = [getattr(batches[0], name) for name in names]
    else:
        joined = [np.stack(arrays) for arrays in zip(*kept)]
    return [part | dict(zip(names, joined)) for part in parts]
