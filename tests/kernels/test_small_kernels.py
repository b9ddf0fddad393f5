"""Arguments that kernels refuse; the inverse of a Cholesky factor."""

import numpy as np
import pytest
from scipy import sparse

import cwboost
from cwboost.kernels import (
    BinnedMatrix,
    SortedFeatures,
    TreeScores,
    inverse_factor,
)
from cwboost.kernels.projector import LEAF


@pytest.mark.parametrize("method", ["search", "search_shared"])
def test_searches_read_weights_of_any_layout_and_refuse_others(method):
    rng = np.random.default_rng(0)
    X, weights = rng.integers(0, 5, size=(70, 3)).astype(float), rng.normal(size=(4, 70))
    search = getattr(SortedFeatures(X), method)
    expected = search(weights)
    padded = np.pad(weights, ((0, 0), (0, 9)))[:, :70]
    backwards = weights[:, ::-1].copy()[:, ::-1]
    spread = np.repeat(weights, 2, axis=1)[:, ::2]
    layouts = np.asfortranarray(weights), padded, backwards, spread, weights.astype(">f8")
    for layout in (*layouts, weights.tolist()):
        found = search(layout)
        np.testing.assert_array_equal(found.edges, expected.edges)
        np.testing.assert_array_equal(found.outputs, expected.outputs)
    for wrong in (weights[:, 1:], np.tile(weights, 9), weights[0], weights[:0]):
        with pytest.raises(ValueError, match=r"weights must have shape \(n_targets, 70\), got"):
            search(wrong)
    for odd in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="weights must be finite"):
            search(np.where(weights == weights[1, 2], odd, weights))


def test_arrays_that_belong_to_another_matrix_are_refused():
    X = np.ones((6, 2))
    for n_features in (1, 3):
        with pytest.raises(ValueError, match=f"bins must be of 2 features, got {n_features}"):
            BinnedMatrix(X, BinnedMatrix(np.ones((6, n_features))).bins)
    for n_rows in (5, 12):
        with pytest.raises(ValueError, match=f"rows must permute the 6 rows of X, got {n_rows}"):
            BinnedMatrix(X, rows=np.arange(n_rows) % 6)
    signs = np.ones(4, dtype=np.int8)
    trees = cwboost.stump_trees(np.arange(4), np.zeros(4), signs, signs)
    for n_trees in (3, 5):
        with pytest.raises(ValueError, match="coef must have one row for each of the 4 trees"):
            TreeScores(trees.nodes(), sparse.csr_array((n_trees, 3)))


@pytest.mark.parametrize("m", [1, 5, LEAF, LEAF + 1, 3 * LEAF + 7])
def test_inverse_factor(m):
    rng = np.random.default_rng(m)
    S = rng.normal(size=(m + 3, m))
    A = S.T @ S + 0.1 * np.eye(m)
    B = inverse_factor(A)
    assert (np.triu(B, 1) == 0).all()
    np.testing.assert_allclose(B @ A @ B.T, np.eye(m), atol=1e-9)
    assert np.array_equal(B, inverse_factor(A, n_threads=2))


@pytest.mark.parametrize("m", [4, 2 * LEAF])
def test_a_matrix_that_is_not_positive_definite(m):
    A = np.eye(m)
    A[m - 1, m - 1] = -1
    with pytest.raises(ValueError, match="not positive definite"):
        inverse_factor(A)
