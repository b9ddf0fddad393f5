"""Plots of fitted classifiers."""

from functools import partial
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.cbook import is_math_text
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from models import paper
from reference_family import ReferenceStump
from sklearn.datasets import load_iris

from cwboost import AdaBoostECCClassifier, AdaBoostMOClassifier, CWBoostClassifier, TreeFamily
from cwboost.ensemble import inspection
from cwboost.plotting import (
    plot_calibration,
    plot_dependence,
    plot_history,
    plot_holdout,
    plot_importances,
    plot_loss,
    plot_margins,
    plot_path,
    plot_scorecard,
    plot_shape,
    plot_tree,
)
from cwboost.plotting.axes import short

matplotlib.use("Agg")
X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def clf():
    return paper(ReferenceStump(share=0.5), n_estimators=30, C=1e3).fit(
        X, NAMES[Y], X_val=X[::3], y_val=NAMES[Y][::3]
    )


def test_plot_history(clf):
    ax = plot_history(clf)
    assert [line.get_label() for line in ax.lines] == ["training examples", "validation examples"]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), clf.history_["train_error"])
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(1, clf.n_iter_ + 1))
    objective = plot_history(clf, "objective", ax=pyplot.figure().add_subplot())
    np.testing.assert_array_equal(objective.lines[0].get_ydata(), clf.history_["objective"])
    assert objective.get_yscale() == "log"
    assert objective.get_title() == "Objective by round"
    assert all(tick == int(tick) for tick in objective.get_xticks())


def test_plot_history_with_a_dual_bound():
    history = {"objective": np.array([3.0, 2.0]), "dual_bound": np.array([0.5, 1.0])}
    fitted = SimpleNamespace(history_=history)
    ax = plot_history(fitted, "objective")
    assert ax.get_title() == "Objective and a lower bound on it"
    assert [t.get_text() for t in ax.get_legend().texts] == ["objective", "lower bound", "gap"]
    with pytest.raises(ValueError, match=r"history_ must have one of .*, SimpleNamespace has none"):
        plot_history(fitted, "error")


@pytest.mark.parametrize("labels", [NAMES[Y], Y == 2], ids=["three", "two"])
@pytest.mark.parametrize(
    "make", [CWBoostClassifier, paper, AdaBoostECCClassifier, AdaBoostMOClassifier]
)
def test_margins_are_differences_of_scores(make, labels):
    """With an init model, graded learners, constants or decoded scores too."""
    model = make(n_estimators=9, random_state=0).fit(X, labels)
    noisy = labels[np.arange(-15, 135)]
    for n in (None, 3):
        margins, share = plot_margins(model, X, noisy, n_estimators=n).lines[0].get_data()
        wrong = model.predict(X, n) != noisy
        assert share[margins < 0].max() == pytest.approx(wrong.mean())
        scores = model.decision_function(X, n)
        scores = np.c_[0 * scores, scores] if scores.ndim == 1 else scores
        own = model.classes_ == noisy[:, None]
        least = scores[own] - np.where(own, -np.inf, scores).max(axis=1)
        np.testing.assert_array_equal(margins, np.sort(least))


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


def test_plot_shape_of_categories_has_a_step_for_each():
    pandas = pytest.importorskip("pandas")
    kind = np.array(["a", "b", "c"])[Y]
    frame = pandas.DataFrame({"kind": pandas.Categorical(kind), "size": X[:, 0]})
    clf = CWBoostClassifier("stump", n_estimators=5, init=None).fit(frame, Y != 1)
    ax = plot_shape(clf, "kind", X=frame)
    assert sorted(text.get_text() for text in ax.get_xticklabels()) == ["a", "b", "c"]
    for text, height in zip(ax.get_xticklabels(), ax.patches[-1].get_data().values):
        row = frame.iloc[[list(kind).index(text.get_text())]]
        assert height == pytest.approx(clf.explain(row).values[0, 0, 1])


def test_plot_shape_refuses_scores_that_are_no_sums_over_features():
    for model in (CWBoostClassifier("stump", init="kernel"), CWBoostClassifier("tree", init=None)):
        model.set_params(n_estimators=2).fit(X, Y)
        with pytest.raises(TypeError, match="functions of one feature each, got"):
            plot_shape(model, 0)


def test_plot_shape_by_name_and_of_an_unused_feature():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.column_stack([X, np.ones(150)]), columns=list("abcde"))
    clf = paper(ReferenceStump(share=0.5), n_estimators=8, C=1e3).fit(frame, Y)
    assert plot_shape(clf, "c").get_xlabel() == "c"
    flat = plot_shape(clf, "e")
    assert not flat.patches and "no weak learner" in flat.texts[0].get_text()
    with pytest.raises(ValueError, match="got 'z'; X has the columns"):
        plot_shape(clf, "z")
    with pytest.raises(ValueError, match="order"):
        plot_shape(clf, "c", X=frame[list("edcba")])


@pytest.mark.parametrize(
    "plot, arguments, message",
    [
        (plot_history, ("loss",), "'error' or 'objective', got 'loss'"),
        (plot_margins, (X[:1], ["zebra"]), "y must hold only training labels"),
        (plot_calibration, (X[:1], ["zebra"]), "y must hold only training labels"),
        (plot_shape, (4,), "places from 0 to 3"),
        (partial(plot_importances, n_features=0), (), "n_features must be >= 1, got 0"),
        (partial(plot_shape, classes=["rosa"]), (0,), "hold only training labels, got.*'rosa'"),
    ],
)
def test_what_is_refused(clf, plot, arguments, message):
    with pytest.raises(ValueError, match=message):
        plot(clf, *arguments)


def test_plots_of_predictions(clf):
    losses = plot_loss(clf, X, NAMES[Y], label="all").lines[0].get_ydata()
    proba = clf.predict_proba(X)[np.arange(150), Y]
    assert len(losses) == clf.n_iter_ and losses[-1] == pytest.approx(-np.log(proba).mean())
    noisy = np.array(NAMES[Y])
    noisy[:15] = "virginica"
    shown = plot_calibration(clf, X, noisy, n_bins=1).lines[1].get_ydata()
    assert shown == pytest.approx(clf.score(X, noisy))


def test_the_dependence_of_features_of_trees():
    """Every dot is an example at the SHAP value of the feature; gaps are left of the others."""
    frame = np.column_stack([X[:, 2], np.arange(150) % 3, X[:, 3]])
    frame[::10, :2] = np.nan
    model = CWBoostClassifier(n_estimators=8, categorical_features=[1], random_state=0)
    model.fit(frame, NAMES[Y])
    moved = model.shap_values(frame).values[..., 2]
    for feature in (0, 1):
        ax = plot_dependence(model, frame, feature, "virginica")
        x, y = ax.collections[0].get_offsets().T
        np.testing.assert_array_equal(y, moved[:, feature])
        assert np.max(x[::10]) < np.min(np.delete(x, np.s_[::10]))
    places = np.rint(np.delete(x, np.s_[::10])).astype(int)
    shown = np.array([text.get_text() for text in ax.get_xticklabels()], dtype=float)[places]
    np.testing.assert_array_equal(shown, np.delete(frame[:, 1], np.s_[::10]))
    frame[:2, 2] = -np.inf, np.inf  # not missing, but the least and the largest
    x = plot_dependence(model, frame, 2, "virginica").collections[0].get_offsets()[:, 0]
    assert x[0] == x[2:].min() == frame[2:, 2].min() and x[1] == frame[2:, 2].max()


def test_the_holdout_runs():
    model = CWBoostClassifier(random_state=0).fit(X, Y)
    ax = plot_holdout(model)
    *_, (x, y) = (line.get_data() for line in ax.lines if line.get_marker() == "o")
    assert y == model.plan_.curve.kept_loss and len(ax.lines) == len(model.plan_.curves) + 1
    assert x == pytest.approx(model.plan_.curve.kept_length / model.learning_rate_)
    with pytest.raises(ValueError, match="classifier must have a plan_ with a holdout run"):
        plot_holdout(paper(n_estimators=2).fit(X, Y))


def test_the_path_of_C():
    clf = CWBoostClassifier("stump", correction="total", random_state=0).fit(X, NAMES[Y])
    ax = plot_path(clf)
    x, losses = ax.lines[0].get_data()
    np.testing.assert_array_equal(losses, clf.path_["log_loss"])
    np.testing.assert_array_equal(x, clf.path_["n_nonzero"])
    marked = ax.lines[-1].get_data()
    assert marked[1] == min(losses) and f"C = {clf.history_['C'][-1]:g}" in ax.lines[-1].get_label()
    rng = np.random.default_rng(1)
    with pytest.warns(UserWarning, match="no weak learner lowers the objective"):
        clf.fit(rng.normal(size=(120, 4)), rng.integers(0, 3, 120))
    assert clf.n_iter_ == 0
    assert f"C = {clf.plan_.Cs[-1]:g}" in plot_path(clf).lines[-1].get_label()
    with pytest.raises(ValueError, match="classifier must have weak learners, got a model of 0"):
        plot_tree(clf)
    with pytest.raises(ValueError, match="classifier must have a path_, got None: fit it with"):
        plot_path(CWBoostClassifier("stump", n_estimators=2).fit(X, NAMES[Y]))


# ---------------------------------------------------------------------------- names and styles

NAMED = {
    "formulas": (["$^$", "$\\x$", "other"], ["in $ or $^", "net $/gross $", "a_b"]),
    "amounts": (["$10-$20", "<$10", ">$20 - $30"], ["\\$x$", "%s {}", "$"]),
    "underscores": (["_none", "_child0", "_"], ["_a", "_b", "__"]),
    "long and many": (
        [f"_a class with a rather long name, number {k}" for k in range(20)],
        [f"the net income of household $ number {k}" for k in range(3)],
    ),
}


def drawings(labels, names):
    """Yield each plot of models with some names, by its name."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(300, 2)), columns=names[:2])
    frame[names[2]] = rng.choice(labels, 300)
    place = (np.argsort(np.argsort(frame.iloc[:, 0])) * len(labels)) // 300
    y = np.array(labels)[np.where(rng.random(300) < 0.3, rng.permutation(place), place)]
    few, parameters = frame[:40], {"init": None, "n_estimators": 12, "random_state": 0}
    stumps = CWBoostClassifier("stump", **parameters).fit(frame, y)
    tree = CWBoostClassifier("tree", **parameters).fit(frame, y, X_val=frame, y_val=y)
    yield "shape", lambda: plot_shape(stumps, names[0], X=frame)
    yield "shape of categories", lambda: plot_shape(stumps, names[2], classes=stumps.classes_)
    yield "tree", lambda: plot_tree(tree, 0)
    yield "tree in an axes", lambda: plot_tree(tree, 1, ax=pyplot.figure().add_subplot())
    for name in (names[0], names[2]):
        yield (
            f"dependence on {name}",
            lambda name=name: plot_dependence(tree, few, name, labels[0], background=few),
        )
    yield "importances", lambda: plot_importances(tree)
    yield "calibration", lambda: plot_calibration(tree, frame, y, label=labels[0])
    yield "calibration by class", lambda: plot_calibration(tree, frame, y, classes=labels)
    yield "loss", lambda: plot_loss(tree, frame, y, label=labels[0])
    yield "margins", lambda: plot_margins(tree, frame, y)
    yield "history", lambda: plot_history(tree)
    yield "holdout", lambda: plot_holdout(CWBoostClassifier(random_state=0).fit(frame, y))
    certified = {"correction": "total", "init": None, "C": 20.0, "n_estimators": 12}
    total = CWBoostClassifier("stump", **certified).fit(frame, y)
    yield "scorecard", lambda: plot_scorecard(total)
    pairs = TreeFamily(max_depth=2)
    pairs = CWBoostClassifier(pairs, **certified).fit(frame, y)
    yield "scorecard of pairs", lambda: plot_scorecard(pairs)


def luminance(colour):
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [
        0.21,
        0.72,
        0.07,
    ]


def contrast(text, figure):
    """Return the contrast of a text with what is behind it, as WCAG has it."""
    inside = text.axes is not None and text.axes.axison
    ground = (text.axes if inside else figure).get_facecolor()
    box = text.get_bbox_patch()
    ground = ground if box is None else box.get_facecolor()
    light = sorted([luminance(text.get_color()), luminance(ground)])
    return (light[1] + 0.05) / (light[0] + 0.05)


def overlapping(boxes):
    return [(a, b) for place, a in enumerate(boxes) for b in boxes[:place] if a.overlaps(b)]


@pytest.mark.parametrize(
    ("kind", "style"),
    [*((kind, "dark_background") for kind in NAMED), ("long and many", "default")],
)
def test_names_are_text_and_every_plot_follows_the_style(kind, style):
    labels, names = NAMED[kind]
    with pyplot.style.context(style):
        for what, draw in drawings(labels, names):
            drawn = draw()
            figure = drawn.figure
            figure.canvas.draw()
            texts = [text for text in figure.findobj(Text) if text.get_visible()]
            texts = [text for text in texts if text.get_text()]
            for text in texts:
                assert not (text.get_parse_math() and is_math_text(text.get_text())), what
                assert contrast(text, figure) >= 4.5, (what, text)
            if what == "calibration by class":
                shown = [text.get_text() for text in drawn.get_legend().get_texts()]
                assert [short(name) for name in labels] == shown[1:]
            boxes = [text.get_bbox_patch() for text in texts if text.get_bbox_patch()]
            shown = [ax for ax in figure.axes if ax.axison]
            for axis in (axis for ax in shown for axis in (ax.xaxis, ax.yaxis)):
                low, high = sorted(axis.get_view_interval())
                ticks = zip(axis.get_ticklocs(), axis.get_ticklabels())
                boxes += [label for at, label in ticks if low <= at <= high]
            boxes += [ax.title for ax in shown] if len(shown) > 1 else []
            assert not overlapping([box.get_window_extent() for box in boxes]), what
            pyplot.close(figure)
