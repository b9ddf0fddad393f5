"""Models as tables: nodes, learners in words, a drawing of a tree."""

import copy
import re
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from models import paper
from sklearn.datasets import load_iris

from cwboost import CWBoostClassifier, MixedFamily, get_family
from cwboost.ensemble.model import Ensemble
from cwboost.ensemble.path import PathBuilder
from cwboost.families.flat_forms import ThresholdTrees
from cwboost.families.tree_learners import TreeLearners
from cwboost.plotting import plot_tree

pandas = pytest.importorskip("pandas")
matplotlib.use("Agg")
X, Y = load_iris(return_X_y=True, as_frame=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def clf():
    family = get_family("tree")(max_depth=3)
    clf = paper(family, n_estimators=3, C=1e3)
    return clf.fit(X, NAMES[Y])


def test_scores_from_the_table(clf):
    nodes = clf.to_frame()
    scores = np.zeros((len(X), 3))
    for (_, label), tree in nodes.groupby(["learner", "class"]):
        rows = tree.set_index("node").to_dict("index")
        column = NAMES.tolist().index(label)
        for i, x in enumerate(X.to_dict("records")):
            node = rows[0]
            while np.isnan(node["output"]):
                side = "right" if x[node["feature"]] > node["threshold"] else "left"
                node = rows[node[side]]
            scores[i, column] += node["coef"] * node["output"]
    np.testing.assert_allclose(scores, clf.decision_function(X))
    assert len(clf.to_frame(1)) < len(nodes)


def test_strongest_learners(clf):
    stumps = paper(n_estimators=5).fit(X, NAMES[Y])
    table = stumps.strongest("virginica", n_learners=2)
    columns = stumps.class_columns("virginica")
    assert table["coef"].tolist() == columns.coef[:2].tolist()
    assert table["class"].tolist() == ["virginica"] * 2
    assert any(name in table["votes +1 if"][0] for name in X.columns)
    assert set(clf.strongest()["class"]) == set(NAMES)


def test_directions_by_the_names_of_their_features():
    mixed = MixedFamily(["stump", "projection"])
    auto = CWBoostClassifier(mixed, init=None, n_estimators=12, random_state=1).fit(X, NAMES[Y])
    seen = pandas.DataFrame(auto._encoded(X), columns=auto._schema.feature_names)
    nodes = auto.to_frame().query("node == 0")
    directed = nodes.query("direction.notna()")
    assert 0 < len(directed) < len(nodes) and directed["feature"].isna().all()
    parts = auto.ensemble_.learners
    for row in directed.to_dict("records"):
        z = sum(seen[name] * entry for name, entry in row["direction"].items())
        outputs = parts.take([row["learner"]]).outputs(seen.to_numpy())[:, 0]
        signs = np.where(z > row["threshold"], 1, -1)
        assert abs(np.mean(signs * outputs)) == 1
        ax = plot_tree(auto, row["learner"])
        pyplot.close(ax.figure)
        text = ax.texts[0].get_text().replace("\n", " ")
        largest = max(row["direction"], key=lambda name: abs(row["direction"][name]))
        assert text.split(" >")[0].find(largest) > 0
    assert auto.strongest(NAMES[1], 40)["votes +1 if"].str.contains("[><]=? -?[0-9]").any()


def test_categories_by_their_names():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"city": pandas.Categorical(rng.choice(list("uvwx"), 80))})
    y = frame["city"].isin(["u", "x"])
    clf = paper(n_estimators=1).fit(frame, y)
    shown = plot_tree(clf).texts[0].get_text()
    assert shown.startswith("city in\n")
    nodes = clf.to_frame().query("feature == 'city'")
    for row in nodes.to_dict("records"):
        above = np.arange(4) > row["threshold"]
        assert row["categories"] == clf.categories_[0][above].tolist()
    assert shown.split("\n")[1].split(", ") == nodes["categories"].iloc[0]


@pytest.mark.parametrize("family", ["stump", get_family("tree")(max_depth=1)], ids=str)
def test_words_are_true_where_a_learner_votes(family):
    rng = np.random.default_rng(3)
    city = np.where(rng.random(200) < 0.1, None, rng.choice(list("uvwxy"), 200))
    size = np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200).round(1))
    frame = pandas.DataFrame({"city": pandas.Categorical(city), "size": size})
    y = (frame["city"].isin(["u", "x"]) != (frame["size"] > 0.5)) | frame["city"].isna()
    clf = paper(family, n_estimators=25, C=1e5).fit(frame, y)
    columns = clf.class_columns(True)
    outputs = columns.learners.outputs(clf._encoded(frame))
    words = clf.strongest(True, len(columns.index))["votes +1 if"]
    assert words.str.startswith("city").any() and words.str.startswith("size").any()
    for text, own in zip(words, outputs.T):
        name, _, rule = text.partition(" ")
        if not rule:
            assert (own == (1 if text == "always" else -1)).all()
            continue
        rule, lost = rule.removesuffix(" or missing"), rule.endswith("missing")
        if names := re.search("{(.*)}", rule):
            wanted = frame[name].isin(names[1].split(", ")) == rule.startswith("in")
        elif "missing" in rule:
            wanted, lost = np.full(200, rule == "is not missing"), rule == "is missing"
        else:
            wanted = frame.eval(f"`{name}` {rule}")
        np.testing.assert_array_equal(np.where(frame[name].isna(), lost, wanted), own > 0)


def test_plot_tree(clf):
    learner = int(clf.class_columns("virginica").index[0])
    ax = plot_tree(clf, learner)
    nodes = clf.to_frame().query("learner == @learner")
    texts = [text.get_text().replace("\n", " ") for text in ax.texts]
    assert len(texts) == len(nodes) + 2 and len(ax.lines) == len(nodes) - 1
    assert texts[-2:] == ["no", "yes"] and ax.texts[-2].get_position() < ax.texts[-1].get_position()
    assert texts[0].startswith(f"{nodes['feature'].iloc[0]} > {nodes['threshold'].iloc[0]:.4g}")
    with pytest.raises(ValueError, match="learner must be >= 0 and <= "):
        plot_tree(clf, 99)
    with pytest.raises(ValueError, match="max_depth must be >= 0, got -1"):
        plot_tree(clf, max_depth=-1)


def test_plot_tree_of_a_deep_tree_shared_by_the_classes(clf):
    inner = np.arange(6001) % 2 == 0
    inner[-1] = False  # every right child but the last one compares
    output = np.where(inner[:, None], 0, [[1, -9, 3]]).astype(np.int8)
    trees = ThresholdTrees(
        offsets=np.array([0, 6001]),
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.zeros(6001),
        left=np.where(inner, np.arange(1, 6002), -1).astype(np.int32),
        missing=np.where(inner, 1, 0).astype(np.int8),
        output=output,
    )
    trees.check(4)
    path = PathBuilder()
    path.append(np.zeros(3, np.int64), np.arange(3), np.array([0.5, 0.25, 0.5]), 1)
    deep = copy.copy(clf)
    ensemble = Ensemble(TreeLearners(trees, 4), path.path(), 3)
    deep.model_ = replace(clf.model_, ensemble=ensemble)
    texts = [text.get_text() for text in plot_tree(deep).texts]
    assert len(texts) == 4 + 4 + 1 + 2 and "2997 leaves" in texts
    assert texts.count(f"{clf.classes_[1]}\n-2.2") == 4
    nodes = deep.to_frame(1).query("node == 1")
    assert nodes["output"].tolist() == [1, -9, 3]
    arrays, kind = ensemble.arrays(), type(ensemble.learners)
    Ensemble.from_arrays(arrays, kind, 4, 3)
    with pytest.raises(ValueError, match="output must have 4 numbers per node, got 3"):
        Ensemble.from_arrays(arrays, kind, 4, 4)
    arrays["learners.output"] = output[:, :1]
    arrays |= {name: arrays[name][:2] for name in ("column", "score_index", "value")}
    arrays["round_offsets"] = np.array([0, 2])
    with pytest.raises(ValueError, match="score_index must be that of a score with an output"):
        Ensemble.from_arrays(arrays, kind, 4, 2)
