"""Outputs, sets and scores of trees equal those of a plain walk, on values and on codes."""

import numpy as np
import pytest
import scipy.sparse as sp
from cwboost._kernels.prediction.trees import TreeEvaluator
from random_trees import random_trees, walked

from cwboost._kernels.prediction.tree_nodes import padded

SPECIAL = [-np.inf, np.inf, -0.0, 0.0, 5e-324, np.nan]
SIZES = [0, 1, 3, 40, 255, 256, 511, 512, 513, 900]


def values(rng, n_rows, n_features):
    """Return numbers on, beside and between thresholds, with zeros and special ones."""
    X = rng.integers(-40, 40, (n_rows, n_features)) / 8.0
    X[rng.random(X.shape) < 0.2] = 0
    beside = rng.random(X.shape) < 0.2
    X[beside] = np.nextafter(X[beside], rng.choice([-9, 9], beside.sum()))
    other = rng.random(X.shape) < 0.05
    X[other] = rng.choice(SPECIAL, other.sum())
    return X


@pytest.fixture(params=[(3, False), (20, False), (3, True), (20, True)])
def nodes(request):
    """Trees of which some are walked; the features have up to 330 distinct thresholds."""
    n_features, is_graded = request.param
    rng = np.random.default_rng(n_features)
    thresholds = np.concatenate([np.arange(-164, 164) / 32.0, [np.inf, -np.inf]])
    nodes = random_trees(rng, np.resize(SIZES, 70), n_features, thresholds)
    if is_graded:
        of_leaves = rng.integers(-127, 128, (len(nodes["output"]), 3), dtype=np.int8)
        nodes["output"] = np.abs(nodes["output"][:, None]) * of_leaves
    return nodes


def evaluator(nodes, n_features, n_trees=None):
    """Return the evaluator of the first trees."""
    offsets = nodes["offsets"][: None if n_trees is None else n_trees + 1]
    some = {name: array[: offsets[-1]] for name, array in nodes.items()} | {"offsets": offsets}
    return TreeEvaluator(**some, n_features=n_features)


def stored(X):
    rows = sp.csr_array(X)
    return rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int64)


@pytest.mark.parametrize("n_rows", [1, 7, 63, 64, 65, 300, 4500])
def test_outputs_equal_those_of_a_walk(nodes, n_rows):
    n_features = nodes["feature"].max() + 1
    X = values(np.random.default_rng(n_rows), n_rows, n_features)
    expected = walked(nodes, X)
    of_all = evaluator(nodes, n_features)
    for rows in (X, stored(X)):
        for n_threads in (1, 3):
            np.testing.assert_array_equal(of_all.outputs(rows, n_threads), expected)
    cells = of_all.cells(X)
    np.testing.assert_array_equal(nodes["output"][cells + nodes["offsets"][:-1]], expected)
    few = evaluator(nodes, n_features, 63)  # on values, whatever the rows
    np.testing.assert_array_equal(few.outputs(X), expected[:, :63])
    wide = np.column_stack([X, np.full((n_rows, 5), np.nan)])  # of features that no tree reads
    np.testing.assert_array_equal(evaluator(nodes, n_features + 5).outputs(wide), expected)
    if expected.ndim == 3:
        with pytest.raises(ValueError, match="graded trees have no sets"):
            of_all.sets(X)
        return
    sets = of_all.sets(X).view(np.uint8).reshape(-1, len(expected[0]), 8)
    bits = np.unpackbits(sets, axis=2, bitorder="little").transpose(0, 2, 1)
    np.testing.assert_array_equal(bits.reshape(-1, len(expected[0]))[:n_rows], expected > 0)


def test_scores_have_the_bits_of_those_on_values(nodes):
    n_features = nodes["feature"].max() + 1
    rng = np.random.default_rng(0)
    X = values(rng, 500, n_features)
    coef = sp.csr_array(rng.normal(size=(70, 3)) * (rng.random((70, 3)) < 0.7))
    of_all, expected = evaluator(nodes, n_features), walked(nodes, X)
    if expected.ndim == 3:
        expected, coef = np.einsum("ijk,jk->ik", expected, coef.toarray()), padded(coef.toarray())
    else:
        expected = expected @ coef
    scores = of_all.scores(X, coef)
    np.testing.assert_allclose(scores, expected, rtol=1e-11, atol=1e-10)
    one_by_one = np.vstack([of_all.scores(X[k : k + 1], coef) for k in range(500)])
    assert scores.tobytes() == one_by_one.tobytes()
    in_chunks = [of_all.scores(rows, coef, 2) for rows in np.array_split(X, 4)]
    assert scores.tobytes() == np.vstack(in_chunks).tobytes()


def test_rows_of_every_kind_have_equal_outputs(nodes):
    n_features = nodes["feature"].max() + 1
    X = np.random.default_rng(1).integers(0, 6, (333, n_features)) * 1.0
    expected = walked(nodes, X)
    of_all = evaluator(nodes, n_features)
    for kind in (X, X.astype(np.float32), X.astype(np.uint8), np.asfortranarray(X), stored(X)):
        np.testing.assert_array_equal(of_all.outputs(kind), expected)


def test_a_layout_for_values_serves_until_codes_repay_theirs(nodes):
    n_features = nodes["feature"].max() + 1
    X = values(np.random.default_rng(3), 64, n_features)
    of_all = evaluator(nodes, n_features)
    expected = walked(nodes, X)
    np.testing.assert_array_equal(of_all.outputs(X[:1]), expected[:1])
    for _ in range(60):  # with codes in the end
        np.testing.assert_array_equal(of_all.outputs(X), expected)


def test_trees_that_are_all_constant():
    nodes = random_trees(np.random.default_rng(4), np.zeros(80, int), 1, [0.0])
    X = np.zeros((100, 1))
    np.testing.assert_array_equal(evaluator(nodes, 1).outputs(X), walked(nodes, X))
