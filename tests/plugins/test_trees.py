"""The tree family: arrays, prediction."""

import numpy as np
import pytest
from cwboost.plugins.trees import TreeFamily
from models import bind

from cwboost import TreeLearners


def fitted(X, n_trees=6, seed=0, **params):
    weights = np.random.default_rng(seed).normal(size=(n_trees, X.shape[0]))
    return bind(TreeFamily(**params), X, n_trees, seed).price(weights)


def data(rng, n=300, d=7, dtype=np.float64):
    X = rng.normal(size=(n, d)) * 30 + 100
    return np.clip(X, 0, 255).astype(dtype)


def test_wrong_shapes_at_prediction():
    X = data(np.random.default_rng(4))
    learners = fitted(X).learners
    with pytest.raises(ValueError, match="X must have 7 features, got 6"):
        learners.outputs(X[:, :6])
    with pytest.raises(ValueError, match="coef must have 6 rows"):
        learners.scorer(np.ones((5, 2)))
    other = fitted(X[:, :3]).learners
    with pytest.raises(ValueError, match="same numbers of features"):
        TreeLearners.concatenate([learners, other])


def test_hostile_arrays_are_refused():
    X = data(np.random.default_rng(5))
    arrays = fitted(X, n_trees=3, max_depth=3).learners.arrays()
    inner = int(np.flatnonzero(arrays["feature"] >= 0)[1])
    leaf = int(np.flatnonzero(arrays["feature"] < 0)[0])
    biggest = np.iinfo(np.int64).max
    ends = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    cases = {
        "offsets": [(0, 1), (-1, 10**6), (1, biggest), (1, -biggest - 1), (1, 0)],
        "feature": [(inner, 7), (inner, -2), (inner, -1), (leaf, 0)],
        "threshold": [(inner, np.nan), (leaf, 1.0)],
        "left": [(0, 0), (0, 3), (leaf, 3), *((inner, at) for at in (1, 10**6, -1, *ends))],
        "missing": [(inner, 0), (leaf, 1), (inner, -128)],
        "output": [(leaf, -128), (inner, 1)],
    }
    for name, (index, value) in ((name, case) for name, own in cases.items() for case in own):
        wrong = arrays[name].copy()
        wrong[index] = value
        with pytest.raises(ValueError, match=r"must"):
            TreeLearners.from_arrays(arrays | {name: wrong}, n_features=7)


@pytest.mark.parametrize(
    ("of", "cases"),
    [
        (TreeFamily()._depth, {1: 5, 2_048: 5, 8_192: 8, 50_000: 12, 200_000: 15}),
        (TreeFamily()._leaf_mass, {1: 0.04, 100: 0.04, 500: 0.04, 1000: 0.02}),
        (TreeFamily()._n_drawn, {1: 1, 5: 5, 12: 8, 100: 50, 2_000: 64}),
    ],
)
def test_limits_by_default_follow_the_numbers_of_examples_and_of_features(of, cases):
    assert {n: of(n) for n in cases} == cases


def test_signs_of_graded_trees_are_trees_without_equal_neighbours():
    """Also with gaps."""
    rng = np.random.default_rng(2)
    X = data(rng)
    X[:, 0] = rng.integers(0, 9, len(X))
    pricer = bind(TreeFamily(max_depth=5), X, 4)
    divisions = [pricer.divide(rng.normal(size=(4, len(X)))) for _ in range(4)]
    learners = TreeLearners.concatenate([division.learners for division in divisions])
    counts = np.array([division.n_cells for division in divisions])
    cells = np.column_stack([division.cells for division in divisions])
    outputs = rng.integers(-3, 4, (counts.sum(), 2)).astype(np.int8)
    graded = learners.graded(outputs)
    np.testing.assert_array_equal(learners.cells(X), cells)
    given = outputs[cells + np.cumsum(counts) - counts]
    np.testing.assert_array_equal(graded.outputs(X), given)
    signs = graded.signs()
    expected = np.where(given < 0, -1, 1).reshape(len(X), -1)
    np.testing.assert_array_equal(signs.outputs(X), expected)
    signs.flat_form().check(X.shape[1])
    assert graded.is_graded and not signs.is_graded and signs.signs() is signs
    trees = signs.trees
    child = np.repeat(trees.offsets[:-1], signs.cell_counts) + trees.left
    inner = trees.feature >= 0
    one, other = trees.output[child[inner]], trees.output[child[inner] + 1]
    assert not ((one == other) & (one != 0)).any()
    assert 0 < len(trees.feature) < 2 * len(graded.trees.feature)
