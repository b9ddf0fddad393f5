"""Slow stump search in plain NumPy by definition: every feature, threshold, sign and side."""

import itertools

import numpy as np
from reference_family import ReferenceLearners
from scipy import sparse

from cwboost import unpack_outputs


def assert_outputs(X, found):
    """Return the outputs of stumps that were found, one row per stump, if they are their own."""
    stumps = ReferenceLearners(found.feature, found.threshold, found.polarity, found.missing)
    outputs = unpack_outputs(found.outputs, X.shape[0])
    np.testing.assert_array_equal(stumps.outputs(X), outputs)
    return outputs.T


def partitions(X, features=None):
    """Yield (feature, h) for all stumps with polarity +1, in the order of tie-breaking.

    The constant is first, the others follow by feature and threshold. A feature with missing
    values has both sides for them, and last the split of missing from present values.
    """
    n_samples, n_features = X.shape
    yield -1, np.ones(n_samples, dtype=np.int8)
    for f in range(n_features) if features is None else sorted(features):
        column = X[:, f].astype(np.float64)
        missing = np.isnan(column)
        sides = (1, -1) if missing.any() else (1,)
        for a, side in itertools.product(np.unique(column[~missing])[:-1], sides):
            h = np.where(column > a, 1, -1).astype(np.int8)
            h[missing] = side
            yield f, h
        if missing.any() and not missing.all():
            yield f, np.where(missing, 1, -1).astype(np.int8)


def all_edges(X, weights, features=None):
    """Return features (n_stumps,), outputs (n_stumps, n_samples), edges (n_targets, n_stumps)."""
    found = list(partitions(X, features))
    outputs = np.array([h for _, h in found])
    return np.array([f for f, _ in found]), outputs, weights @ outputs.T.astype(np.float64)


def assert_best(X, weights, found, features=None, exact_ties=False):
    """Assert that `found` is a best stump per row of weights, the first one if ties are exact."""
    dense = X.toarray() if sparse.issparse(X) else X
    feature, outputs, edges = all_edges(dense, weights, features)
    got = assert_outputs(dense, found)
    rounding = 1e-13 * np.abs(weights).sum(axis=1)
    for t, w in enumerate(weights):
        best = np.abs(edges[t]).max()
        assert abs(found.edges[t] - best) <= rounding[t]
        assert abs(got[t] @ w - found.edges[t]) <= rounding[t]
        if exact_ties:
            first = np.flatnonzero(np.abs(edges[t]) == best)[0]
            assert found.edges[t] == best
            assert found.feature[t] == feature[first]
            sign = 1 if edges[t, first] >= 0 else -1
            # Zero weights make different partitions equivalent: compare edges only.
            np.testing.assert_array_equal((got[t] * w), (sign * outputs[first] * w))


def assert_best_shared(X, weights, found, features=None):
    """Assert that `found` is a stump with the largest sum of absolute edges over the rows."""
    dense = X.toarray() if sparse.issparse(X) else X
    feature, _, edges = all_edges(dense, weights, features)
    sums = np.abs(edges).sum(axis=0)
    rounding = 1e-13 * np.abs(weights).sum()
    (got,) = assert_outputs(dense, found)
    assert abs(found.edges[0] - sums.max()) <= rounding
    assert abs(np.abs(weights @ got).sum() - found.edges[0]) <= rounding
    ties = np.flatnonzero(sums >= sums.max() - rounding)
    assert found.feature[0] >= feature[ties[0]]
    return feature[ties[0]]


def class_weights(rng, n_samples, n_targets):
    """Return rows as in boosting: positive for one class of examples, negative elsewhere."""
    y = rng.integers(0, n_targets, n_samples)
    mu = np.exp(3 * rng.normal(size=(n_targets, n_samples)))
    own = y == np.arange(n_targets)[:, None]
    return np.where(own, (mu * ~own).sum(axis=0), -mu)
