"""Omitting bins that cannot hold the winner does not change a bit of a stump search's result."""

import numpy as np
import pytest
from scipy import sparse

from cwboost.kernels import SortedFeatures

N_SAMPLES = 70_001  # more than 65,536, and not a multiple of the block size


def matrix(rng, case):
    """Four columns that are sorted into bins in different ways."""
    X = rng.normal(size=(N_SAMPLES, 4)).astype(np.float32)
    if case == "ties":
        X = np.round(2 * X)
    elif case == "mostly zero":
        X[rng.random(X.shape) < 0.6] = 0.0
    elif case == "missing, constant, few":
        X[rng.random(N_SAMPLES) < 0.1, 0] = np.nan
        X[:, 1] = 3.0
        X[500:, 2] = -1.0
    elif case == "duplicates":
        X[:, 2] = X[:, 1]
    return X


def weights_of(rng, X, n_targets, kind):
    """Return signed weights as in boosting, or others that make bounds tight, loose or void."""
    if kind == "noise":
        return rng.normal(size=(n_targets, N_SAMPLES))
    if kind == "integers":
        return rng.integers(-2, 3, (n_targets, N_SAMPLES)).astype(np.float64)
    weights = rng.exponential(size=(n_targets, N_SAMPLES))
    if kind == "one outweighs all":
        weights[:, 12_345] = 1e9
    cut = rng.normal(size=(n_targets, 1))
    column = np.nan_to_num(X[:, rng.integers(0, 4)])
    return np.where((column > cut) ^ (rng.random(weights.shape) < 0.3), weights, -weights)


def assert_same(one, other):
    np.testing.assert_equal(one, other)


def searched(features, weights, use_bins, columns=None):
    features._search.use_bins = use_bins
    return features.search(weights, columns)


@pytest.mark.parametrize("kind", ["classes", "noise", "integers", "one outweighs all"])
@pytest.mark.parametrize(
    "case", ["distinct", "ties", "mostly zero", "missing, constant, few", "duplicates"]
)
def test_bins_change_nothing(rng, case, kind):
    X = matrix(rng, case)
    features, of_sparse = SortedFeatures(X), SortedFeatures(sparse.csc_array(X))
    weights = weights_of(rng, X, 10, kind)
    weights[2] = 0.0
    for columns in (None, np.array([3]), np.array([0, 2]), np.array([], dtype=np.int64)):
        without = searched(features, weights, 0, columns)
        assert_same(without, searched(features, weights, 1, columns))
        assert_same(without, searched(of_sparse, weights, 1, columns))


@pytest.mark.parametrize("n_targets", [1, 3, 17, 26, 70])
def test_every_number_of_targets(rng, n_targets):
    X = matrix(rng, "distinct")
    weights = weights_of(rng, X, n_targets, "classes")
    features, two = SortedFeatures(X), SortedFeatures(X, 2)
    reference = searched(features, weights, 0)
    assert_same(reference, searched(two, weights, 1))
    assert_same(reference, searched(features, weights, 1))


def test_searches_omit_bins_that_do_not_pay(rng):
    """300,000 rows of weights exceed the limit; on noise no bin can be omitted."""
    X = rng.normal(size=(300_000, 2)).astype(np.float32)
    features = SortedFeatures(X)
    for _ in range(3):
        weights = rng.normal(size=(10, len(X)))
        assert_same(searched(features, weights, -1), searched(features, weights, 0))
