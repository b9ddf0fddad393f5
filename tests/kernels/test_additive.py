"""Additive evaluation of stumps, compared with the outputs of the stumps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference_family import ReferenceLearners
from scipy import sparse

from cwboost.kernels import AdditiveScores


def random_stumps(rng, n_stumps, n_features, n_scores, thresholds, votes=1):
    """Return stumps and coefficients; the votes go to the scores in turn."""
    feature = rng.integers(-1, n_features, n_stumps).astype(np.int32)
    coef = np.zeros((n_stumps, n_scores))
    for v in range(votes):
        coef[np.arange(n_stumps), (np.arange(n_stumps) + v) % n_scores] = rng.normal(size=n_stumps)
    return (
        feature,
        rng.choice(thresholds, n_stumps).astype(np.float64),
        rng.choice([-1, 1], n_stumps).astype(np.int8),
        rng.choice([-1, 1], n_stumps).astype(np.int8),
        coef,
    )


def outputs(X, *stumps):
    """Compute the outputs by definition, one stump at a time."""
    return ReferenceLearners(*stumps).outputs(X)


def assert_scores(X, stumps, scores, coef):
    bound = 1e-14 * np.abs(coef).sum(axis=0) * (4 + len(coef) ** 0.5)
    assert np.all(np.abs(scores - outputs(X, *stumps) @ coef) <= bound)


PIXELS = np.concatenate([np.arange(-2, 258) + 0.5, np.arange(-1, 257), [np.inf, -np.inf, 1e300]])


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("n_scores", [1, 2, 3, 4, 5, 8, 12, 13, 16, 17, 26, 43])
def test_scores_are_outputs_times_coef_with_the_same_bits_for_any_rows(rng, dtype, n_scores):
    *stumps, coef = random_stumps(rng, 300, 7, n_scores, PIXELS)
    X = rng.integers(0, 256, (131, 7)).astype(dtype)
    fast = AdditiveScores(*stumps, coef)
    whole = fast(X)
    assert_scores(X, stumps, whole, coef)
    np.testing.assert_array_equal(fast(X, n_threads=3), whole)
    np.testing.assert_array_equal(fast(np.asfortranarray(X)), whole)
    np.testing.assert_array_equal(fast(X.astype(np.float64)), whole)
    np.testing.assert_array_equal(fast(X[::-1])[::-1], whole)
    for size in (1, 3, 64, 65):
        parts = [fast(X[i : i + size]) for i in range(0, len(X), size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    X.setflags(write=False)
    np.testing.assert_array_equal(fast(X), whole)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64, np.int64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows(rng, dtype, index):
    *stumps, coef = random_stumps(rng, 500, 40, 19, np.arange(-3, 12) + 0.5)
    dense = rng.integers(0, 9, (100, 60)) * (rng.random((100, 60)) < 0.2)
    X = sparse.csr_array(dense.astype(dtype))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    fast = AdditiveScores(*stumps, coef)
    assert_scores(X, stumps, fast(X), coef)
    np.testing.assert_array_equal(fast(X), fast(X.tocsc()))
    np.testing.assert_array_equal(fast(X), fast(X, n_threads=2))
    np.testing.assert_array_equal(fast(X[17:18]), fast(X)[17:18])


def test_sparse_duplicates_are_summed(rng):
    *stumps, coef = random_stumps(rng, 50, 3, 2, np.arange(8) + 0.5)
    X = sparse.csr_array(
        (np.array([2.0, 3.0, 1.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 3)
    )
    assert not X.has_canonical_format
    assert_scores(np.array([[1.0, 5.0, 0.0]]), stumps, AdditiveScores(*stumps, coef)(X), coef)
    assert X.nnz == 3


def test_no_rows_and_extra_columns(rng):
    *stumps, coef = random_stumps(rng, 40, 5, 6, PIXELS)
    fast = AdditiveScores(*stumps, coef)
    assert fast(np.empty((0, 5))).shape == (0, 6)
    assert fast(sparse.csr_array((0, 5))).shape == (0, 6)
    X = rng.normal(size=(4, 9))
    np.testing.assert_array_equal(fast(X), fast(X[:, :5]))
    np.testing.assert_array_equal(fast(sparse.csr_array(X)), fast(sparse.csr_array(X[:, :5])))


def test_too_few_columns_and_wrong_coef(rng):
    *stumps, coef = random_stumps(rng, 40, 5, 6, PIXELS)
    fast = AdditiveScores(*stumps, coef)
    for X in (np.zeros((3, 2)), sparse.csr_array((3, 2))):
        with pytest.raises(ValueError, match="at least 5 features, got 2"):
            fast(X)
    strict = AdditiveScores(*stumps, coef, n_features=5)
    np.testing.assert_array_equal(strict(np.ones((1, 5))), fast(np.ones((1, 5))))
    for n_features in (4, 6):
        with pytest.raises(ValueError, match=f"must have 5 features, got {n_features}"):
            strict(np.zeros((3, n_features)))
    with pytest.raises(ValueError, match="row for each of the 40 stumps"):
        AdditiveScores(*stumps, coef[1:])


@pytest.mark.parametrize("n_scores", [3, 26])
def test_functions_add_up_to_the_same_bits(rng, n_scores):
    *stumps, coef = random_stumps(rng, 300, 6, n_scores, rng.normal(size=60), votes=2)
    X = rng.normal(size=(50, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    fast = AdditiveScores(*stumps, coef)
    constant, functions = fast.functions()
    total = np.tile(constant, (len(X), 1))
    for f in sorted(functions):
        total = total + functions[f](X[:, f])
        assert np.all(np.diff(functions[f].thresholds) > 0)
    np.testing.assert_array_equal(total, fast(X))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data(), hnp.array_shapes(min_dims=2, max_dims=2, max_side=12))
def test_any_model_on_any_numbers(data, shape):
    n_stumps, n_scores = data.draw(st.integers(0, 30)), data.draw(st.integers(1, 18))
    numbers = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 1.0])
    X = data.draw(hnp.arrays(np.float64, shape, elements=numbers | st.just(np.nan)))
    stumps = (
        data.draw(hnp.arrays(np.int32, n_stumps, elements=st.integers(-1, shape[1] - 1))),
        data.draw(hnp.arrays(np.float64, n_stumps, elements=numbers)),
        data.draw(hnp.arrays(np.int8, n_stumps, elements=st.sampled_from([-1, 1]))),
        data.draw(hnp.arrays(np.int8, n_stumps, elements=st.sampled_from([-1, 1]))),
    )
    coef = data.draw(
        hnp.arrays(np.float64, (n_stumps, n_scores), elements=st.integers(-8, 8).map(float))
    )
    fast = AdditiveScores(*stumps, coef)
    # Small integers add without rounding, so the numbers must be equal.
    np.testing.assert_array_equal(fast(X), outputs(X, *stumps) @ coef)
    np.testing.assert_array_equal(fast(sparse.csr_array(X)), outputs(X, *stumps) @ coef)
