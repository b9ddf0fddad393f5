"""Exported trees answer as the originals: in treelite, and explained by the package shap."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

import cwboost
from cwboost import CWBoostClassifier, to_shap, to_treelite


def with_gaps(load):
    X, y = load(return_X_y=True)
    X[::7, ::3] = np.nan
    return X[:500], y[:500]


def small(weak_learner, **parameters):
    settings = {"init": None, "n_estimators": 12, "random_state": 0}
    return CWBoostClassifier(weak_learner, **settings | parameters)


SETS = pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
FAMILIES = pytest.mark.parametrize("weak_learner", ["stump", "tree"])


def assert_same_margins(clf, X, codes=None, n_estimators=None):
    gtil = pytest.importorskip("treelite").gtil
    model = to_treelite(clf, n_estimators=n_estimators)
    given = X if codes is None else codes
    margins = gtil.predict(model, given, pred_margin=True).reshape(len(X), -1)
    wanted = clf.model_.scale_at(n_estimators) * clf._scores(X, n_estimators)
    np.testing.assert_allclose(margins, wanted, rtol=1e-12, atol=1e-12)
    # The softmax of treelite has the precision of float32.
    probabilities = gtil.predict(model, given).reshape(len(X), -1)
    np.testing.assert_allclose(probabilities, clf.predict_proba(X, n_estimators), atol=1e-6)


@SETS
@FAMILIES
def test_treelite_gives_the_same_scores_and_probabilities(load, weak_learner):
    X, y = with_gaps(load)
    clf = small(weak_learner).fit(X, y)
    assert_same_margins(clf, X)
    assert_same_margins(clf, X, n_estimators=5)


def test_treelite_reads_category_codes():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    kind, size = rng.integers(0, 12, 400), rng.normal(size=400)
    X = pd.DataFrame({"kind": pd.Categorical([f"k{k}" for k in kind]), "size": size})
    X.loc[::9, "kind"] = np.nan
    clf = small("stump").fit(X, (kind % 3 + (size > 0)) % 3)
    places = {category: place for place, category in enumerate(clf.categories_[0])}
    codes = np.column_stack([X["kind"].map(places).astype(float), size])
    assert_same_margins(clf, X, codes)


@pytest.mark.filterwarnings("ignore:::(shap|numba)")
@SETS
@FAMILIES
def test_shap_gives_our_values(load, weak_learner):
    shap = pytest.importorskip("shap")
    X, y = with_gaps(load)
    clf = small(weak_learner, subsample=1.0).fit(X, y)
    model = to_shap(clf, X)
    assert min(tree["node_sample_weight"].min() for tree in model["trees"]) >= 1
    explainer = shap.TreeExplainer(model)
    ours = clf.shap_values(X[:40], background=X)
    np.testing.assert_allclose(explainer.expected_value, ours.base, atol=1e-10)
    np.testing.assert_allclose(explainer.shap_values(X[:40]), ours.values, atol=1e-6)


@pytest.mark.filterwarnings("ignore:::(shap|numba)")
def test_shap_draws_rows_of_a_frame():
    """The recipe of `shap_values`."""
    shap = pytest.importorskip("shap")
    pytest.importorskip("matplotlib").use("Agg")
    X = load_breast_cancer(as_frame=True).data.iloc[::3]
    clf = small("tree").fit(X, X["mean area"] > 500)
    base, values, init = clf.shap_values(X.iloc[5:9], background=X)
    found = shap.Explanation(
        values, base + init, data=np.asarray(X.iloc[5:9]), feature_names=list(X.columns)
    )
    axes = shap.plots.waterfall(found[2, :, 1], show=False)
    assert "mean area" in " ".join(text.get_text() for text in axes.get_yticklabels())


@pytest.mark.parametrize(
    ("clf", "message"),
    [
        (small("projection"), "weak learner 'projection'"),
        (small("tree", init="kernel"), "init=None, got the init model 'kernel'"),
        (cwboost.AdaBoostMOClassifier("stump", n_estimators=3), "sums of votes for classes"),
    ],
)
def test_other_models_are_refused(clf, message):
    X, y = load_digits(return_X_y=True)
    clf.fit(X[:200], y[:200])
    with pytest.raises(TypeError, match=message):
        to_shap(clf, X)


def test_an_absent_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "treelite", None)
    with pytest.raises(ImportError, match="pip install treelite"):
        to_treelite(small("stump"))
