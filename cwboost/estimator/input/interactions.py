"""Sets of features that may interact, as users write them, in the form that families read."""

from collections.abc import Collection
from itertools import combinations

import numpy as np

from cwboost.estimator.input.columns import place_of

SIZES = {"no_interactions": 1, "pairwise": 2}
"""Sizes of the sets that a name stands for: all sets of as many features."""


def read_interactions(given, n_features: int, names) -> np.ndarray | None:
    """Return the sets of features that may interact, (n_sets, n_features), bool.

    `given` is ``interaction_cst`` of `CWBoostClassifier`. Features in none of the sets are one more
    set. Return None if there are no constraints.
    """
    if given is None:
        return None
    if isinstance(given, str) and given in SIZES:
        sets = list(combinations(range(n_features), min(SIZES[given], n_features)))
    elif not _is_sequence(given) or not all(map(_is_sequence, given)):
        raise TypeError(
            "interaction_cst must be 'no_interactions', 'pairwise', or a sequence of sets of "
            f"columns, got {given!r}"
        )
    else:
        sets = [
            [place_of(one, names, n_features, "interaction_cst") for one in own] for own in given
        ]
    found = np.zeros((len(sets) + 1, n_features), dtype=bool)
    for members, own in zip(found, sets):
        members[list(own)] = True
    found[-1] = ~found.any(axis=0)
    return found[found.any(axis=1)]


def _is_sequence(given) -> bool:
    return isinstance(given, Collection) and not isinstance(given, str)
