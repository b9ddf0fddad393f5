"""Trees on categories: at one comparison as good as exact search, in depth the better subsets."""

import numpy as np
import pytest
from models import bind

import cwboost
from cwboost import CWBoostClassifier, TreeFamily
from cwboost.kernels import BinnedMatrix


def priced(family, X, weights):
    known = {"categorical": np.array([False, True, True]), "n_categories": np.array([0, 12, 100])}
    return bind(family, X, 6, **known).price(weights)


def material(n=400):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 50, n), rng.integers(0, 12, n), rng.integers(0, 99, n)])
    X = X.astype(np.float64)
    X[rng.random(n) < 0.1, 1] = np.nan
    weights = rng.integers(-20, 21, size=(6, n)).astype(np.float64)
    weights[:2] += np.array([-9, 30, -30, 9])[np.nan_to_num(X[:, 1]).astype(int) % 4]
    weights[2] += 50 * np.sign(X[:, 0] - 20.5)
    return X, weights


def test_one_comparison_by_edge_equals_the_exact_search_of_stumps():
    X, weights = material()
    exact = priced(cwboost.StumpFamily(), X, weights)
    family = TreeFamily(max_depth=1, criterion="edge", max_features=None, categories="subsets")
    found = priced(family, X, weights)
    np.testing.assert_array_equal(found.edges, exact.edges)
    assert set(exact.learners.feature.tolist()) == {0, 1, 2}


@pytest.mark.parametrize("parameters", [{}, {"max_leaf_nodes": 9, "min_leaf_weight": 4}])
def test_splits_see_subsets_wherever_they_are(parameters):
    X, weights = material()
    named = np.random.default_rng(1).permutation(12)
    renamed = X.copy()
    present = ~np.isnan(X[:, 1])
    renamed[present, 1] = named[X[present, 1].astype(int)]
    family = TreeFamily(max_features=None, categories="subsets", **parameters)
    learners = [priced(family, Z, weights).learners for Z in (X, renamed)]
    np.testing.assert_array_equal(learners[0].outputs(X), learners[1].outputs(renamed))


def test_a_rare_category_does_not_split_off_by_its_extreme_mean():
    """Means are shrunk, so that the rare category 2 lies between the others."""
    X = np.repeat([0.0, 1.0, 2.0], [20, 20, 3])[:, None]
    parts = [1.0] * 10 + [-1.0] * 9 + [-1.5], [1.0] * 12 + [-1.0] * 8, [0.5] * 3
    family = TreeFamily(max_depth=1, categories="subsets", max_features=None, min_leaf_weight=1e-3)
    known = {"categorical": np.array([True]), "n_categories": np.array([3])}
    found = bind(family, X, 1, **known).price(np.concatenate(parts)[None])
    assert found.learners.outputs(np.array([[0.0], [1.0], [2.0]])).ravel().tolist() == [-1, 1, 1]


def test_absent_categories_go_with_the_missing():
    X, _ = material()
    y = (np.nan_to_num(X[:, 1], nan=5) * 3 + (X[:, 0] > 25)).astype(int) % 3
    clf = CWBoostClassifier(
        TreeFamily(categories="subsets"),
        n_estimators=15,
        categorical_features=[1, 2],
        random_state=0,
    ).fit(X, y)
    assert clf.score(X, y) > 0.97
    learners = priced(TreeFamily(categories="subsets"), *material()).learners
    absent, lost = np.array([[3.0, 4, 99]]), np.array([[3.0, 4, np.nan]])  # 99 does not occur
    np.testing.assert_array_equal(learners.outputs(absent), learners.outputs(lost))


def test_too_many_categories_are_refused_by_name():
    X = np.arange(300.0)[:, None]
    with pytest.raises(ValueError, match=r"at most 255 categories .* got 300 in column 0"):
        subsets = TreeFamily(categories="subsets")
        CWBoostClassifier(subsets, init=None, categorical_features=[0]).fit(X, X[:, 0] % 2)
    with pytest.raises(ValueError, match="n_categories must be below max_bins=9, got 9"):
        BinnedMatrix(X[:9], max_bins=9, n_categories=[9])
    with pytest.raises(ValueError, match="column 0 of X must hold codes from 0 to 4 or NaN"):
        BinnedMatrix(X[:9], n_categories=[5])
