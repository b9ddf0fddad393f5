"""The exact search for trees of depth 2: against all trees, one by one, and against its claims."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from models import bind, paper

from cwboost import TreeFamily, TreeLearners, unpack_outputs
from cwboost.families.flat_forms import ThresholdTrees
from cwboost.kernels import BinnedMatrix, DepthTwoSearch


def table(rng, n, d, gaps, levels=5):
    """A column is constant, and each has its own number of levels."""
    X = rng.integers(0, rng.integers(1, levels + 1, size=d) + 1, size=(n, d)).astype(float)
    X[:, -1] = 3.0
    if gaps:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X


def splits_of(column):
    """All divisions of a column by a threshold, missing values on either side."""
    missing, values = np.isnan(column), np.unique(column[~np.isnan(column)])
    for threshold, side in product([*values, -np.inf], (False, True)):
        yield np.where(missing, side, column <= threshold).astype(bool)


def best_edge(X, weights, allowed):
    """The largest edge of all trees of depth 2, from every root and every child."""
    splits = [list(splits_of(column)) for column in X.T]
    best = abs(weights.sum())
    for f, own in enumerate(splits):
        for left in own:
            edge = 0.0
            for half in (left, ~left):
                edge += max(
                    abs(weights[half & child].sum()) + abs(weights[half & ~child].sum())
                    for g, children in enumerate(splits)
                    if allowed[f][g]
                    for child in children
                )
            best = max(best, edge)
    return best


def check(X, search, weights, allowed=None):
    """The trees have the largest edges, and outputs on X that give these edges."""
    d = X.shape[1]
    nodes, packed, edges = search.search(weights)
    trees = ThresholdTrees(**nodes)
    trees.check(d)
    outputs = unpack_outputs(packed, len(X))
    np.testing.assert_array_equal(TreeLearners(trees, d).outputs(X), outputs)
    np.testing.assert_allclose((weights.T * outputs).sum(axis=0), edges, rtol=1e-12)
    allowed = np.ones((d, d), dtype=bool) if allowed is None else allowed
    wanted = [best_edge(X, row, allowed) for row in weights]
    np.testing.assert_allclose(edges, wanted, rtol=1e-12)
    return trees


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n_targets", [1, 2, 3, 9])
def test_no_tree_has_a_larger_edge(n_targets, gaps):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = table(rng, 60, 4, gaps)
        weights = rng.normal(size=(n_targets, 60)) ** 3
        check(X, DepthTwoSearch(BinnedMatrix(X), 32), weights)


def test_sets_of_features_are_kept():
    rng = np.random.default_rng(1)
    X, sets = table(rng, 80, 5, True), np.zeros((3, 5), dtype=bool)
    sets[0, [0, 1]] = sets[1, [1, 2, 3]] = sets[2, 4] = True
    allowed = (sets.T[:, None] & sets.T).any(axis=2)
    search = DepthTwoSearch(BinnedMatrix(X), 32, sets)
    for _ in range(5):
        trees = check(X, search, rng.normal(size=(2, 80)), allowed)
        for a, b in zip(trees.offsets[:-1], trees.offsets[1:]):
            used = trees.feature[a:b][trees.feature[a:b] >= 0]
            assert all(allowed[used[0]][used])


def test_many_values_are_searched_in_coarse_bins():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3))
    weights = rng.normal(size=(2, 300))
    rounded = np.empty_like(X)
    for f in range(3):  # eight bins of about equal counts
        edges = np.sort(X[:, f])[np.cumsum([38, 38, 38, 38, 37, 37, 37]) - 1]
        rounded[:, f] = np.searchsorted(edges, X[:, f])
    nodes, packed, edges = DepthTwoSearch(BinnedMatrix(X), 8).search(weights)
    wanted = [best_edge(rounded, row, np.ones((3, 3), dtype=bool)) for row in weights]
    np.testing.assert_allclose(edges, wanted, rtol=0.05)
    outputs = TreeLearners(ThresholdTrees(**nodes), 3).outputs(X)
    np.testing.assert_array_equal(outputs, unpack_outputs(packed, 300))


def test_the_bits_do_not_depend_on_threads_or_storage():
    rng = np.random.default_rng(3)
    X = table(rng, 500, 12, False)
    X[rng.random(X.shape) < 0.6] = 0.0
    weights = rng.normal(size=(5, 500))
    found = [
        DepthTwoSearch(BinnedMatrix(matrix), 32, n_threads=n_threads).search(weights)
        for matrix in (X, sp.csr_array(X))
        for n_threads in (1, 2, 3)
    ]
    for other in found[1:]:
        np.testing.assert_equal(other, found[0])


def test_degenerate_columns_give_leaves():
    X, weights = np.full((9, 2), 4.0), np.array([np.arange(9.0), -np.ones(9)])
    nodes, packed, edges = DepthTwoSearch(BinnedMatrix(X), 32).search(weights)
    assert nodes["feature"].tolist() == [-1, -1] and nodes["output"].tolist() == [1, -1]
    assert edges.tolist() == [36.0, 9.0] and unpack_outputs(packed, 9).tolist() == [[1, -1]] * 9


def test_what_makes_the_family_exact():
    rng = np.random.default_rng(4)
    X, y = table(rng, 200, 6, True), rng.integers(0, 3, 200)
    weights = rng.normal(size=(3, 200))
    sign = np.ones((3, 6), dtype=np.int8)
    exact = bind(TreeFamily(max_depth=2), X)
    assert exact.exact
    greedy = [
        bind(TreeFamily(max_depth=3), X),
        bind(TreeFamily(max_depth=2, max_features=3), X),
        bind(TreeFamily(max_depth=2, min_leaf_weight=1.0), X),
        bind(TreeFamily(max_depth=2, max_leaf_nodes=3), X),
        bind(TreeFamily(max_depth=2), X, monotonic=sign),
    ]
    best = exact.price(weights).edges
    for pricer in greedy:
        assert not pricer.exact
        assert (pricer.price(weights).edges < 1.5 * best).all()
    many = bind(TreeFamily(max_depth=2), np.hstack([X, np.eye(200)[:, :60]]))
    assert not many.exact
    # Columns that single out one row divide worse alone, so that all pairs of X are searched.
    assert (many.price(weights).edges >= best * (1.0 - 1e-12)).all()
    clf = paper(TreeFamily(max_depth=2), C=10.0, n_estimators=60).fit(X, y)
    assert (clf.history_["gap"] >= 0).all() and clf.ensemble_.learners.outputs(X).any()


def test_a_certificate_over_all_pairs():
    """An interaction without main effects, which greedy trees do not see."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 4, size=(400, 5)).astype(float)
    y = ((X[:, 0] < 2) ^ (X[:, 1] < 2)).astype(int)
    clf = paper(TreeFamily(max_depth=2), C=None).fit(X, y)
    assert clf.stop_reason_ in ("gap", "optimal") and clf.history_["n_nonzero"][-1] <= 3
    assert clf.score(X, y) == 1.0
