"""`SortedFeatures`: sparse matrices, thresholds for other precisions, errors."""

import numpy as np
import pytest
from scipy import sparse
from stump_reference import assert_best, assert_best_shared, class_weights, stump_outputs

from cwboost import unpack_outputs
from cwboost.kernels import SortedFeatures

DTYPES = [np.uint8, np.float32, np.float64]


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", ["csc", "csr"])
def test_sparse_equals_dense(rng, dtype, format):
    dense = rng.integers(0, 4, (90, 12)).astype(dtype) * (rng.random((90, 12)) < 0.2)
    dense = dense.astype(dtype)
    dense[:, 3] = 0
    dense[:, 4] = rng.integers(1, 5, 90)
    if dtype != np.uint8:
        dense *= rng.choice([-1, 1], dense.shape).astype(dtype)
        dense[5:9, 5] = np.nan
        dense[:, 6] = np.nan
    X = sparse.coo_array(dense).asformat(format)
    X.data[:3] = 0  # stored zeros are zeros
    dense = X.toarray()
    weights = np.vstack([class_weights(rng, 90, 9), rng.integers(-2, 3, (4, 90))])
    found, reference = SortedFeatures(X, 2).search(weights), SortedFeatures(dense).search(weights)
    for name in vars(reference):
        np.testing.assert_array_equal(getattr(found, name), getattr(reference, name))
    assert_best(dense, weights, found)
    assert_best_shared(X, weights, SortedFeatures(X, 2).search_shared(weights))


def test_sparse_duplicates_are_summed(rng):
    X = sparse.csc_array((np.array([1.0, 2.0, 4.0]), [0, 0, 2], [0, 3]), shape=(4, 1))
    assert not X.has_canonical_format
    found = SortedFeatures(X).search(np.array([[1.0, -1.0, -1.0, -1.0]]))
    assert found.edges == SortedFeatures(X.toarray()).search(np.array([[1.0, -1, -1, -1]])).edges
    assert X.nnz == 3, "the caller's matrix is left as it was"


def test_wide_sparse_memory_follows_the_stored_elements(rng):
    X = sparse.random_array(
        (20_000, 50_000), density=0.002, format="csr", rng=rng, dtype=np.float32
    )
    weights = class_weights(rng, 20_000, 4)
    features = SortedFeatures(X, 2)
    assert features.n_visited <= X.nnz
    assert features.nbytes < 3 * X.nnz + 100 * X.shape[1]
    found = features.search(weights)
    columns = X.tocsc()
    for t in range(4):
        f = found.feature[t]
        column = columns[:, [f]].toarray() if f >= 0 else np.zeros((20_000, 1), np.float32)
        h = stump_outputs(column, min(f, 0), found.threshold[t], found.polarity[t], 1)
        np.testing.assert_array_equal(h, unpack_outputs(found.outputs, 20_000)[:, t])
        np.testing.assert_allclose(h @ weights[t], found.edges[t], rtol=1e-12)


AWKWARD = [
    -np.inf,
    -1.7e308,
    -1e300,
    -3.5e38,
    -1.0,
    -1e-320,
    0.0,
    1e-320,
    0.1,
    0.1 + 1e-9,
    1 / 3,
    16777216.0,
    16777217.0,
    3.4e38,
    3.5e38,
    1e300,
    1.7e308,
    np.inf,
]


@pytest.mark.parametrize("a", range(len(AWKWARD) - 1))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_thresholds_serve_float32_and_float64_copies(a, dtype):
    with np.errstate(over="ignore", under="ignore"):
        values = np.array(AWKWARD, dtype=dtype)
        for b in range(a + 1, len(values)):
            if not values[a] < values[b]:
                continue
            found = SortedFeatures(values[[b, a]][:, None]).search(np.array([[1.0, -1.0]]))
            assert values[a] <= found.threshold[0] < values[b]
            assert not np.isnan(found.threshold[0])
            low, high = values[[a, b]].astype(np.float32)
            if low < high:
                assert low <= found.threshold[0] < high


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_must_be_finite(bad):
    weights = np.ones((3, 4))
    weights[1, 2] = bad
    with pytest.raises(ValueError, match=r"weights must be finite.* row 1"):
        SortedFeatures(np.eye(4)).search(weights)
    with pytest.raises(ValueError, match=r"weights must be finite"):
        SortedFeatures(np.eye(4)).search_shared(weights)


def test_bad_input():
    features = SortedFeatures(np.eye(4))
    with pytest.raises(ValueError, match=r"weights must have shape \(n_targets, 4\)"):
        features.search(np.ones((2, 5)))
    with pytest.raises(ValueError, match=r"weights must have shape \(n_targets, 4\), got \(4,\)"):
        features.search(np.ones(4))
    with pytest.raises(ValueError, match=r"features must be in \[0, 4\)"):
        features.search(np.ones((2, 4)), [4])
    with pytest.raises(TypeError, match="X must be uint8, float32 or float64, got int64"):
        SortedFeatures(np.eye(4, dtype=np.int64))
    with pytest.raises(ValueError, match="X must be 2-d"):
        SortedFeatures(np.ones(4))
    with pytest.raises(ValueError, match="number of samples"):
        SortedFeatures(np.ones((0, 4)))


@pytest.mark.parametrize("order", ["C", "F"])
def test_long_columns_of_float32_are_sorted_like_those_of_float64(order):
    rng = np.random.default_rng(6)
    X = np.asarray(rng.normal(size=(5_000, 3)).astype(np.float32), order=order)
    X[::7], X[5, 1], X[9, 2] = np.round(X[::7]), np.nan, -np.inf
    weights = rng.integers(-9, 9, size=(4, 5_000)).astype(np.float64)
    found, same = (SortedFeatures(part).search(weights) for part in (X, X.astype(np.float64)))
    for name in ("feature", "threshold", "polarity", "missing", "edges", "outputs"):
        np.testing.assert_array_equal(getattr(found, name), getattr(same, name))
