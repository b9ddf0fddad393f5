"""Pricing that is told which rows count gives the bits of pricing that is not."""

import numpy as np
import pytest
from cwboost.plugins.projections import ProjectionFamily
from cwboost.plugins.trees import TreeFamily
from models import bind
from scipy import sparse
from wave_family import Waves

from cwboost import PricingRequest

N_SAMPLES, N_TARGETS = 500, 5


FAMILIES = {
    "tree": TreeFamily(),
    "tree, best splits": TreeFamily(max_depth=3, criterion="edge"),
    "projection": ProjectionFamily(40),
    "derived": Waves(),
}


def matrix(kind, rng):
    if kind == "continuous":
        return rng.normal(size=(N_SAMPLES, 6))
    X = rng.integers(0, 5, (N_SAMPLES, 8)).astype(np.uint8)
    X[:, 3] = 2
    X[:, 4] = X[:, 0]
    if kind == "ties":
        return X
    if kind == "sparse":
        return sparse.csr_array(X * (rng.random(X.shape) < 0.2))
    X = X.astype(np.float32)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 6] = np.where(rng.random(N_SAMPLES) < 0.5, np.nan, 1)
    return X


def weights_of(kind, rng, rows):
    weights = np.zeros((N_TARGETS, N_SAMPLES))
    values = rng.normal(size=(N_TARGETS, len(rows)))
    weights[:, rows] = np.sign(values) if kind == "signs" else values
    weights[-1] = np.abs(weights[-1])  # a constant is the best learner
    return weights


def bound(family, X):
    return bind(FAMILIES[family], X, N_TARGETS, 3, n_threads=2)


def assert_same_bits(*priced):
    np.testing.assert_equal(*([p.learners.arrays(), p.outputs, p.edges] for p in priced))


ALL_DATA = ("continuous", "ties", "missing", "sparse")
DATA = {"tree": ALL_DATA, "projection": ("continuous", "ties", "sparse")}
CASES = [
    (family, data)
    for family in FAMILIES
    for data in DATA.get(family.partition(",")[0], ("continuous", "ties"))
]


@pytest.mark.parametrize("family, data", CASES)
def test_rows_do_not_change_the_bits(family, data):
    rng = np.random.default_rng(1)
    X = matrix(data, rng)
    told, untold = bound(family, X), bound(family, X)
    for weights_kind, n_rows in (("normal", 1), ("signs", 40), ("signs", 40)):
        rows = np.sort(rng.permutation(N_SAMPLES)[:n_rows])
        weights = weights_of(weights_kind, rng, rows)
        found = told.price(weights, PricingRequest(rows=rows))
        assert_same_bits(found, untold.price(weights))


@pytest.mark.parametrize("family", ["projection", "derived"])
def test_rows_do_not_change_the_bits_of_a_shared_learner(family):
    rng = np.random.default_rng(0)
    X = matrix("continuous", rng)
    rows = np.sort(rng.permutation(N_SAMPLES)[:40])
    weights = weights_of("normal", rng, rows)
    found = bound(family, X).price_shared(weights, PricingRequest(rows=rows))
    assert_same_bits(found, bound(family, X).price_shared(weights))
