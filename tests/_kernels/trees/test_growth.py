"""The tree growth kernel, compared with trees grown by definition."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from cwboost.plugins.trees import TreeFamily
from hypothesis import given, settings
from hypothesis import strategies as st
from models import bind
from random_trees import walked
from slow_trees import grow, nested

import cwboost
from cwboost import draw_code, unpack_outputs
from cwboost.families.partitioned import PartitionWeights
from cwboost.kernels import weight_scales

CRITERIA = ["edge", "gini"]
EXACT = {"max_features": None}
"""Every feature, as the slow trees search them."""


def price(X, weights, n_threads=1, seed=0, **params):
    weights = np.atleast_2d(weights)
    family = TreeFamily(**{"min_leaf_weight": 0} | params)
    return bind(family, X, len(weights), seed, n_threads=n_threads).price(weights)


def signed_weights(rng, n, k=1):
    return rng.normal(size=(k, n)) * rng.exponential(size=n)


def few_values(rng, n, d, levels, missing):
    X = rng.integers(-levels, levels, size=(n, d)).astype(float)
    X[rng.random(X.shape) < 0.2 * missing] = np.nan
    weights = signed_weights(rng, n)
    weights[0, rng.random(n) < 0.1] = 0
    return X, weights


def pixels(rng):
    """More rows than bins, so that histograms are used: of groups of 8, 4, 2 and 1 features."""
    return rng.integers(0, 200, size=(700, 15)).astype(np.uint8), signed_weights(rng, 700)


def mostly_zero(rng):
    """Features whose zeros are not listed, beside dense ones."""
    X = rng.integers(0, 30, size=(800, 9)).astype(float)
    X[:, :6] *= rng.random((800, 6)) < np.linspace(0.05, 0.6, 6)
    return X, signed_weights(rng, 800, 3)


LIMITS = [
    {"max_depth": 1},
    {"max_depth": 3},
    {"max_depth": None},
    {"max_depth": 4, "min_leaf_weight": 4},
    {"max_depth": None, "max_leaf_nodes": 5},
    {"max_depth": 3, "max_leaf_nodes": 6, "min_leaf_weight": 2.5},
]
SMALL = [(12, 2, 3), (40, 3, 8), (90, 4, 60)]
CASES = [
    (partial(few_values, n=n, d=d, levels=levels, missing=missing), limits)
    for n, d, levels in SMALL
    for missing in (False, True)
    for limits in LIMITS
]
CASES += [
    (f, {"max_depth": 3, "min_leaf_weight": n}) for f in (pixels, mostly_zero) for n in (0, 30)
]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("make, limits", CASES)
def test_trees_are_those_by_definition_on_dense_and_sparse_examples(make, limits, criterion):
    X, weights = make(np.random.default_rng(7))
    expected = [grow(X, row, criterion=criterion, **limits) for row in weights]
    for form, n_threads in ((np.asarray, 1), (sp.csr_array, 2), (sp.csc_array, 3)):
        priced = price(form(X), weights, n_threads, criterion=criterion, **EXACT, **limits)
        assert [nested(priced.learners, t) for t in range(len(weights))] == expected
        outputs = walked(priced.learners.arrays(), X)
        assert np.array_equal(unpack_outputs(priced.outputs, len(X)), outputs)


def many_codes(rng):
    """So many that those of nodes are copied, and of nodes below them."""
    X = rng.exponential(30, size=(500_000, 20)).astype(np.uint8)
    X[:, 7] = 1
    X[:, 8:10] *= rng.random((len(X), 2)) < 0.1
    return X, signed_weights(rng, len(X)) * (X[:, 0] < 40)


MANY_ROWS = [partial(few_values, n=9_000, d=6, levels=90, missing=True), many_codes]


@pytest.mark.parametrize("make", MANY_ROWS)
def test_best_first_with_leaves_to_spare_grows_the_same_trees(make):
    """Nodes are split in another order, save histograms longer, and no codes are copied."""
    X, weights = make(np.random.default_rng(3))
    params = {"max_depth": 12, "max_features": 6, "min_leaf_weight": 1}
    best = price(X, weights, 2, max_leaf_nodes=9_000, **params)
    assert len(best.learners.trees.feature) > 500
    for n_threads in (1, 2):
        other = price(X, weights, n_threads, **params)
        np.testing.assert_equal(other.learners.arrays(), best.learners.arrays())
        assert np.array_equal(other.outputs, best.outputs)


SHARED = [
    {},
    {"form": sp.csc_array},
    {"monotonic": np.tile(np.repeat(np.int8([1, -1, 0]), [1, 1, 10]), (4, 1))},
    {"interactions": np.eye(4, dtype=bool).repeat(3, axis=1), "max_features": 6},
    {"criterion": "edge", "max_depth": 2},
    {"max_depth": 1},
    {"max_features": 7, "max_depth": None},
]


@pytest.mark.parametrize("case", SHARED, ids=str)
def test_trees_that_threads_share_have_the_same_bits(case):
    """Columns of many values, and of mostly zeros, with gaps."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 300, size=(12_000, 12)).astype(float)
    X[:, :4] *= rng.random((12_000, 4)) < 0.1
    X[rng.random(X.shape) < 0.02] = np.nan
    X[:, 10:] %= 40
    rows = np.flatnonzero(rng.random(len(X)) < 0.8)
    weights = np.zeros((4, len(X)))
    weights[:, rows] = signed_weights(rng, len(rows), 4)
    params = {"max_features": None} | case
    X = params.pop("form", np.asarray)(X)
    known = {"interactions": params.pop("interactions", None)}
    monotonic = params.pop("monotonic", None)

    def grown(n_trees, n_threads):
        known["monotonic"] = None if monotonic is None else monotonic[:n_trees]
        pricer = bind(TreeFamily(**params), X, n_trees, 3, n_threads=n_threads, **known)
        request = cwboost.PricingRequest(rows=rows)
        priced = pricer.price(weights[:n_trees], request)
        found = [*priced.learners.arrays().values(), priced.outputs, priced.edges]
        if monotonic is None:
            division = pricer.divide(weights[:n_trees], request)
            found += [*division.learners.arrays().values(), division.cells]
        return found

    for n_trees in (1, 3, 4):
        alone = grown(n_trees, 1)
        for n_threads in (2, 3, 7):
            np.testing.assert_equal(grown(n_trees, n_threads), alone)


def test_a_division_is_the_tree_of_the_combined_weights():
    """With outputs that are the signs of its leaves; weights beside the rows do not count."""
    rng = np.random.default_rng(8)
    X, weights = rng.normal(size=(900, 5)), signed_weights(rng, 900, 4)
    rows = np.flatnonzero(rng.random(900) < 0.7)
    family = TreeFamily(max_depth=6)
    division = bind(family, X, 4, 3).divide(weights, cwboost.PricingRequest(rows))
    draws = np.random.default_rng(3)
    code = draw_code(4, draws)
    assert sorted(code) == [-1, -1, 1, 1]
    combined = np.zeros((1, 900))
    combined[0, rows] = code @ weights[:, rows]
    pricer = bind(family, X, 1, 0)
    pricer._random_state = draws
    priced = pricer.price(combined)
    cells = division.cells
    np.testing.assert_array_equal(division.learners.cells(X)[:, 0], cells)
    totals = np.bincount(cells, combined[0], minlength=division.n_cells)
    signs = np.where(totals < 0, -1, 1)[cells]
    np.testing.assert_array_equal(signs, unpack_outputs(priced.outputs, 900)[:, 0])


def test_masses_of_children_may_differ_by_hundreds_of_orders_of_magnitude():
    rng = np.random.default_rng(15)
    X = rng.integers(0, 50, size=(900, 8)).astype(float)
    weights = signed_weights(rng, 900)
    weights[:, X[:, 4] < 20] *= 1e-290
    weights[:, X[:, 4] < 10] *= 1e-15
    priced = price(X, weights, criterion="gini", max_depth=2, **EXACT)
    assert nested(priced.learners, 0) == grow(X, weights[0], criterion="gini", max_depth=2)


@settings(max_examples=75, deadline=None)
@given(data=st.data())
def test_depth_one_edge_is_the_best_stump(data):
    """Ties included: weights are small integers, so sums are exact and often equal."""
    n = data.draw(st.integers(1, 12), label="n")
    d = data.draw(st.integers(1, 3), label="d")
    value = st.one_of(st.integers(-2, 2).map(float), st.just(np.nan))
    X = np.array(data.draw(st.lists(value, min_size=n * d, max_size=n * d))).reshape(n, d)
    weights = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
    priced = price(X, weights, max_features=None, criterion="edge", max_depth=1)
    expected = grow(X, weights, criterion="edge", max_depth=1)
    assert nested(priced.learners, 0) == expected
    best = abs(weights.sum())
    for f in range(d):
        for threshold in np.r_[-2.5:2.6]:
            for side in (-1, 1):
                right = np.where(np.isnan(X[:, f]), side > 0, X[:, f] > threshold)
                best = max(best, abs(weights @ np.where(right, 1, -1)))
    assert priced.edges[0] == best


def test_equal_partitions_tie_to_the_first_feature():
    """A feature, its mirror image and a monotone copy: sums differ by rounding, edges do not."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        x = rng.normal(size=200)
        X = np.column_stack([rng.integers(0, 2, 200), -x, x, np.exp(x), -np.exp(x)])
        weights = np.sign(x - rng.uniform(-1, 1)) * rng.exponential(size=200) / 3
        priced = price(X, weights, max_features=None, criterion="edge", max_depth=1)
        assert priced.learners.trees.feature[0] == 1


def test_edges_are_exact_sums_of_rounded_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(301, 6))
    weights = signed_weights(rng, 301, 4) * 10.0 ** rng.uniform(-12, 3, size=301)
    priced = price(X, weights)
    scales = weight_scales(np.abs(weights).sum(axis=1))
    rounded = PartitionWeights(weights, scales).rounded()
    edges = (rounded * unpack_outputs(priced.outputs, 301).T).sum(axis=1) / scales
    assert np.array_equal(priced.edges, edges)


def test_infinite_and_huge_values():
    column = np.array([-np.inf, -1.7e308, -1.0, -0.0, 0.0, 5e-324, 1.7e308, np.inf])
    X = column[:, None]
    for cut in range(1, 8):
        if cut == 4:
            continue  # -0.0 and 0.0 are one value
        weights = np.where(np.arange(8) < cut, -1.0, 1.0)
        priced = price(X, weights, max_depth=1, criterion="edge")
        assert priced.edges[0] == 8
        assert np.isfinite(priced.learners.trees.threshold[0])
        assert np.array_equal(priced.learners.outputs(X)[:, 0], weights)


def test_float32_copy_falls_on_the_same_side():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(500, 4)) + 1000.0  # float32 keeps few digits of these
    priced = price(X, signed_weights(rng, 500, 5), max_depth=6, max_bins=64)
    copy = X.astype(np.float32)
    differs = priced.learners.outputs(copy) != priced.learners.outputs(X)
    assert not differs.any()


@pytest.mark.parametrize("max_bins", [2, 3, 16, 255, 256])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_many_values_are_binned(max_bins, dtype):
    rng = np.random.default_rng(9)
    X = rng.gamma(1.0, 40.0, size=(3000, 3))
    X = np.minimum(X, 255).astype(dtype)
    if dtype != np.uint8:
        X[::9, 1] = np.nan
    priced = price(X, signed_weights(rng, 3000, 4), max_bins=max_bins)
    assert np.array_equal(unpack_outputs(priced.outputs, 3000), priced.learners.outputs(X))
    for f in range(3):
        cuts = np.unique(priced.learners.trees.threshold[priced.learners.trees.feature == f])
        assert len(cuts) <= max_bins


def test_pixels_use_all_256_bins():
    X = np.repeat(np.arange(256, dtype=np.uint8), 2)[:, None]
    weights = np.where((X[:, 0] // 2) % 2 == 0, 1.0, -1.0)
    priced = price(X, weights, max_depth=None, **EXACT)
    assert priced.edges[0] == 512


@pytest.mark.parametrize("n", [1, 31, 32, 33, 255, 256, 257, 300, 800])
@pytest.mark.parametrize("max_depth", [1, 4, 12])
def test_outputs_of_blocks_of_rows_that_are_not_full(n, max_depth):
    """Outputs come from blocks of 256 rows up to depth 8, and from the rows of leaves beyond."""
    rng = np.random.default_rng(16)
    X, weights = rng.normal(size=(n, 5)), signed_weights(rng, n, 3)
    priced = price(X, weights, max_depth=max_depth)
    assert np.array_equal(unpack_outputs(priced.outputs, n), priced.learners.outputs(X))


def test_a_constant_of_weights_that_cancel_has_the_outputs_of_its_sign():
    """Summed in another order, such weights may leave a little below zero."""
    first = np.array([1, 1, 1, 1, 3, 3, 2, 2, 2, 2, 3, 3])
    X = np.column_stack([first, [1, 2, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4]]).astype(np.float64)
    weights = np.where(np.arange(12) < 6, 0.3, -0.3)
    for seed in range(40):
        priced = price(X, weights, seed=seed)
        outputs = unpack_outputs(priced.outputs, len(X))
        np.testing.assert_array_equal(outputs, priced.learners.outputs(X))
