"""Monotonic constraints, as users write them, in the form that families read."""

from collections.abc import Collection, Mapping

import numpy as np

from cwboost.estimator.input.columns import column_label, place_of
from cwboost.estimator.input.labels import shown


def read_constraints(given, classes, n_features: int, names, categorical: Collection[int]):
    """Return the constraint of each class's score on each feature, (n_classes, n_features), int8.

    `given` is ``monotonic_cst`` of `CWBoostClassifier`, and `categorical` the places of the columns
    of categories, which cannot be constrained. Return None if nothing is constrained.
    """
    if given is None:
        return None
    labels = classes.tolist()
    if isinstance(given, Mapping) and any(isinstance(v, Mapping) for v in given.values()):
        constraints = np.zeros((len(labels), n_features), dtype=np.int8)
        for label, own in given.items():
            if label not in labels or not isinstance(own, Mapping):
                raise ValueError(
                    "monotonic_cst must be a mapping of columns per label of y, got "
                    f"{own!r} for {shown(label)}"
                )
            constraints[labels.index(label)] = _of_columns(own, n_features, names)
    else:
        constraints = _of_columns(given, n_features, names)
        if constraints.shape == (n_features,):
            if len(labels) != 2 and constraints.any():
                raise ValueError(
                    f"monotonic_cst must have constraints per class with {len(labels)} classes, an "
                    "array of shape (n_classes, n_features) or a mapping by label, got one row"
                )
            sign_of_class = np.where(np.arange(len(labels)), 1, -1).astype(np.int8)
            constraints = np.outer(sign_of_class, constraints)
    if constraints.shape != (len(labels), n_features):
        raise ValueError(
            f"monotonic_cst must have shape ({n_features},) or ({len(labels)}, {n_features}), "
            f"one row per class, got {constraints.shape}"
        )
    for place in sorted(categorical):
        if constraints[:, place].any():
            raise ValueError(
                "monotonic_cst must be 0 for categories, which have no order, got a constraint for "
                f"{column_label(place, names)}"
            )
    return constraints if constraints.any() else None


def of_second_score(constraints) -> np.ndarray:
    """Return the constraints, (1, n_features), of the second class if the first one's are its too.

    The score of the first class is constant then, and what it would do falls to the other.
    """
    first, second = constraints
    return np.where(second, second, -first)[None]


def _of_columns(given, n_features: int, names) -> np.ndarray:
    """Return constraints by place, from an array or from a mapping by name or place."""
    if isinstance(given, Mapping):
        own = {place_of(one, names, n_features, "monotonic_cst"): given[one] for one in given}
        given = [own.get(place, 0) for place in range(n_features)]
    constraints = np.atleast_1d(given)
    wrong = np.argwhere(~np.isin(constraints, (-1, 0, 1)))
    if len(wrong):
        value = constraints[tuple(wrong[0])]
        where = column_label(wrong[0][-1], names if constraints.shape[-1] == n_features else None)
        raise ValueError(f"monotonic_cst must be -1, 0 or 1, got {value} for {where}")
    return constraints.astype(np.int8)
