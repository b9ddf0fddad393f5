"""Categories: stumps are exact over all subsets, trees find the better subsets in depth."""

from itertools import product

import numpy as np
import pytest
from models import bind
from scipy import sparse

import cwboost
from cwboost import CWBoostClassifier, TreeFamily
from cwboost.families.outputs import unpack_outputs
from cwboost.kernels import BinnedMatrix, CategoryFeatures


def bound(X, categorical, n_categories, n_targets=3, n_threads=1, **parameters):
    known = {"categorical": np.asarray(categorical), "n_categories": np.asarray(n_categories)}
    X = np.asarray(X, dtype=np.float64)
    return bind(cwboost.StumpFamily(**parameters), X, n_targets, n_threads=n_threads, **known)


@pytest.mark.parametrize("n_categories", [1, 2, 5, 12])
@pytest.mark.parametrize("missing", [False, True])
def test_the_best_of_all_subsets(n_categories, missing):
    rng = np.random.default_rng(n_categories)
    codes = rng.integers(0, n_categories, size=40).astype(np.float64)
    if missing:
        codes[rng.random(40) < 0.2] = np.nan
    weights = rng.integers(-3, 4, size=(3, 40)).astype(np.float64)  # ties, and sums of zero
    weights[2, codes == 0] = 0.0
    groups = [codes == c for c in range(n_categories)] + [np.isnan(codes)] * missing
    sums = np.array([weights[:, group].sum(axis=1) for group in groups])
    signs = np.array(list(product([-1, 1], repeat=len(groups))))
    best = np.abs(signs @ sums).max(axis=0)
    priced = bound(codes[:, None], [True], [n_categories]).price(weights)
    np.testing.assert_array_equal(priced.edges, best)
    outputs = priced.learners.outputs(codes[:, None])
    np.testing.assert_array_equal(unpack_outputs(priced.outputs, 40), outputs)
    np.testing.assert_array_equal(np.einsum("ti,it->t", weights, outputs), best)


def test_a_number_and_a_category_compete_and_threads_change_no_bit():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(3000), rng.integers(0, 300, 3000), rng.random(3000)])
    weights = rng.standard_normal((11, 3000))
    weights[::2] += 5 * np.sign(X[:, 0] - 0.5)
    priced = [
        bound(X, [False, True, False], [0, 300, 0], 11, n_threads=n).price(weights) for n in (1, 2)
    ]
    assert {0, 1} <= set(priced[0].learners.feature.tolist())
    np.testing.assert_equal(priced[1].learners.arrays(), priced[0].learners.arrays())
    np.testing.assert_array_equal(priced[0].outputs, priced[1].outputs)
    np.testing.assert_array_equal(priced[0].edges, priced[1].edges)
    alone = bind(cwboost.StumpFamily(), X[:, [0, 2]], 11)
    assert (priced[0].edges >= alone.price(weights).edges).all()


def test_unseen_and_weightless_categories_go_with_the_missing():
    codes = np.array([0, 0, 1, 1, np.nan, 3.0])[:, None]
    weights = np.array([[1, 1, -1, -1, -5, 0.0], [1, 1, -1, -1, 5, 0.0]])
    learners = bound(codes, [True], [5], 2).price(weights).learners
    X = np.array([0, 1, 2, 3, 4, np.nan])[:, None]  # 2 and 4 do not occur, 3 has no weight
    np.testing.assert_array_equal(learners.outputs(X)[:, 0], [1, -1, -1, -1, -1, -1])
    np.testing.assert_array_equal(learners.outputs(X)[:, 1], [1, -1, 1, 1, 1, 1])
    full = bound(codes[:4], [True], [2], 1).price(np.array([[1.0, 1, -1, -2]])).learners
    assert full.outputs(np.array([[np.nan]])) == -1  # the better constant


def test_the_shared_stump_is_near_the_best_subset():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 7, size=60).astype(np.float64)
    for seed in range(5):
        weights = np.random.default_rng(seed).standard_normal((4, 60))
        priced = bound(codes[:, None], [True], [7], 4).price_shared(weights)
        sums = np.array([weights[:, codes == c].sum(axis=1) for c in range(7)])
        every = np.abs(np.array(list(product([-1, 1], repeat=7))) @ sums).sum(axis=1)
        assert 0.95 * every.max() <= priced.edges[0] <= every.max() * (1 + 1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_scores_are_a_table_per_category(dtype):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, 256, 500), rng.integers(0, 200, 500)])
    weights = rng.standard_normal((12, 500)) + np.sin(X[:, 1])
    weights[:4] += np.sign(X[:, 0] - 99.5)
    learners = bound(X, [False, True], [0, 200], 12).price(weights).learners
    coef = sparse.random_array((12, 20), density=0.2, rng=rng, format="csr")
    rows = X.astype(dtype)
    scores = learners.scorer(coef)(rows)
    np.testing.assert_allclose(scores, learners.outputs(rows) @ coef, atol=1e-14)
    rebuilt = type(learners).from_arrays(learners.arrays(), 2)
    np.testing.assert_array_equal(rebuilt.scorer(coef)(rows), scores)
    if dtype != np.uint8:
        strange = np.array([[0, -1], [255, 1e9], [300, np.nan], [0.5, 3]], dtype=dtype)
        expected = learners.outputs(strange) @ coef
        np.testing.assert_allclose(learners.scorer(coef)(strange), expected, atol=1e-14)


def test_hostile_sets_and_columns_that_hold_no_codes_are_refused():
    X = np.array([[0.0], [1], [1], [2]])
    arrays = bound(X, [True], [3], 1).price(np.array([[1.0, -1, -2, 3]])).learners.arrays()
    learners = cwboost.StumpFamily.learners_type
    for name, wrong in (
        ("set_start", arrays["set_start"] + 1),
        ("set_bits", arrays["set_bits"][:0]),
        ("threshold", arrays["threshold"] + 1),
        ("feature", arrays["feature"] - 1),
    ):
        with pytest.raises(ValueError, match="set_"):
            learners.from_arrays(arrays | {name: wrong}, 1)
    for wrong in (0.5, -1, 3, np.inf):
        with pytest.raises(ValueError, match=r"column 0 of X must hold codes from 0 to 2"):
            CategoryFeatures(np.array([[0.0], [wrong]]), [0], [3])


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
