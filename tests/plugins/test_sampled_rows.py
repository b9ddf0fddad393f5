"""Pricing that is told which rows count gives the bits of pricing that is not."""

import numpy as np
import pytest
from cwboost.plugins.projections import ProjectionFamily
from cwboost.plugins.stumps import StumpFamily
from cwboost.plugins.trees import TreeFamily
from scipy import sparse

from cwboost import BindContext, PricingRequest

N_SAMPLES, N_TARGETS = 500, 5
FAMILIES = {
    "stump": StumpFamily(),
    "stump, drawn features": StumpFamily(max_features=4),
    "tree": TreeFamily(),
    "tree, best splits": TreeFamily(max_depth=3, criterion="edge"),
    **{
        f"projection, {kind}": ProjectionFamily(40, kind)
        for kind in ("gaussian", "sparse", "orthogonal", "difference")
    },
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


def arrays_of(priced):
    return {**priced.learners.arrays(), "outputs": priced.outputs, "edges": priced.edges}


CASES = [
    (family, data)
    for family in FAMILIES
    for data in ("continuous", "ties", "missing", "sparse")
    if not (family.startswith("projection") and data == "missing")
]


@pytest.mark.parametrize("weights_kind, n_rows", [("normal", 1), ("signs", 40), ("normal", 300)])
@pytest.mark.parametrize("family, data", CASES)
def test_rows_do_not_change_the_bits(family, data, weights_kind, n_rows):
    rng = np.random.default_rng(n_rows)
    X = matrix(data, rng)

    def pricer():
        draws = np.random.default_rng(3)
        context = BindContext(n_targets=N_TARGETS, random_state=draws, n_threads=2)
        return FAMILIES[family].bind(X, context)

    told, untold = pricer(), pricer()
    for _ in range(3):
        rows = np.sort(rng.permutation(N_SAMPLES)[:n_rows])
        weights = weights_of(weights_kind, rng, rows)
        expected = arrays_of(untold.price(weights))
        found = arrays_of(told.price(weights, PricingRequest(rows=rows)))
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            assert found[name].dtype == array.dtype, name
            assert found[name].tobytes() == array.tobytes(), name
