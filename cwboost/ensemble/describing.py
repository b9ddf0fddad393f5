"""Weak learners in words."""

from collections.abc import Mapping, Sequence

import numpy as np

from cwboost.families.contract import WeakLearners
from cwboost.families.flat_forms import ThresholdTrees
from cwboost.families.joined_trees import trees_on_features

LISTED = 4


def describe(
    learners: WeakLearners, names: Sequence[str], levels: Mapping[int, Mapping]
) -> list[str]:
    """Return, for each learner, when it answers +1, or what it compares if that is long.

    `levels` holds the value of each category of the features that have some, in the order of codes.
    """
    flat = learners.flat_form()
    if flat is None:
        return [type(learners).__name__] * len(learners)
    if flat.directions is None:
        return _on_features(flat, names, levels)
    trees, places = trees_on_features(flat)
    words = dict(zip(places.tolist(), _on_features(trees, names, levels)))
    return [
        words[tree] if tree in words else _on_directions(flat, tree, names)
        for tree in range(len(flat))
    ]


def direction_of(flat: ThresholdTrees, linear: int, names) -> dict[str, float]:
    """Return the entries of a linear feature by the names of features."""
    entries = flat.directions[:, linear]
    return {names[f]: float(entries[f]) for f in np.flatnonzero(entries).tolist()}


def terms_of(direction: Mapping[str, float]) -> str:
    """Return the largest entries of a direction as a sum in words."""
    largest = sorted(direction, key=lambda name: -abs(direction[name]))
    terms = " ".join(f"{direction[name]:+.3g} {name}" for name in largest[:LISTED])
    more = f" and {len(largest) - LISTED} more" if len(largest) > LISTED else ""
    return terms.removeprefix("+") + more


def _on_features(flat: ThresholdTrees, names, levels) -> list[str]:
    stumps = flat.stumps()
    if stumps is not None:
        words = []
        for feature, threshold, *rest in zip(*(a.tolist() for a in stumps)):
            if feature in levels and np.isfinite(threshold):
                words.append(_category_stump(names[feature], levels[feature], threshold, *rest))
            else:
                words.append(_stump(feature, threshold, *rest, names))
        return words
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


def _category_stump(
    name: str, levels: Mapping, threshold: float, polarity: int, missing: int
) -> str:
    members = [level for level, value in levels.items() if value > threshold]
    others = [level for level, value in levels.items() if not value > threshold]
    if len(others) < len(members):  # the shorter of the two lists
        members, polarity = others, -polarity
    listed = ", ".join(map(str, members[:LISTED]))
    more = f" and {len(members) - LISTED} more" if len(members) > LISTED else ""
    text = f"{name} {'in' if polarity > 0 else 'not in'} {{{listed}{more}}}"
    return f"{text} or missing" if missing > 0 else text


def _tree(flat: ThresholdTrees, tree: int, names) -> str:
    feature = flat.feature[flat.offsets[tree] : flat.offsets[tree + 1]]
    used = list(dict.fromkeys(feature[feature >= 0].tolist()))
    n_leaves = int(np.sum(feature < 0))
    shown = ", ".join(names[f] for f in used[:LISTED])
    more = f" and {len(used) - LISTED} more" if len(used) > LISTED else ""
    return f"tree of {n_leaves} leaves on {shown}{more}"


def _on_directions(flat: ThresholdTrees, tree: int, names) -> str:
    """Return the direction of a single comparison, its largest entries first."""
    root, end = flat.offsets[tree : tree + 2].tolist()
    if end - root != 3:
        n_directions = len(np.unique(flat.feature[root:end])) - 1
        return f"tree of {(end - root + 1) // 2} leaves on {n_directions} directions"
    if flat.output[root + 1] == flat.output[root + 2]:
        return "always" if flat.output[root + 1] > 0 else "never"
    entries = direction_of(flat, int(flat.feature[root]), names)
    sign = ">" if flat.output[root + 2] > 0 else "<="
    return f"{terms_of(entries)} {sign} {flat.threshold[root]:.6g}"
