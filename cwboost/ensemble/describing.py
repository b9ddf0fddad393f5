"""Weak learners in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cwboost.families.contract import WeakLearners
from cwboost.families.flat_forms import ThresholdTrees

__all__ = ["describe"]

LISTED = 4


def describe(learners: WeakLearners, names: Sequence[str]) -> list[str]:
    """Return, for each learner, when it answers +1, or what it compares if that is long.

    Parameters
    ----------
    learners : WeakLearners
    names : sequence of str
        Names of the features.
    """
    flat = learners.flat_form()
    if flat is None:
        return [type(learners).__name__] * len(learners)
    stumps = flat.stumps()
    if stumps is not None:
        return [_stump(*stump, names) for stump in zip(*(array.tolist() for array in stumps))]
    return [_tree(flat, tree, names) for tree in range(len(flat))]


def _stump(feature: int, threshold: float, polarity: int, missing: int, names) -> str:
    if feature < 0:
        return "always" if polarity > 0 else "never"
    name = names[feature]
    if np.isinf(threshold):
        # Every value goes one way, so that only a missing value makes a difference.
        above = (threshold < 0) == (polarity > 0)
        if above == (missing > 0):
            return "always" if above else "never"
        return f"{name} is not missing" if above else f"{name} is missing"
    text = f"{name} {'>' if polarity > 0 else '<='} {threshold:.6g}"
    return f"{text} or missing" if missing > 0 else text


def _tree(flat: ThresholdTrees, tree: int, names) -> str:
    feature = flat.feature[flat.offsets[tree] : flat.offsets[tree + 1]]
    used = list(dict.fromkeys(feature[feature >= 0].tolist()))
    n_leaves = int(np.sum(feature < 0))
    if flat.directions is not None:
        what = "direction" if len(used) == 1 else "directions"
        return f"{len(used)} {what} of {len(names)} features, {n_leaves} leaves"
    shown = ", ".join(names[f] for f in used[:LISTED])
    more = f" and {len(used) - LISTED} more" if len(used) > LISTED else ""
    return f"tree of {n_leaves} leaves on {shown}{more}"
