"""SHAP values against the definition, and what they refuse."""

from dataclasses import replace
from itertools import combinations
from math import factorial

import numpy as np
import pytest
from models import paper
from scipy import sparse
from sklearn.linear_model import RidgeClassifier

from cwboost import (
    Capabilities,
    CWBoostClassifier,
    MixedFamily,
    ProjectionFamily,
    SklearnFamily,
    TreeFamily,
    get_family,
)
from cwboost.ensemble.shapley import shapley_values, tree_shapley
from cwboost.families.tree_learners import TreeLearners


def data(n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, (X[:, 0] > 0) + 2 * (X[:, 1] > 0.3)


def goes_right(trees, node, X):
    values = X[:, trees.feature[node]]
    right = values > trees.threshold[node]
    return np.where(np.isnan(values), trees.missing[node] > 0, right)


def mean_output(trees, start, place, x, known, background):
    """Return the output for x if only some features are known."""
    node = start + place
    feature = trees.feature[node]
    if feature < 0:
        return float(trees.output[node])
    right, left = goes_right(trees, node, background), trees.left[node]
    sides = [mean_output(trees, start, left + s, x, known, background[right == s]) for s in (0, 1)]
    if feature in known:
        return sides[int(goes_right(trees, node, x[None])[0])]
    share = right.mean() if len(right) else 0.5
    return (1 - share) * sides[0] + share * sides[1]


def by_definition(trees, coef, X, background):
    values = np.zeros((*X.shape, coef.shape[1]))
    for t, start in enumerate(trees.offsets[:-1]):
        own = trees.feature[start : trees.offsets[t + 1]]
        features = sorted(set(own[own >= 0].tolist()))
        n = len(features)
        for i, x in enumerate(X):
            game = {
                known: mean_output(trees, start, 0, x, known, background)
                for size in range(n + 1)
                for known in combinations(features, size)
            }
            for f in features:
                for known in game:
                    if f in known:
                        continue
                    weight = factorial(len(known)) * factorial(n - len(known) - 1) / factorial(n)
                    gain = game[tuple(sorted((*known, f)))] - game[known]
                    values[i, f] += weight * gain * coef[t]
    return values


@pytest.mark.parametrize("n_background", [40, 3])  # with 3, most nodes have no example
def test_values_of_trees_by_the_definition(n_background):
    X, y = data()
    family = get_family("tree")(max_depth=5, max_features=1)
    clf = paper(family, n_estimators=2, C=1e4)
    clf.fit(X, y)
    background = X[50 : 50 + n_background]
    base, values, _ = clf.shap_values(X[:9], background)
    ensemble = clf.ensemble_
    trees, coef = ensemble.learners.flat_form(), ensemble.coef().toarray()
    assert (np.diff(trees.offsets) > 15).any()
    expected = by_definition(trees, coef, X[:9], background)
    np.testing.assert_allclose(values, expected, atol=1e-12)
    np.testing.assert_allclose(base, clf.decision_function(background).mean(axis=0))
    scores = clf.decision_function(X[:9])
    np.testing.assert_allclose(base + values.sum(axis=1), scores, atol=1e-12)
    constant, parts, _ = clf.explain(X[:9], 1, background)
    np.testing.assert_allclose(constant + parts.sum(axis=1), clf.decision_function(X[:9], 1))


def test_deep_trees_threads_and_sparse_rows():
    X, y = data(700)
    X = np.nan_to_num(X)
    family = get_family("tree")(max_depth=None)
    clf = CWBoostClassifier(
        family, init=None, n_estimators=4, C=1e6, correction="stagewise", random_state=0
    )
    clf.fit(X, y)
    base, values, _ = clf.shap_values(X, X)
    np.testing.assert_allclose(
        base + values.sum(axis=1), clf.decision_function(X), rtol=0, atol=1e-10
    )
    clf.n_jobs = 2
    np.testing.assert_array_equal(clf.shap_values(X, X).values, values)
    np.testing.assert_array_equal(clf.shap_values(sparse.csr_array(X), X).values, values)


def with_cover(trees, X):
    """Return trees that know how many rows of X are in each leaf."""
    cells = TreeLearners(replace(trees, cover=None), X.shape[1]).cells(X) + trees.offsets[:-1]
    cover = np.bincount(cells.ravel(), minlength=len(trees.feature))
    return replace(trees, cover=cover.astype(np.float32))


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_trees_shared_by_the_classes_know_their_training_examples(n_outputs):
    """Values equal those of ordinary trees, one per class; of a row alone, those in a batch."""
    X, y = data(300)
    clf = paper(get_family("tree")(max_depth=6, max_features=2), n_estimators=3, C=1e4).fit(X, y)
    trees, rng = clf.ensemble_.learners.flat_form(), np.random.default_rng(1)
    output = rng.integers(-127, 128, (len(trees.feature), n_outputs), dtype=np.int8)
    output[trees.feature >= 0] = 0
    shared = with_cover(replace(trees, output=output), X)
    coef = rng.random((len(trees), n_outputs))
    values, base = tree_shapley(shared, sparse.csr_array(coef), X)
    scores = TreeLearners(shared, X.shape[1]).scorer(coef)(X)
    np.testing.assert_allclose(base + values.sum(axis=1), scores, atol=1e-9)
    np.testing.assert_allclose(base, scores.mean(axis=0))
    for c in range(n_outputs):
        one = replace(trees, output=np.ascontiguousarray(output[:, c]))
        expected, _ = tree_shapley(one, sparse.csr_array(coef[:, [c]]), X, X)
        np.testing.assert_allclose(values[..., c], expected[..., 0], atol=1e-9)
    alone, _ = tree_shapley(shared, sparse.csr_array(coef), X[7:8])
    np.testing.assert_allclose(alone[0], values[7], atol=1e-12)


def test_learners_that_know_no_training_examples_ask_for_a_background():
    X, y = data()
    clf = paper("stump", n_estimators=3, C=1e4).fit(X, y)
    with pytest.raises(ValueError, match=r"background must be examples.*got None"):
        clf.shap_values(X)


MIXED = MixedFamily(["projection", TreeFamily(max_depth=1)])


@pytest.mark.parametrize("family", ["projection", MIXED, SklearnFamily(RidgeClassifier())])
def test_values_of_directions(family):
    X, y = data(200)
    X = np.nan_to_num(X) * [1.0, 1e3, 1.0, 1e-3]
    clf = CWBoostClassifier(family, init=None, n_estimators=8, random_state=1).fit(X, y)
    rows, background = X[:30], X[::2]
    base, values, _ = clf.shap_values(rows, X)
    scores = clf.decision_function(rows)
    np.testing.assert_allclose(base + values.sum(axis=1), scores, rtol=0, atol=1e-10)
    np.testing.assert_allclose(base, clf.decision_function(background).mean(axis=0), atol=1e-12)
    constant, parts, _ = clf.explain(rows, background=X)
    np.testing.assert_allclose(constant + parts.sum(axis=1), scores, rtol=0, atol=1e-10)
    clf.n_jobs = 2
    np.testing.assert_array_equal(clf.shap_values(rows, X).values, values)
    if family is MIXED:
        parts = clf.ensemble_.learners.parts
        assert set(parts) == {"projection", "tree"} and all(map(len, parts.values()))
        return
    # Pair by pair.
    ensemble = clf.ensemble_
    form, coef = ensemble.learners.flat_form(), ensemble.coef().toarray()
    sides, others = (ensemble.learners.outputs(Z).astype(float) for Z in (rows, background))
    expected = np.zeros_like(values)
    for t in np.flatnonzero(form.feature[form.offsets[:-1]] >= 0):
        direction = form.directions[:, form.feature[form.offsets[t]]]
        lines = rows[:, None] - background
        change = sides[:, None, t] - others[:, t]
        rate = np.divide(change, lines @ direction, out=np.zeros_like(change), where=change != 0)
        of_features = (rate[:, :, None] * lines).mean(axis=1) * direction
        expected += of_features[:, :, None] * coef[t]
    np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-8)


class Seeing(ProjectionFamily):
    """Projections of rows with their gaps."""

    name = "seeing"
    capabilities = Capabilities(symmetric=True, missing_values=True)


def test_values_of_directions_without_a_line():
    """A vote of a learner that meets NaN goes to the features that are missing."""
    X, y = data(200)
    known = np.nan_to_num(X)
    clf = CWBoostClassifier(Seeing(), init=None, n_estimators=3, random_state=1).fit(known, y)
    rows = known[:8]
    rows[::2] = [0.5, np.nan, np.nan, 0.1]
    values, base = shapley_values(clf.ensemble_, rows, known)
    scores = clf.ensemble_.scores(rows)
    np.testing.assert_allclose(base + values.sum(axis=1), scores, rtol=0, atol=1e-10)
    assert clf.ensemble_.learners.flat_form().directions[1:3].any(axis=0).all()
    assert not values[::2, [0, 3]].any() and values[1::2, [0, 3]].any()
