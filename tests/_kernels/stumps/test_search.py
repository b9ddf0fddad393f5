"""The compiled stump search against an exhaustive one, in value, outputs and choice among ties.

On dense and sparse matrices, for thresholds that serve other precisions, and on bad input.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from stump_reference import assert_best, assert_best_shared, class_weights

from cwboost import unpack_outputs
from cwboost.kernels import SortedFeatures

DTYPES = [np.uint8, np.float32, np.float64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_number_of_targets(rng, dtype, order):
    """With one object, whose memory is used again, and weights in padded rows."""
    X = np.asarray(rng.integers(0, 30, (83, 6)) * rng.integers(0, 2, (83, 6)), dtype, order=order)
    X.flags.writeable = False
    features = SortedFeatures(X)
    for n_targets in (100, 1, 2, 7, 8, 9, 16, 17, 26, 33, 43, 70):
        weights = np.full((n_targets, 96), np.nan)[:, :83]
        weights[:] = class_weights(rng, 83, n_targets)
        for subset in (None, [4], [5, 1], [0, 2, 3]):
            assert_best(X, weights, features.search(weights, subset), subset)
            assert_best_shared(X, weights, features.search_shared(weights, subset), subset)
    constants = features.search(weights, [])
    assert (constants.feature == -1).all()
    np.testing.assert_allclose(constants.edges, np.abs(weights.sum(axis=1)), rtol=1e-13)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_columns_of_many_missing_values(rng, share):
    """The side that they go to decides which feature wins."""
    X = rng.normal(size=(300, 6))
    X[:, 1:][rng.random((300, 5)) < share] = np.nan
    weights = rng.normal(size=(40, 300)) - 0.3 * np.isnan(X[:, rng.integers(1, 6, 40)].T)
    found = SortedFeatures(X).search(weights)
    assert_best(X, weights, found, exact_ties=False)
    assert len(np.unique(found.feature)) > 3


NUMBERS = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 1e300, -1e300, 1e-310, -5e-324, 3.5, 1e38, 1e39]


@settings(deadline=None, max_examples=150)
@given(st.data(), st.sampled_from(DTYPES[1:]), st.booleans())
def test_any_small_problem(data, dtype, missing):
    """Ties go to the first stump, and missing values to the better side."""
    shape = data.draw(st.integers(1, 24)), data.draw(st.integers(1, 4))
    small_integers = st.integers(-3, 3).map(float)
    odd = st.sampled_from(NUMBERS + [np.nan] * missing)
    X = data.draw(hnp.arrays(np.float64, shape, elements=small_integers | odd))
    of_targets = data.draw(st.integers(1, 9)), shape[0]
    weights = data.draw(hnp.arrays(np.float64, of_targets, elements=small_integers))
    with np.errstate(over="ignore"):
        features = SortedFeatures(X := X.astype(dtype))
    assert_best(X, weights, features.search(weights), exact_ties=not missing)
    found = features.search_shared(weights)
    assert found.feature[0] == assert_best_shared(X, weights, found)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_weights_of_any_magnitude(data):
    X = data.draw(hnp.arrays(np.uint8, (20, 3), elements=st.integers(0, 4)))
    numbers = st.floats(-1e290, 1e290, allow_nan=False)
    weights = data.draw(hnp.arrays(np.float64, (3, 20), elements=numbers))
    assert_best(X, weights, SortedFeatures(X).search(weights))


@pytest.mark.parametrize("factor", [2.0**-1040, 2.0**-980, 2.0**-500, 2.0**700])
def test_scaling_by_a_power_of_two_changes_nothing(rng, factor):
    X = rng.normal(size=(60, 4))
    weights = rng.integers(-50, 50, (5, 60)).astype(np.float64)
    features = SortedFeatures(X)
    plain, scaled = features.search(weights), features.search(weights * factor)
    assert (scaled.edges == plain.edges * factor).all()
    for name in ("feature", "threshold", "polarity", "missing", "outputs"):
        np.testing.assert_array_equal(getattr(scaled, name), getattr(plain, name))
    shared = features.search_shared(weights * factor)
    assert shared.edges == features.search_shared(weights).edges * factor


def test_near_ties_are_resolved_in_double_precision(rng):
    """The edges of the best two columns differ by less than the int32 scan resolves."""
    n = 1000
    x = rng.permutation(n).astype(np.float64)
    X = np.column_stack([x, x, x])
    weights = np.where(x >= n // 2, 1.0, -1.0)[None] * np.ones((4, 1))
    last, first = np.argmax(x), np.argmin(x)
    # Features 1 and 2 each put one example on its better side; their weights differ by a hair.
    weights[:, last], weights[:, first] = -1.0 - 1e-9, 1.0
    X[last, 1], X[first, 2] = -1.0, n + 1.0
    found = SortedFeatures(X).search(weights)
    assert (found.feature == 1).all()
    assert_best(X, weights, found)


@pytest.mark.parametrize("n_samples", [65536, 65537, 70001])
def test_wide_indices(rng, n_samples):
    X = np.column_stack([rng.normal(size=n_samples), rng.integers(0, 9, n_samples)])
    X[rng.integers(0, n_samples, 100), 1] = np.nan
    t = np.quantile(X[:, 0], [0.2, 0.7])
    weights = np.where(X[:, 0] > t[:, None], 0.5, -0.25) * rng.uniform(0.5, 1.5, (2, n_samples))
    found = SortedFeatures(X, 2).search(weights)
    assert (found.feature == 0).all()
    values = np.sort(X[:, 0])
    for threshold, split in zip(found.threshold, t):
        gap = np.searchsorted(values, split, side="right")
        assert values[gap - 1] <= threshold < values[gap]
    np.testing.assert_allclose(found.edges, np.abs(weights).sum(axis=1), rtol=1e-13)
    again = SortedFeatures(X[:, 1:], 1).search(weights)
    h = unpack_outputs(again.outputs, n_samples).T
    np.testing.assert_allclose((h * weights).sum(axis=1), again.edges, rtol=1e-12)


def long_columns(rng, case, n=2600):
    """Columns of several chunks: the search visits only chunks that may hold the winner."""
    X = rng.integers(0, 150, (n, 4)).astype(np.float64)
    X[: n // 3, 3] = 75  # a large skipped block in the middle
    weights = rng.integers(-9, 10, (5, n)).astype(np.float64)
    if case == "one winner":
        weights += np.where(X[:, 1] > np.array([[3], [40], [75], [110], [147]]), 6, -6)
    elif case == "duplicates":
        X[:, 2] = X[:, 1]
        weights += np.where(X[:, 1] > 100, 3, -3)
    elif case == "both signs":  # E is as large at one threshold as -E at another
        weights[:] = np.where((X[:, 0] > 30) & (X[:, 0] <= 120), 4, -7)
    elif case == "nearly both signs":  # apart by less than the coarse scan resolves
        weights[:] = np.where((X[:, 0] > 30) & (X[:, 0] <= 120), 4, -7)
        weights *= 1 + 2.0**-30 * np.arange(-2, 3)[:, None] * (X[:, 0] > 75)
    elif case == "both parts":
        weights[:] = np.where(np.abs(X[:, 3] - 75) > 40, 5, -5) * np.sign(X[:, 3] - 75)
    elif case == "constant":
        weights += 30
    elif case == "few weights":
        weights[:, rng.random(n) < 0.99] = 0
    return X, weights


@pytest.mark.parametrize("n_targets", [5, 13])
@pytest.mark.parametrize(
    "case",
    [
        "noise",
        "one winner",
        "duplicates",
        "both signs",
        "nearly both signs",
        "both parts",
        "constant",
        "few weights",
    ],
)
def test_long_columns(rng, case, n_targets):
    X, weights = long_columns(rng, case)
    weights = np.resize(weights, (n_targets, len(X)))
    assert_best(X, weights, SortedFeatures(X).search(weights), exact_ties=True)
    assert_best(X, -weights, SortedFeatures(X.astype(np.uint8)).search(-weights), exact_ties=True)
    skewed = weights * np.exp(4 * rng.normal(size=weights.shape))
    assert_best(X, skewed, SortedFeatures(X).search(skewed))
    assert_best(X, skewed, SortedFeatures(X).search(skewed, [1, 3]), [1, 3])


@pytest.mark.parametrize("n_targets", [3, 12, 20, 30])
def test_every_length_of_blocks_of_equal_values(rng, n_targets):
    """A walk differs with the share of positions that end a block."""
    n = 300
    distinct = rng.permutation(n)
    X = np.stack([distinct, distinct % 200, distinct // 7, distinct // 40], axis=1).astype(float)
    X[rng.integers(0, n, 40), 3] = -1.0
    weights = class_weights(rng, n, n_targets)
    features = SortedFeatures(X)
    for feature in range(4):
        assert_best(X, weights, features.search(weights, [feature]), [feature])


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
    np.testing.assert_equal(found, reference)
    assert_best(dense, weights, found)
    assert_best_shared(X, weights, SortedFeatures(X, 2).search_shared(weights))


AWKWARD = [
    *(-np.inf, -1.7e308, -1e300, -3.5e38, -1.0, -1e-320, 0.0, 1e-320, 0.1),
    *(0.1 + 1e-9, 1 / 3, 16777216.0, 16777217.0, 3.4e38, 3.5e38, 1e300, 1.7e308, np.inf),
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


def test_bad_input():
    features = SortedFeatures(np.eye(4))
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
