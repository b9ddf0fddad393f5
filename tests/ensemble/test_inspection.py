"""Inspection of fitted models."""

import dataclasses

import numpy as np
import pytest
from attack_plugins import family
from models import paper
from reference_family import ReferenceStump
from scipy.special import ndtri
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import RidgeClassifier

from cwboost import BindContext, CWBoostClassifier, SklearnFamily, ThresholdTrees, get_family
from cwboost.kernels import THRESHOLDS_SEARCHED

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def clf():
    return paper(ReferenceStump(share=0.5), n_estimators=30, C=1e3).fit(
        X, NAMES[Y], X_val=X[::3], y_val=NAMES[Y][::3]
    )


def test_feature_importances_by_hand(clf):
    ensemble = clf.ensemble_
    gains = np.zeros(4)
    coef = ensemble.coef().toarray()
    for j, feature in enumerate(ensemble.learners.feature):
        gains[feature] += np.abs(coef[j]).sum() * ensemble.edges[j]
    np.testing.assert_allclose(clf.feature_importances_, gains / gains.sum())
    assert clf.feature_importances_[2:].sum() > 0.8  # petals tell the species apart


def test_importances_need_feature_shares():
    no_shares, no_form = ("def feature_shares", "def shares"), ("def flat_form", "def form")
    clf = paper(family(no_shares, no_form), n_estimators=3).fit(X, Y)
    with pytest.raises(AttributeError, match="ReferenceLearners do not say which features"):
        _ = clf.feature_importances_
    assert not hasattr(paper(), "feature_importances_") and "predict" in dir(clf)
    with pytest.raises(ValueError, match="feature_importances_"):
        SelectFromModel(clf, prefit=True).transform(X)
    for method in (lambda: clf.explain(X), clf.to_frame, clf.to_json):
        with pytest.raises(TypeError, match="those of type ReferenceLearners have no flat form"):
            method()


def test_shares_of_a_tree_by_hand():
    trees = ThresholdTrees(
        **{
            "offsets": np.array([0, 1, 8]),
            "feature": np.array([-1, 0, 2, 0, -1, -1, -1, -1], np.int32),
            "threshold": np.array([0, 1.5, 0.5, 0.5, 0, 0, 0, 0]),
            "left": np.array([-1, 1, 3, 5, -1, -1, -1, -1], np.int32),
            "missing": np.array([0, 1, 1, -1, 0, 0, 0, 0], np.int8),
            "output": np.array([1, 0, 0, 0, 1, -1, 1, -1], np.int8),
        }
    )
    np.testing.assert_allclose(trees.feature_shares(3).toarray(), [[0, 0, 0], [0.75, 0, 0.25]])
    gain = np.array([0, 0.5, -0.125, 0.25, 0, 0, 0, 0], np.float32)
    known = dataclasses.replace(trees, gain=gain)
    np.testing.assert_allclose(known.feature_shares(3).toarray(), [[0, 0, 0], [0.75, 0, -0.125]])


def test_gains_of_trees_by_the_definition():
    """Against sums over the examples of each node; the unit is the edge."""
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(200, 4)), rng.normal(size=(3, 200)) + 0.2
    family = get_family("tree")(max_depth=4, max_features=2)
    context = BindContext(n_targets=3, random_state=rng)
    priced = family.bind(X, context).price(weights)
    trees = priced.learners.flat_form()
    n_comparisons = 2 * THRESHOLDS_SEARCHED
    deviations = ndtri(0.5 + 0.5 * ((np.arange(5) + 0.5) / 5) ** (1 / n_comparisons))
    for t, w in enumerate(weights):
        start = trees.offsets[t]
        rows = {0: np.arange(200)}
        for node in range(trees.offsets[t + 1] - start):
            feature, here = trees.feature[start + node], rows[node]
            if feature < 0:
                assert trees.gain[start + node] == 0
                continue
            right = X[here, feature] > trees.threshold[start + node]
            left = trees.left[start + node]
            rows[left], rows[left + 1] = here[~right], here[right]
            total = abs(w[here].sum())
            chance = np.maximum(0, deviations * np.sqrt(np.sum(w[here] ** 2)) - total).mean()
            gain = abs(w[here[right]].sum()) + abs(w[here[~right]].sum()) - total - chance
            assert trees.gain[start + node] == pytest.approx(gain / priced.edges[t], abs=1e-6)


NOISY = {"stump": "stump", "mixed": ["stump", "tree"], "auto": "auto", "projection": "projection"}
NOISY |= {f"depth {depth}": get_family("tree")(max_depth=depth) for depth in (1, 2, 5, 8, None)}
NOISY |= {
    "edge": get_family("tree")(criterion="edge"),
    "linear": SklearnFamily(RidgeClassifier()),
}


@pytest.mark.parametrize("family", [*NOISY.values()], ids=[*NOISY])
@pytest.mark.parametrize("correction", ["total", "stagewise"])
def test_noise_gets_little(family, correction):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, 10))
    y = 2 * (X[:, 0] > 0) + (X[:, 1] > 0.3)
    # As many trees, whether a round grows one for all classes or one per class.
    n_rounds = 60 if correction == "stagewise" else 15
    options = {"init": None, "n_estimators": n_rounds, "C": 1e4, "subsample": 1.0}
    clf = CWBoostClassifier(family, correction=correction, random_state=0, **options).fit(X, y)
    # A tree that all classes share serves none of them alone.
    most = 0.03 if clf.ensemble_.learners.is_graded else 0.02
    assert clf.feature_importances_[2:].max() < most


def test_late_trees_do_not_hide_what_the_first_ones_gained():
    """After some dozen rounds they fit the noise of these labels, and gain less than chance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = np.where(rng.random(300) < 0.2, rng.integers(0, 4, 300), 2 * (X[:, 0] > 0) + (X[:, 1] > 0))
    few, many = (
        CWBoostClassifier("tree", init=None, n_estimators=n, random_state=0)
        .fit(X, y)
        .feature_importances_
        for n in (40, 300)
    )
    np.testing.assert_allclose(many, few, atol=0.05)
    assert many[:2].sum() > 0.85


def test_class_columns(clf):
    seen = []
    for c, name in enumerate(NAMES):
        columns = clf.class_columns(name)
        coef = clf.ensemble_.coef().toarray()[:, c]
        np.testing.assert_array_equal(columns.coef, coef[columns.index])
        assert len(columns.learners) == len(columns.index) == np.count_nonzero(coef)
        assert np.all(np.diff(columns.coef) <= 0) and np.all(columns.edge > 1)
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
