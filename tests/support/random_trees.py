"""Random binary trees in flat form, and their outputs by a walk in plain Python."""

import numpy as np


def random_trees(rng, sizes, n_features, thresholds):
    """Return flat arrays, as `TreeEvaluator` takes them, of trees with `sizes` inner nodes.

    A leaf drawn among the last few becomes the next inner node: some ways are long.
    """
    trees = []
    for n_inner in sizes:
        left, leaves = np.full(2 * n_inner + 1, -1), [0]
        for k in range(n_inner):
            node = leaves.pop(rng.integers(max(0, len(leaves) - 40), len(leaves)))
            left[node] = 2 * k + 1
            leaves += [2 * k + 1, 2 * k + 2]
        trees.append(left)
    left = np.concatenate(trees)
    inner, n = left >= 0, len(left)
    return {
        "offsets": np.cumsum([0, *map(len, trees)]),
        "feature": np.where(inner, rng.integers(0, n_features, n), -1).astype(np.int32),
        "threshold": np.where(inner, rng.choice(thresholds, n), 0),
        "left": left.astype(np.int32),
        "missing": np.where(inner, rng.choice([-1, 1], n), 0).astype(np.int8),
        "output": np.where(inner, 0, rng.choice([-1, 1], n)).astype(np.int8),
    }


def walked(nodes, X):
    """Return the outputs of trees on the rows of X, int8 of shape (n_rows, n_trees)."""
    node = np.tile(nodes["offsets"][:-1], (len(X), 1))
    root, row = node.copy(), np.arange(len(X))[:, None]
    while (inner := nodes["feature"][node] >= 0).any():
        value = X[row, nodes["feature"][node]]
        right = (value > nodes["threshold"][node]) | np.isnan(value) & (nodes["missing"][node] > 0)
        node = np.where(inner, root + nodes["left"][node] + right, node)
    return nodes["output"][node]
