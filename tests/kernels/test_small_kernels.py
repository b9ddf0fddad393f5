"""Category sets, and trees and stumps that test them; the inverse of a Cholesky factor."""

import numpy as np
import pytest
from scipy import sparse

import cwboost
from cwboost.families.joined_trees import join_trees
from cwboost.kernels import (
    BinnedMatrix,
    CategoryFeatures,
    CategorySets,
    SortedFeatures,
    TreeScores,
    inverse_factor,
)
from cwboost.kernels.projector import LEAF


@pytest.fixture
def stumps():
    rng = np.random.default_rng(0)
    sets = CategorySets.of([rng.random(5) < 0.5, rng.random(900) < 0.5, None, None])
    feature = np.array([0, 1, 2, -1])
    threshold = np.array([0.0, 0.0, 0.5, 0.0])
    polarity, missing = rng.choice(np.array([-1, 1], dtype=np.int8), size=(2, 4))
    return cwboost.stump_trees(feature, threshold, polarity, missing, sets), polarity, missing


def test_codes_in_the_set_go_right_other_values_left_nan_to_its_side(stumps):
    trees, polarity, missing = stumps
    X = np.tile(np.array([-1.0, 0, 1, 2, 3, 4, 5, 7, 8, 500, 899, 1e9, np.inf, np.nan]), (9, 3, 1))
    X = X.transpose(0, 2, 1).reshape(-1, 3)
    trees.check(3)
    sets = trees.root_sets()
    for code in range(5):
        assert (code in sets.members(0)) == sets.contains(0, np.array(float(code)))
    right = np.column_stack([sets.contains(k, X[:, k]) for k in range(2)])
    right = np.column_stack([right, X[:, 2] > 0.5, np.ones(len(X), dtype=bool)])
    expected = np.where(right, polarity, -polarity)
    expected[:, :3] = np.where(np.isnan(X), missing[:3], expected[:, :3])
    np.testing.assert_array_equal(trees.outputs(X), expected)
    np.testing.assert_array_equal(trees.outputs(X[:3]), expected[:3])  # walked row by row
    joined = join_trees([trees, trees], [1, 6, 4])
    np.testing.assert_array_equal(joined.outputs(X), expected[:, [1, 2, 0]])


def test_wrong_sets_are_refused(stumps):
    trees, _, _ = stumps
    nodes = trees.nodes()
    same = cwboost.ThresholdTrees.from_nodes(nodes)
    np.testing.assert_array_equal(same.category_sets.bits, trees.category_sets.bits)
    start = nodes["set_start"]
    for wrong in (start[:-1], start.astype(np.int32), np.where(start > 0, start + 1, 0), -start):
        with pytest.raises(ValueError, match="set_start"):
            cwboost.ThresholdTrees.from_nodes(nodes | {"set_start": wrong}).check(3)
    in_leaf = np.where(np.arange(len(start)) > 1, nodes["set_bits"].size, 0)
    with pytest.raises(ValueError, match="category_sets"):
        cwboost.ThresholdTrees.from_nodes(nodes | {"set_start": in_leaf}).check(3)


@pytest.mark.parametrize("kind", ["numbers", "categories"])
@pytest.mark.parametrize("method", ["search", "search_shared"])
def test_searches_read_weights_of_any_layout_and_refuse_others(kind, method):
    rng = np.random.default_rng(0)
    X, weights = rng.integers(0, 5, size=(70, 3)).astype(float), rng.normal(size=(4, 70))
    numbers, categories = SortedFeatures(X), CategoryFeatures(X, [0, 2], [5, 5])
    search = getattr(numbers if kind == "numbers" else categories, method)
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


def test_arrays_that_belong_to_another_matrix_are_refused(stumps):
    X = np.ones((6, 2))
    with pytest.raises(ValueError, match=r"n_categories must have 2 entries.* got 1"):
        CategoryFeatures(X, [0, 1], [2])
    for n_features in (1, 3):
        with pytest.raises(ValueError, match=f"bins must be of 2 features, got {n_features}"):
            BinnedMatrix(X, BinnedMatrix(np.ones((6, n_features))).bins)
    for n_rows in (5, 12):
        with pytest.raises(ValueError, match=f"rows must permute the 6 rows of X, got {n_rows}"):
            BinnedMatrix(X, rows=np.arange(n_rows) % 6)
    trees, _, _ = stumps
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
