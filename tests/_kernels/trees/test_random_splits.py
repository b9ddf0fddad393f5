"""Trees with one random threshold per feature and node."""

import numpy as np
import pytest
import scipy.sparse as sp
from cwboost.plugins.trees import TreeFamily
from slow_trees import grow, nested

from cwboost import BindContext, unpack_outputs


def price(X, weights, seed=0, **params):
    weights = np.atleast_2d(weights)
    family = TreeFamily(splitter="random", **params)
    context = BindContext(n_targets=len(weights), random_state=np.random.default_rng(seed))
    pricer = family.bind(X, context)
    return pricer.price(weights)


def signed_weights(rng, n, k=1):
    return rng.normal(size=(k, n)) * rng.exponential(size=n)


@pytest.mark.parametrize("criterion", ["edge", "gini", "entropy"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("container", [np.asarray, sp.csc_array])
@pytest.mark.parametrize(
    "limits", [{"max_depth": 4}, {"max_depth": None}, {"max_depth": 5, "min_samples_leaf": 6}]
)
def test_one_threshold_per_feature_leaves_no_choice(criterion, missing, container, limits):
    """Features of two values have one threshold, so the tree equals that of the best splits."""
    rng = np.random.default_rng(0)
    for n in (30, 400):
        X = rng.integers(0, 2, size=(n, 6)).astype(float)
        X[rng.random(X.shape) < missing] = np.nan
        weights = signed_weights(rng, n)
        params = {"max_features": None, "trim": 0.0, "criterion": criterion}
        priced = price(container(X), weights, **params, **limits)
        assert nested(priced.learners, 0) == grow(X, weights[0], criterion=criterion, **limits)


@pytest.mark.parametrize("container", [np.asarray, sp.csc_array])
def test_thresholds_are_uniform_between_the_extremes(container):
    """The middle values lie close together, but thresholds do not fall there more often."""
    x = np.concatenate([np.linspace(1, 11, 100), np.linspace(5.9, 6.1, 100)])
    weights = np.tile(np.sign(x - 6), (4000, 1))  # at every threshold, the sides differ in sign
    priced = price(container(x[:, None]), weights, max_depth=1, trim=0.0)
    cuts = np.sort(priced.learners.threshold[priced.learners.feature >= 0])
    assert len(cuts) == 4000
    assert cuts[0] > 1 and cuts[-1] < 11
    share = np.searchsorted(cuts, np.linspace(1, 11, 101)) / len(cuts)
    assert np.abs(share - np.linspace(0, 1, 101)).max() < 0.03


def test_any_scale_of_values_gives_the_trees_of_a_bisection():
    """Sparse matrices have no cells (cells.h): their thresholds are found among all bins."""
    rng = np.random.default_rng(1)
    normal = rng.normal(size=(2000, 7))
    X = np.column_stack(
        [
            np.exp(8 * normal[:, 0]),
            np.where(normal[:, 1] > 2, 1e300 * normal[:, 1], normal[:, 1]),
            np.where(normal[:, 2] > 2, np.inf, np.where(normal[:, 2] < -2, -np.inf, normal[:, 2])),
            5e-324 * rng.integers(-9, 9, size=2000),
            1e308 * np.sign(normal[:, 3]) * (1 + rng.random(2000) / 2),
            np.rint(20 * normal[:, 4]),
            normal[:, 5] > 0,
            np.where(normal[:, 6] > 1, np.nan, normal[:, 6]),
        ]
    )
    weights = signed_weights(rng, 2000, 40)
    for max_bins in (256, 20, 3):
        params = {"max_features": 3, "max_depth": 9, "max_bins": max_bins}
        dense, sparse = price(X, weights, **params), price(sp.csc_array(X), weights, **params)
        for t in range(40):
            assert nested(dense.learners, t) == nested(sparse.learners, t)


def every_node(learners, t, X, weights):
    """(rows, feature, threshold, missing) of each inner node and (rows, sign) of each leaf."""
    pending = [(nested(learners, t), np.arange(len(X)))]
    while pending:
        node, rows = pending.pop()
        yield node, rows
        if isinstance(node, tuple):
            feature, threshold, missing, left, right = node
            column = X[rows, feature]
            is_right = np.where(np.isnan(column), missing > 0, column > threshold)
            pending += [(left, rows[~is_right]), (right, rows[is_right])]


@pytest.mark.parametrize("max_features", [1, None])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_nodes_separate_values_and_leaves_have_the_sign_of_their_weight(max_features, missing):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(700, 4)).round(2)
    X[rng.random(X.shape) < missing] = np.nan
    weights = signed_weights(rng, 700, 5)
    priced = price(X, weights, max_features=max_features, trim=0.0, max_depth=6)
    for t in range(5):
        for node, rows in every_node(priced.learners, t, X, weights[t]):
            if not isinstance(node, tuple):
                assert node * weights[t, rows].sum() > 0
                continue
            column = X[rows, node[0]]
            assert np.nanmin(column) <= node[1]
            assert node[1] < np.nanmax(column) or (node[1] == np.inf and np.isnan(column).any())
    outputs = unpack_outputs(priced.outputs, 700)
    assert np.array_equal(outputs, priced.learners.outputs(X))
    np.testing.assert_allclose(priced.edges, (weights * outputs.T).sum(axis=1))


def test_features_drawn_together_and_one_at_a_time_give_one_tree():
    """The root has too many rows for eight features at a time; sparse features come one by one."""
    rng = np.random.default_rng(8)
    X = rng.exponential(size=(4500, 11)).round(2)
    X[:, 2], X[rng.random(X.shape) < 0.1] = 0, np.nan
    weights = rng.integers(-9, 9, size=4500) / 16  # whose sums are exact in any order
    params = {"max_features": None, "max_depth": 4, "trim": 0.0}
    together, one_by_one = (price(c(X), weights, **params) for c in (np.asarray, sp.csc_array))
    assert nested(together.learners, 0) == nested(one_by_one.learners, 0)
    assert together.edges == one_by_one.edges


def test_the_better_of_the_drawn_features_is_split():
    """One feature separates the signs at every possible threshold, the others are noise."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 9))
    signs = rng.choice([-1.0, 1.0], size=200)
    X[:, 4] = signs * 1000 + rng.normal(size=200)
    priced = price(X, np.tile(signs, (50, 1)), max_features=None, max_depth=1, trim=0.0)
    assert (priced.learners.feature[priced.learners.offsets[:-1]] == 4).all()
    assert (priced.edges == 200).all()


def test_another_seed_draws_other_thresholds():
    rng = np.random.default_rng(4)
    X, weights = rng.normal(size=(300, 1)), signed_weights(rng, 300)
    params = {"max_depth": 1, "trim": 0.0, "criterion": "edge"}
    cuts = {price(X, weights, seed=s, **params).learners.threshold[0] for s in range(10)}
    assert len(cuts) > 5
    assert len({price(X, weights, seed=7, **params).learners.threshold[0] for _ in range(3)}) == 1


def test_defaults_depend_on_the_criterion():
    """ "edge" searches for the best edge, so its defaults have no randomness."""
    rng = np.random.default_rng(5)
    X, weights = rng.normal(size=(400, 3)), signed_weights(rng, 400)

    def trees(seed=0, **params):
        context = BindContext(n_targets=1, random_state=np.random.default_rng(seed))
        pricer = TreeFamily(max_features=None, max_depth=3, **params).bind(X, context)
        return [nested(pricer.price(weights).learners, 0) for _ in range(8)]

    assert trees(criterion="edge") == trees(1, criterion="edge", splitter="best", trim=0.0)
    drawn, best = (trees(splitter=s, trim=0.05) for s in ("random", "best"))
    assert trees() == best == trees(1)
    assert drawn != trees(1, splitter="random", trim=0.05)
