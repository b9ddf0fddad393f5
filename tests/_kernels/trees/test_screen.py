"""Trees whose features are screened by bounds on their gains: dense, all features per node."""

import numpy as np
import pytest
import scipy.sparse as sp
from cwboost.plugins.trees import TreeFamily
from slow_trees import grow, nested

from cwboost import BindContext

EXACT = {"splitter": "best", "trim": 0.0, "max_features": None}
SCREENED = [("edge", 1), ("gini", 1), ("gini", 5)]
"""Criteria and smallest leaves; features are screened from 256 rows and 8 features on."""


def price(X, weights, n_threads=1, **params):
    family = TreeFamily(**EXACT, **params)
    context = BindContext(
        n_targets=len(weights), random_state=np.random.default_rng(0), n_threads=n_threads
    )
    pricer = family.bind(X, context)
    return pricer.price(weights)


def signed_weights(rng, n, k=1):
    return rng.normal(size=(k, n)) * rng.exponential(size=n)


def concentrated_weights(rng, n, k=1):
    """Return weights with most of the mass on few examples, as late in boosting: these screen."""
    return signed_weights(rng, n, k) * 10.0 ** -rng.uniform(0, 6, size=n)


@pytest.mark.parametrize(("criterion", "min_samples_leaf"), SCREENED)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_screened_features_equal_reference(criterion, min_samples_leaf, missing):
    """Dense and mostly constant features, copies and mirror images that tie."""
    rng = np.random.default_rng(13)
    X = rng.integers(0, 25, size=(420, 11)).astype(float)
    X[:, :3] *= rng.random((420, 3)) < 0.2
    X[rng.random(X.shape) < missing] = np.nan
    X[:, 3] = -X[:, 8]
    X[:, 5] = X[:, 9]
    X[:, 7] = np.nan if missing else 4
    limits = {"max_depth": 2, "min_samples_leaf": min_samples_leaf}
    for integers in (False, True):
        weights = concentrated_weights(rng, 420, 4)
        weights[:, ::9] = 0
        if integers:
            weights = np.rint(3 * weights)
        priced = price(X, weights, criterion=criterion, **limits)
        for t in range(4):
            expected = grow(X, weights[t], criterion=criterion, **limits)
            assert nested(priced.learners, t) == expected


@pytest.mark.parametrize(("criterion", "min_samples_leaf"), SCREENED)
@pytest.mark.parametrize(("n_features", "max_bins"), [(13, 9), (13, 256), (8, 100), (70, 40)])
def test_screening_changes_nothing(criterion, min_samples_leaf, n_features, max_bins):
    """Compare with the sparse matrix, which is not screened, on up to all 256 bins."""
    rng = np.random.default_rng(14)
    X = rng.normal(size=(3000, n_features))
    X[:, 2] = np.repeat(np.arange(1, 251), 12)
    X[:, 6] = np.where(rng.random(3000) < 0.1, np.nan, X[:, 6])
    X += (X[:, [0]] > 0) * 1.5
    weights = concentrated_weights(rng, 3000, 5)
    weights[4] = np.where(X[:, 1] > 0, 1.0, -1.0) + 0.3 * rng.normal(size=3000)
    params = {"criterion": criterion, "min_samples_leaf": min_samples_leaf, "max_bins": max_bins}
    params |= {"max_depth": 5}
    dense, sparse = price(X, weights, **params), price(sp.csc_array(X), weights, **params)
    assert np.array_equal(dense.outputs, sparse.outputs)
    assert np.array_equal(dense.edges, sparse.edges)
    for t in range(5):
        assert nested(dense.learners, t) == nested(sparse.learners, t)
    again = price(X, weights, n_threads=2, **params)
    assert np.array_equal(dense.outputs, again.outputs)
    assert np.array_equal(dense.edges, again.edges)


def test_screening_of_weights_of_any_size():
    """Masses that differ by hundreds of orders of magnitude between the children of a node."""
    rng = np.random.default_rng(15)
    X = rng.integers(0, 50, size=(900, 8)).astype(float)
    weights = signed_weights(rng, 900)
    weights[:, X[:, 4] < 20] *= 1e-290
    weights[:, X[:, 4] < 10] *= 1e-15
    priced = price(X, weights, criterion="gini", max_depth=2)
    assert nested(priced.learners, 0) == grow(X, weights[0], criterion="gini", max_depth=2)
