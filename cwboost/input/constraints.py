"""Constraints of the scores, as users write them, in the form that families read."""

from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from cwboost.families.discovery import check_capabilities
from cwboost.families.sealing.sample import read_only
from cwboost.input.columns import column_label, place_of
from cwboost.input.labels import shown
from cwboost.input.schema import InputSchema

SIZES = {"no_interactions": 1, "pairwise": 2}
"""Sizes of the sets that a name stands for: all sets of as many features."""


def read_constraints(
    given: Mapping[str, Any], schema: InputSchema, classes, n_targets: int
) -> dict[str, np.ndarray]:
    """Return the constraints of the scores that are priced, by their names in `BindContext`.

    Those `given` have the names of the parameters. Two classes may have one score for both: that of
    the second. The score of the first is constant then, and what it would do falls to the other.
    """
    if not given:
        return {}
    constraints = {}
    if "monotonic_cst" in given:
        signs = _monotonic(given["monotonic_cst"], schema, classes)
        if n_targets < len(signs):
            first, second = signs
            signs = np.where(second, second, -first)[None]
        if signs.any():
            constraints["monotonic"] = signs
    if "interaction_cst" in given:
        sets = given["interaction_cst"]
        constraints["interactions"] = _interactions(sets, schema.n_features, schema.names)
    check_capabilities(schema.family, requires=list(constraints))
    return {name: read_only(array) for name, array in constraints.items()}


def _monotonic(given, schema: InputSchema, classes) -> np.ndarray:
    """Return the constraint of each class's score on each feature, (n_classes, n_features), int8.

    `given` is ``monotonic_cst`` of `CWBoostClassifier`. Categories cannot be constrained.
    """
    labels, n_features, names = classes.tolist(), schema.n_features, schema.names
    if isinstance(given, Mapping) and any(isinstance(v, Mapping) for v in given.values()):
        constraints = np.zeros((len(labels), n_features), dtype=np.int8)
        for label, columns in given.items():
            if label not in labels or not isinstance(columns, Mapping):
                raise ValueError(
                    "monotonic_cst must be a mapping of columns per label of y, got "
                    f"{columns!r} for {shown(label)}"
                )
            constraints[labels.index(label)] = _of_columns(columns, n_features, names)
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
    for place in sorted(schema.categories):
        if constraints[:, place].any():
            raise ValueError(
                "monotonic_cst must be 0 for categories, which have no order, got a constraint for "
                f"{column_label(place, names)}"
            )
    return constraints


def _interactions(given, n_features: int, names) -> np.ndarray:
    """Return the sets of features that may interact, (n_sets, n_features), bool.

    `given` is ``interaction_cst`` of `CWBoostClassifier`. Features in none of the sets are one more
    set.
    """
    if isinstance(given, str) and given in SIZES:
        sets = list(combinations(range(n_features), min(SIZES[given], n_features)))
    elif not _is_sequence(given) or not all(map(_is_sequence, given)):
        raise TypeError(
            "interaction_cst must be 'no_interactions', 'pairwise', or a sequence of sets of "
            f"columns, got {given!r}"
        )
    else:
        sets = [
            [place_of(column, names, n_features, "interaction_cst") for column in members]
            for members in given
        ]
    allowed = np.zeros((len(sets) + 1, n_features), dtype=bool)
    for row, members in zip(allowed, sets):
        row[list(members)] = True
    allowed[-1] = ~allowed.any(axis=0)
    return allowed[allowed.any(axis=1)]


def _is_sequence(given) -> bool:
    return isinstance(given, Collection) and not isinstance(given, str)


def _of_columns(given, n_features: int, names) -> np.ndarray:
    """Return constraints by place, from an array or from a mapping by name or place."""
    if isinstance(given, Mapping):
        by_place = {
            place_of(column, names, n_features, "monotonic_cst"): given[column] for column in given
        }
        given = [by_place.get(place, 0) for place in range(n_features)]
    constraints = np.atleast_1d(given)
    wrong = np.argwhere(~np.isin(constraints, (-1, 0, 1)))
    if len(wrong):
        value = constraints[tuple(wrong[0])]
        where = column_label(wrong[0][-1], names if constraints.shape[-1] == n_features else None)
        raise ValueError(f"monotonic_cst must be -1, 0 or 1, got {value} for {where}")
    return constraints.astype(np.int8)
