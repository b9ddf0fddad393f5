"""Inspection and plots of stump models."""

import dataclasses
import importlib
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from plugin_folder import family_source
from quantile_family import QuantileStumps
from sklearn.datasets import load_iris

from cwboost import CWBoostClassifier, get_family
from cwboost.ensemble import inspection
from cwboost.plotting import plot_history, plot_importances, plot_margins, plot_shape

matplotlib.use("Agg")
X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def clf():
    return CWBoostClassifier(QuantileStumps(), n_estimators=30, C=1e3, random_state=0).fit(
        X, NAMES[Y], X_val=X[::3], y_val=NAMES[Y][::3]
    )


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def test_feature_importances_by_hand(clf):
    ensemble = clf.ensemble_
    gains = np.zeros(4)
    coef = ensemble.coef().toarray()
    for j, feature in enumerate(ensemble.learners.feature):
        gains[feature] += np.abs(coef[j]).sum() * ensemble.edges[j]
    np.testing.assert_allclose(clf.feature_importances_, gains / gains.sum())
    assert clf.feature_importances_[2:].sum() > 0.8  # petals tell the species apart


def test_importances_need_feature_shares():
    scope = {}
    exec(family_source("anything", register=False), scope)
    clf = CWBoostClassifier(scope["Constant"](), n_estimators=3).fit(X[40:110], Y[40:110])
    with pytest.raises(NotImplementedError, match="ConstantLearners does not say"):
        _ = clf.feature_importances_
    assert not hasattr(CWBoostClassifier(), "feature_importances_")
    with pytest.raises(TypeError, match="only models of stumps"):
        clf.explain(X)


@pytest.mark.parametrize("family", ["stump", "tree", "projection"])
def test_importances_of_the_built_in_families(family):
    """Two features are useless; the petals matter most."""
    rng = np.random.default_rng(0)
    noisy = np.column_stack([X, rng.normal(size=(150, 2))])
    clf = CWBoostClassifier(family, n_estimators=10, C=1e2, random_state=0).fit(noisy, Y)
    importances = clf.feature_importances_
    assert importances.shape == (6,) and importances.min() >= 0
    assert importances.sum() == pytest.approx(1)
    assert importances[2:4].sum() > 0.5 and importances[4:].sum() < 0.3
    rows = clf.ensemble_.learners.feature_shares(6).sum(axis=1)
    assert np.all(np.isclose(rows, 1) | (rows == 0))


def test_shares_of_a_tree_by_hand():
    trees = get_family("tree").learners_type.from_arrays(
        {
            "offsets": np.array([0, 1, 8]),
            "feature": np.array([-1, 0, 2, 0, -1, -1, -1, -1], np.int32),
            "threshold": np.array([0, 1.5, 0.5, 0.5, 0, 0, 0, 0]),
            "left": np.array([-1, 1, 3, 5, -1, -1, -1, -1], np.int32),
            "missing": np.array([0, 1, 1, -1, 0, 0, 0, 0], np.int8),
            "sign": np.array([1, 0, 0, 0, 1, -1, 1, -1], np.int8),
        },
        n_features=3,
    )
    np.testing.assert_allclose(trees.feature_shares(3).toarray(), [[0, 0, 0], [0.75, 0, 0.25]])


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
    with pytest.raises(ValueError, match="one of classes_, got 'rosa'"):
        clf.class_columns("rosa")


@pytest.mark.parametrize("n_estimators", [None, 7])
def test_explain_adds_up_to_the_same_bits(clf, n_estimators):
    constant, parts = clf.explain(X[:20], n_estimators)
    assert parts.shape == (20, 4, 3)
    total = np.tile(constant, (20, 1))
    for feature in range(4):
        total = total + parts[:, feature]
    np.testing.assert_array_equal(total, clf.decision_function(X[:20], n_estimators))


def test_explain_counts_the_offset_of_an_ensemble(clf):
    offsets = np.arange(31.0 * 3).reshape(31, 3)
    shifted = dataclasses.replace(clf.ensemble_, offsets=offsets)
    for n_rounds, row in ((None, 30), (7, 7)):
        constant, parts = inspection.contributions(shifted, X[:20], n_rounds)
        plain, _ = inspection.contributions(clf.ensemble_, X[:20], n_rounds)
        np.testing.assert_allclose(constant, plain + offsets[row])
        np.testing.assert_allclose(constant + parts.sum(axis=1), shifted.scores(X[:20], n_rounds))


def test_additive_of_the_first_rounds(clf):
    whole, part = inspection.additive(clf.ensemble_), inspection.additive(clf.ensemble_, 3)
    assert len(part.feature) < len(whole.feature)


# ---------------------------------------------------------------------------- drawings


def test_plot_history(clf):
    ax = plot_history(clf)
    assert [line.get_label() for line in ax.lines] == ["train error", "valid error"]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), clf.history_["train_error"])
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(1, clf.n_iter_ + 1))
    objective = plot_history(clf, "objective", ax=pyplot.figure().add_subplot())
    np.testing.assert_array_equal(objective.lines[0].get_ydata(), clf.history_["objective"])
    assert objective.get_yscale() == "log"
    with pytest.raises(ValueError, match="'error' or 'objective', got 'loss'"):
        plot_history(clf, "loss")


def test_plot_history_with_a_dual_bound():
    class Fitted:
        def __init__(self):
            self.history_ = {"objective": np.array([3.0, 2.0]), "dual_bound": np.array([0.5, 1.0])}

    ax = plot_history(Fitted(), "objective")
    assert [text.get_text() for text in ax.get_legend().texts] == ["objective", "dual bound", "gap"]
    with pytest.raises(ValueError, match=r"history_ must have one of .*, Fitted has none"):
        plot_history(Fitted(), "error")


def test_plot_margins_crosses_zero_at_the_error_rate(clf):
    noisy = np.array(NAMES[Y])
    noisy[:15] = "virginica"
    ax = plot_margins(clf, X, noisy)
    margins, share = ax.lines[0].get_data()
    assert np.all(np.diff(margins) >= 0) and margins[0] >= -1 and margins[-1] <= 1
    assert share[margins < 0].max() == pytest.approx(np.mean(clf.predict(X) != noisy))
    plot_margins(clf, X, noisy, n_estimators=3)
    with pytest.raises(ValueError, match="only labels that the classifier was trained on"):
        plot_margins(clf, X[:1], ["zebra"])


def test_plot_margins_of_two_classes():
    clf = CWBoostClassifier(QuantileStumps(), n_estimators=4).fit(X, Y == 2)
    margins, share = plot_margins(clf, X, Y == 2).lines[0].get_data()
    assert share[margins < 0].max(initial=0) == pytest.approx(1 - clf.score(X, Y == 2))


def test_plot_importances(clf):
    ax = plot_importances(clf, n_features=2)
    best = np.argsort(-clf.feature_importances_)[:2]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [f"feature {best[1]}", f"feature {best[0]}"]
    assert ax.patches[1].get_width() == clf.feature_importances_[best[0]]


def test_plot_shape_draws_the_functions(clf):
    ax = plot_shape(clf, 2)
    _, functions = inspection.additive(clf.ensemble_).functions()
    assert len(ax.patches) == 3
    for patch, values in zip(ax.patches, functions[2].values.T):
        np.testing.assert_array_equal(patch.get_data().values, values)
        np.testing.assert_array_equal(patch.get_data().edges[1:-1], functions[2].thresholds)
    ax = plot_shape(clf, 2, classes=["virginica"], n_estimators=2)
    assert [text.get_text() for text in ax.get_legend().texts] == ["virginica"]


def test_plot_shape_by_name_and_of_an_unused_feature():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.column_stack([X, np.ones(150)]), columns=list("abcde"))
    clf = CWBoostClassifier(QuantileStumps(), n_estimators=8, C=1e3).fit(frame, Y)
    assert plot_shape(clf, "c").get_xlabel() == "c"
    flat = plot_shape(clf, "e")
    assert len(flat.lines) + len(flat.patches) == 3
    with pytest.raises(ValueError, match="names, got 'z'"):
        plot_shape(clf, "z")


@pytest.mark.parametrize("arguments, message", [((4,), "0..3"), ((0,), "labels of the training")])
def test_plot_shape_refuses(clf, arguments, message):
    with pytest.raises(ValueError, match=message):
        plot_shape(clf, *arguments, classes=["rosa"])


def test_many_classes_have_colours_of_their_own():
    plotting = importlib.import_module("cwboost.plotting")
    assert len(set(plotting._colours(43))) == 43


def test_without_matplotlib_the_extra_is_named():
    program = """
import sys
sys.modules["matplotlib"] = None
import cwboost.plotting
class Fitted:
    history_ = {"train_error": __import__("numpy").zeros(3)}
try:
    cwboost.plotting.plot_history(Fitted())
except ImportError as error:
    assert "cwboost[plot]" in str(error), error
else:
    raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
