"""Weak learners as tables: one row per node, or per learner in words."""

from collections.abc import Mapping, Sequence

import numpy as np

from cwboost.ensemble.describing import describe, direction_of
from cwboost.ensemble.inspection import ClassColumns
from cwboost.ensemble.model import Ensemble
from cwboost.families.flat_forms import ThresholdTrees
from cwboost.families.joined_trees import plain_features

OF_LEARNER = ("learner", "round", "class", "coef", "edge")
OF_NODE = (
    "node",
    "depth",
    "feature",
    "direction",
    "threshold",
    "categories",
    "missing",
    "left",
    "right",
    "output",
)
COLUMNS = OF_LEARNER + OF_NODE
STRONGEST = ("class", "coef", "edge", "round", "votes +1 if")


def node_rows(
    ensemble: Ensemble, classes, names: Sequence[str], levels: Mapping, n_rounds=None
) -> list[dict]:
    """Return one row per learner with a coefficient, class and node; see `COLUMNS`."""
    used, learners, coef = ensemble.used(n_rounds)
    trees = learners.flat_form()
    if trees is None:
        raise TypeError(
            "tables of nodes need learners that compare features, or sums of features: those of "
            f"type {type(ensemble.learners).__name__} have no flat form"
        )
    if coef.shape[1] != len(classes):
        classes = [f"bit {k}" for k in range(coef.shape[1])]
    else:
        classes = np.asarray(classes).tolist()
    rounds = np.searchsorted(ensemble.path.learners_offsets, used, side="right") - 1
    rows = []
    for t, learner in enumerate(used.tolist()):
        edge = None if ensemble.edges is None else float(ensemble.edges[learner])
        for entry in range(*coef.indptr[t : t + 2]):
            label, value = classes[coef.indices[entry]], float(coef.data[entry])
            cells = dict(zip(OF_LEARNER, (learner, int(rounds[t]), label, value, edge)))
            nodes = tree_rows(trees, t, names, levels, coef.indices[entry])
            rows.extend(cells | node for node in nodes)
    return rows


def tree_rows(
    trees: ThresholdTrees, tree: int, names: Sequence[str], levels: Mapping, score: int = 0
) -> list[dict]:
    """Return one row per node of a tree, the root first; see `COLUMNS`.

    `levels` holds the value of each category of the features that have some, in the order of codes.
    The outputs of a graded tree are those for `score`.
    """
    start, end = trees.offsets[tree : tree + 2].tolist()
    depth = [0] * (end - start)
    plain = None if trees.directions is None else plain_features(trees)
    rows = []
    for place, node in enumerate(range(start, end)):
        feature, left = int(trees.feature[node]), int(trees.left[node])
        row = dict.fromkeys(OF_NODE) | {"node": place, "depth": depth[place]}
        if feature < 0:
            # The only output, or that of the score.
            outputs = trees.output[node].ravel()
            rows.append(row | {"output": int(outputs[score % len(outputs)])})
            continue
        depth[left] = depth[left + 1] = depth[place] + 1
        row["threshold"] = float(trees.threshold[node])
        if plain is None and feature in levels:
            known = levels[feature].items()
            row["categories"] = [name for name, value in known if value > row["threshold"]]
        if plain is None or plain[feature] >= 0:
            row["feature"] = names[feature if plain is None else plain[feature]]
        else:
            row["direction"] = direction_of(trees, feature, names)
        row |= {"left": left, "right": left + 1}
        row["missing"] = "right" if trees.missing[node] > 0 else "left"
        rows.append(row)
    return rows


def strongest(
    columns: ClassColumns, label, names: Sequence[str], levels: Mapping, n_learners: int
) -> list[dict]:
    """Return one row per learner of largest coefficients of a class; see `STRONGEST`."""
    learners = columns.learners.take(np.arange(len(columns.index))[:n_learners])
    words = describe(learners, names, levels)
    values = zip(columns.coef.tolist(), columns.edge.tolist(), columns.round.tolist(), words)
    return [dict(zip(STRONGEST, (label, *row))) for row in values]
