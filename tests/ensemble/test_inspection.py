"""Inspection of fitted models."""

import numpy as np
import pytest
from attack_plugins import family
from models import paper
from reference_family import ReferenceStump
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import RidgeClassifier

from cwboost import CWBoostClassifier, SklearnFamily, get_family

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def clf():
    return paper(ReferenceStump(share=0.5), n_estimators=30, C=1e3).fit(
        X, NAMES[Y], X_val=X[::3], y_val=NAMES[Y][::3]
    )


@pytest.mark.parametrize("family", ["tree", "stump", "projection"])
def test_importances_are_the_shares_of_squared_shap_values(family):
    """Of 150 examples, 128 are seen: of all of them, the shares are nearly the same."""
    clf = CWBoostClassifier(family, init="kernel", n_estimators=30, random_state=0).fit(X, Y)
    values = clf.shap_values(X, None if family == "tree" else X).values
    squares = np.square(values).sum(axis=(0, 2))
    np.testing.assert_allclose(clf.feature_importances_, squares / squares.sum(), atol=0.03)
    # Petals tell the species apart; a direction has a part of every feature.
    assert clf.feature_importances_[2:].sum() > (0.5 if family == "projection" else 0.8)


@pytest.mark.parametrize(("n", "atol"), [(100, 1e-9), (1000, 0.05)])
@pytest.mark.parametrize("way", ["fit", "refit", "thin"])
def test_examples_count_for_importances_by_their_weight(n, atol, way):
    rng = np.random.default_rng(0)
    X, weight = rng.random((n, 3)), np.exp(2 * rng.normal(size=n))
    y = X[:, 0] + rng.random(n) > 1
    light = weight < 1
    y[light] = X[light, 1] > 0.5
    clf = CWBoostClassifier(init=None, n_estimators=10, random_state=0).fit(X, y, weight)
    if way != "fit":
        clf = getattr(clf, way)(X, y, weight, **{"C": 1e3} if way == "thin" else {})
    squares = np.sum(weight[:, None, None] * np.square(clf.shap_values(X).values), axis=(0, 2))
    np.testing.assert_allclose(clf.feature_importances_, squares / squares.sum(), atol=atol)


@pytest.mark.parametrize("most_outputs, n_rows", [(2**26, 128), (1, 32)])
def test_importances_of_large_trees_are_those_of_fewer_rows(monkeypatch, most_outputs, n_rows):
    monkeypatch.setattr("cwboost.ensemble.importances.MOST_OUTPUTS", most_outputs)
    X, y = np.random.default_rng(0).random((128, 3)), np.repeat([0, 1], 64)
    X[:, 0] += y
    clf = CWBoostClassifier("tree", init=None, n_estimators=5, random_state=0).fit(X, y)
    squares = np.square(clf.shap_values(X[:: 128 // n_rows]).values).sum(axis=(0, 2))
    np.testing.assert_allclose(clf.feature_importances_, squares / squares.sum(), rtol=1e-9)


def test_importances_need_a_flat_form():
    clf = paper(family(("def flat_form", "def form")), n_estimators=3).fit(X, Y)
    with pytest.raises(AttributeError, match="needs a model with SHAP values of all of its scores"):
        _ = clf.feature_importances_
    assert not hasattr(paper(), "feature_importances_") and "predict" in dir(clf)
    with pytest.raises(ValueError, match="feature_importances_"):
        SelectFromModel(clf, prefit=True).transform(X)
    for method in (lambda: clf.explain(X), clf.to_frame):
        with pytest.raises(TypeError, match="those of type ReferenceLearners have no flat form"):
            method()


def test_a_fault_of_shap_values_is_no_lack_of_them(monkeypatch):
    monkeypatch.setattr("cwboost.ensemble.shapley.tree_shapley", lambda: None)
    with pytest.raises(TypeError, match="takes 0 positional arguments"):
        _ = paper(n_estimators=3).fit(X, Y).feature_importances_


NOISY = {"stump": "stump", "mixed": ["stump", "tree"], "auto": "auto", "projection": "projection"}
NOISY |= {f"depth {depth}": get_family("tree")(max_depth=depth) for depth in (1, 2, 5, 8, None)}
NOISY |= {"edge": get_family("tree")(criterion="edge"), "linear": SklearnFamily(RidgeClassifier())}


@pytest.mark.parametrize(
    "family, correction", zip(NOISY.values(), ["total", "stagewise"] * 6), ids=[*NOISY]
)
def test_noise_gets_little(family, correction):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, 10))
    y = 2 * (X[:, 0] > 0) + (X[:, 1] > 0.3)
    # As many trees, whether a round grows one for all classes or one per class.
    n_rounds = 60 if correction == "stagewise" else 15
    options = {"init": None, "n_estimators": n_rounds, "C": 1e4, "subsample": 1.0}
    clf = CWBoostClassifier(family, correction=correction, random_state=0, **options).fit(X, y)
    assert clf.feature_importances_[2:].max() < 0.02


def test_class_columns(clf):
    seen = []
    for c, name in enumerate(NAMES):
        columns = clf.class_columns(name)
        coef = clf.ensemble_.coef().toarray()[:, c]
        np.testing.assert_array_equal(columns.coef, coef[columns.index])
        assert len(columns.learners) == len(columns.index) == np.count_nonzero(coef)
        assert np.all(np.diff(columns.coef) <= 0)
        assert columns.edge.min() > 0 and columns.edge.max() <= 1
        offsets = clf.ensemble_.path.learners_offsets
        assert np.all(offsets[columns.round] <= columns.index)
        assert np.all(columns.index < offsets[columns.round + 1])
        outputs = columns.learners.outputs(X).astype(float)
        np.testing.assert_allclose(outputs @ columns.coef, clf.decision_function(X)[:, c])
        seen.extend(columns.index)
    assert len(set(seen)) == len(seen)
    with pytest.raises(ValueError, match=r"hold only training labels, got.*'rosa'"):
        clf.class_columns("rosa")


@pytest.mark.parametrize("n_estimators", [None, 7])
def test_explain_adds_up_to_the_same_bits(clf, n_estimators):
    constant, parts, _ = clf.explain(X[:20], n_estimators)
    assert parts.shape == (20, 4, 3)
    total = np.tile(constant, (20, 1))
    for feature in range(4):
        total = total + parts[:, feature]
    np.testing.assert_array_equal(total, clf.decision_function(X[:20], n_estimators))
