"""Trees grown by definition, one candidate at a time, as a reference for the kernel."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-11


def criterion_value(name, weights):
    """Return the contribution of a set of signed weights to the criterion."""
    total, mass = weights.sum(), np.abs(weights).sum()
    if name == "edge":
        return abs(total)
    return total**2 / mass if mass else 0.0


def candidates(column, weights):
    """Yield every (threshold, missing side) that separates the values of a node, in order."""
    values = np.unique(column[~np.isnan(column)])
    has_missing = np.isnan(column).any()
    thresholds = list((values[1:] + values[:-1]) / 2)
    if has_missing and len(values):
        thresholds.append(np.inf)
    for threshold in thresholds:
        right = column > threshold
        if not has_missing:
            heavier = np.abs(weights[~right]).sum() < 0.5 * np.abs(weights).sum()
            yield threshold, (1 if heavier else -1)
            continue
        if threshold < np.inf:
            yield threshold, -1
        yield threshold, 1


def goes_right(column, threshold, missing):
    return np.where(np.isnan(column), missing > 0, column > threshold)


def edge_in_order(weights, right):
    """Return the edge of a split; each side has the sign of its sum, added in example order."""
    signs = [1 if weights[~right].sum() > 0 else -1, 1 if weights[right].sum() > 0 else -1]
    total = 0.0
    for weight, is_right in zip(weights, right):
        total += weight * signs[int(is_right)]
    return total


def find_split(X, weights, criterion, least_mass):
    mass = np.abs(weights).sum()
    tolerance = ROUNDING * mass
    if len(weights) < 2 or mass < 2 * least_mass or mass - abs(weights.sum()) <= tolerance:
        return None
    parent = criterion_value(criterion, weights)
    found = []
    for f in range(X.shape[1]):
        for threshold, missing in candidates(X[:, f], weights):
            right = goes_right(X[:, f], threshold, missing)
            masses = np.abs(weights[right]).sum(), np.abs(weights[~right]).sum()
            if min(masses) < least_mass or right.all() or not right.any():
                continue
            gain = (
                criterion_value(criterion, weights[~right])
                + criterion_value(criterion, weights[right])
                - parent
            )
            found.append((gain, f, threshold, missing))
    if not found:
        return None
    best = max(gain for gain, *_ in found)
    if best <= tolerance:
        return None
    tied = [split for split in found if split[0] >= best - tolerance]
    if criterion != "edge":
        return tied[0]
    edges = [edge_in_order(weights, goes_right(X[:, f], t, m)) for _, f, t, m in tied]
    return tied[int(np.argmax(edges))]


def grow(X, weights, *, criterion, max_depth=None, max_leaf_nodes=None, min_leaf_weight=0.0):
    """Return a tree as nested tuples: a sign, or (feature, threshold, missing, left, right)."""
    least_mass = min_leaf_weight * np.abs(weights).mean()
    used = weights != 0
    X, weights = np.asarray(X, dtype=float)[used], weights[used]
    root = {"rows": np.arange(len(weights)), "depth": 0}
    leaves = [root]

    def search(node):
        node["split"] = None
        if max_depth is None or node["depth"] < max_depth:
            rows = node["rows"]
            node["split"] = find_split(X[rows], weights[rows], criterion, least_mass)

    search(root)
    while max_leaf_nodes is None or len(leaves) < max_leaf_nodes:
        open_leaves = [leaf for leaf in leaves if leaf["split"] is not None]
        if not open_leaves:
            break
        node = max(open_leaves, key=lambda leaf: leaf["split"][0])
        _, f, threshold, missing = node["split"]
        right = goes_right(X[node["rows"], f], threshold, missing)
        node["children"] = [
            {"rows": node["rows"][side], "depth": node["depth"] + 1} for side in (~right, right)
        ]
        leaves = [leaf for leaf in leaves if leaf is not node] + node["children"]
        for child in node["children"]:
            search(child)

    def finish(node):
        if "children" not in node:
            total = weights[node["rows"]].sum()
            return -1 if total < -ROUNDING * np.abs(weights[node["rows"]]).sum() else 1
        left, right = map(finish, node["children"])
        if not isinstance(left, tuple) and left == right:
            return left
        return (*node["split"][1:], left, right)

    return finish(root)


def nested(learners, t):
    """Return tree t of a batch in the form that `grow` returns."""
    trees = learners.trees
    first = int(trees.offsets[t])

    def node(place):
        k = first + place
        if trees.feature[k] < 0:
            return int(trees.output[k])
        left = int(trees.left[k])
        return (
            int(trees.feature[k]),
            float(trees.threshold[k]),
            int(trees.missing[k]),
            node(left),
            node(left + 1),
        )

    return node(0)
