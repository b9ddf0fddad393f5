"""Scorecards: the probabilities of the model from tables of points, for every kind of column."""

from itertools import pairwise

import matplotlib
import numpy as np
import pandas as pd
import pytest
from models import paper, stages
from sklearn.metrics import log_loss

from cwboost import CWBoostClassifier, TreeFamily
from cwboost.plotting import plot_scorecard
from cwboost.plotting.axes import plain

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 600
    X = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n).round(),
            "income": rng.exponential(size=n),
            "$town_": pd.Categorical(rng.choice(["<a>", "b", "c", "d"], n)),
            "code": pd.Categorical(rng.integers(0, 40, n).astype(str)),
            "noise": rng.normal(size=n),
        }
    )
    X.loc[rng.random(n) < 0.1, ["age", "$town_"]] = np.nan
    score = (X["age"].fillna(20) > 45) * 1.0 + (X["$town_"] == "b") * (X["income"] > 1)
    return X, np.array(["no", "maybe", "yes"])[(score + rng.exponential(0.3, n)).astype(int) % 3]


MODELS = {
    "stumps": ("stump", {}),
    "pairs": (TreeFamily(max_depth=2), {}),
    "leaves with steps": (TreeFamily(max_depth=6), {"correction": "stagewise", "C": None}),
    "statistics": ("stump", {"category_encoding": "target"}),
    "pairs of statistics": (TreeFamily(max_depth=2), {"category_encoding": "target"}),
}


def fitted(kind, frame, two):
    X, y = frame
    weak_learner, params = MODELS[kind]
    if kind == "leaves with steps":
        params = params | {"interaction_cst": "pairwise", "init": None}
    clf = paper(weak_learner, **{"C": 30.0, "n_estimators": 25} | params)
    return clf.fit(X, y == "yes" if two else y)


@pytest.mark.parametrize("two", [False, True], ids=["three classes", "two"])
@pytest.mark.parametrize("kind", MODELS)
def test_the_points_give_the_probabilities(kind, two, frame):
    X, _ = frame
    clf = fitted(kind, frame, two)
    unseen = X.sample(200, random_state=0).reset_index(drop=True)
    unseen.loc[:20, "income"] = np.nan
    unseen.loc[5:30, "age"] = [-1e9, 1e9] * 13
    card = clf.scorecard()
    for rows in (X, unseen):
        np.testing.assert_allclose(card.predict_proba(rows), clf.predict_proba(rows), atol=1e-12)
    assert all(len(table.axes) <= 2 for table in card.tables)
    importance = [table.importance for table in card.tables]
    assert importance == sorted(importance, reverse=True)


def test_whole_points_cost_little(frame):
    X, y = frame
    card = fitted("pairs", frame, False).scorecard()
    exact = log_loss(y, card.predict_proba(X))
    costs = []
    for points_to_double in (1.0, 5.0, 50.0):
        whole = card.rounded(points_to_double)
        assert all((table.points == np.rint(table.points)).all() for table in whole.tables)
        assert f"{points_to_double:g} points double the odds" in whole.meaning
        for table in whole.tables:
            for k, axis in enumerate(table.axes):
                along = np.moveaxis(table.points, k, 0)
                assert axis.ends is None or len(along) == len(axis.ends) + 2
                if axis.ends is not None and len(axis.ends):
                    assert all((a != b).any() for a, b in pairwise(along[:-1]))
        costs.append(abs(log_loss(y, whole.predict_proba(X)) - exact))
    assert costs[2] < 1e-3 and costs[2] < costs[0]
    with pytest.raises(ValueError, match="points_to_double must be a positive number, got 0"):
        card.rounded(0)


def test_rows_name_what_they_are_about(frame):
    card = fitted("stumps", frame, False).scorecard()
    rows = card.to_frame()
    assert list(rows.columns) == ["feature", "is", "maybe", "no", "yes"]
    assert rows["feature"][0] == "constant"
    of_age = rows[rows["feature"] == "age"]
    assert of_age["is"].iloc[-1] == "missing" and of_age["is"].iloc[0].startswith("<= ")
    assert set(", ".join(rows[rows["feature"] == "$town_"]["is"]).split(", ")) <= {
        *("<a>", "b", "c", "d", "missing")
    }
    text = str(card)
    assert "age" in text and text.endswith("points double the odds of a class against any other.")
    shown = card._repr_html_()
    assert "&lt;a&gt;" in shown and "<a>" not in shown
    two = fitted("stumps", frame, True).scorecard()
    assert list(two.to_frame().columns) == ["feature", "is", "True"]
    assert "the odds of True" in two.meaning


def test_what_has_no_scorecard(frame):
    X, y = frame
    with pytest.raises(ValueError, match="at most two features per row, but a leaf compares"):
        stages(TreeFamily(max_depth=5), n_estimators=5).fit(X, y).scorecard()
    numbers = X[["income", "noise"]].fillna(0.0)
    for clf in (
        CWBoostClassifier("stump", init="kernel", n_estimators=3, random_state=0),
        stages("projection", n_estimators=3),
    ):
        with pytest.raises(TypeError, match="a scorecard must be of stumps or trees without"):
            clf.fit(numbers, y).scorecard()


def test_the_figure_of_all_tables(frame):
    card = fitted("pairs", frame, False).scorecard()
    fig = plot_scorecard(fitted("pairs", frame, False), n_tables=4)
    shown = [ax for ax in fig.axes if ax.get_title()]
    assert len(shown) == 4
    for ax, table in zip(shown, card.tables):
        columns = [plain(card.names[axis.column]) for axis in table.axes]
        named = [ax.get_title()] if len(columns) == 1 else [ax.get_xlabel(), ax.get_ylabel()]
        assert named == columns
    fig = plot_scorecard(fitted("stumps", frame, True))
    fig.canvas.draw()
    (legend,) = fig.legends
    assert [text.get_text() for text in legend.get_texts()] == ["True"]
    assert not legend.get_texts()[0].get_parse_math()
    with pytest.raises(ValueError, match="n_tables must be a positive integer, got 0"):
        plot_scorecard(fitted("stumps", frame, True), n_tables=0)
