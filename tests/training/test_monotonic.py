"""Monotonic constraints, by brute force on the fitted scores, and what is refused."""

import numpy as np
import pytest
from models import paper

from cwboost import CWBoostClassifier, get_family

TREES = {
    "trees": get_family("tree")(max_depth=4),
    "best edge": get_family("tree")(max_depth=3, criterion="edge", max_features=None),
    "leaves": get_family("tree")(max_leaf_nodes=6),
}


def data(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(1)
    score = X[:, 0] - 0.7 * X[:, 1] + np.sin(3 * X[:, 2]) + rng.normal(size=300)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, np.digitize(score, np.linspace(-1, 1, n_classes - 1) if n_classes > 2 else [0.0])


def steps(clf, X, feature):
    """Return how class scores change from each value of a feature to the next."""
    values = np.unique(X[:, feature][~np.isnan(X[:, feature])])
    values = np.sort(np.concatenate([values, values + 0.05]))
    scores = []
    for value in values:
        moved = X[:40].copy()
        moved[:, feature] = value
        scores.append(clf._scores(moved))
    return np.diff(np.array(scores), axis=0)


# The second states for each class what makes it less likely.
BOTH = [[1, -1, 0, 0], [[-1, 0, 0, 0], [0, -1, 0, 0]]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "family, constraints",
    zip(["stump", *TREES.values(), ["stump", "tree"], TREES["trees"]], 3 * BOTH),
    ids=str,
)
def test_scores_of_two_classes(family, constraints):
    X, y = data(2)
    given = paper(family, n_estimators=40, C=1e5)
    free = steps(given.fit(X, y), X, 0)
    assert free[..., 1].min() < -1e-3  # noise alone would break it
    clf = given.set_params(monotonic_cst=constraints).fit(X, y)
    for feature, sign in ((0, 1), (1, -1)):
        change = sign * steps(clf, X, feature)
        assert change[..., 1].min() >= -1e-12 and change[..., 0].max() <= 1e-12
        assert np.abs(change).max() > 0.1
    assert clf.score(X, y) > 0.7
    assert steps(clf, X, 2)[..., 1].min() < -0.1


@pytest.mark.parametrize("family", ["stump", TREES["trees"]], ids=str)
def test_scores_of_some_classes_by_name(family):
    pandas = pytest.importorskip("pandas")
    X, y = data(3)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    clf = paper(
        family, n_estimators=10, C=1e4, monotonic_cst={"high": {"a": 1, "b": -1}, "low": {"a": -1}}
    ).fit(frame, np.array(["low", "middle", "high"])[y])
    assert clf.classes_.tolist() == ["high", "low", "middle"]
    del clf.feature_names_in_  # arrays from here on
    first, second = steps(clf, X, 0), steps(clf, X, 1)
    assert first[..., 0].min() >= -1e-12 and first[..., 1].max() <= 1e-12
    assert second[..., 0].max() <= 1e-12
    assert first[..., 2].min() < 0 < first[..., 2].max()


def test_stumps_are_exact_under_constraints():
    X, y = data(2)
    settings = {"C": 10, "correction": "total", "epsilon": 0.01, "tol": 0.0, "random_state": 0}
    clf = CWBoostClassifier("stump", n_estimators=100, monotonic_cst=[1, 1, 1, 1], **settings)
    clf.fit(X, y)
    assert clf.stop_reason_ == "optimal"
    assert clf.history_["gap"][-1] < 1e-6 * clf.history_["objective"][-1]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("family", ["stump", *TREES.values()], ids=str)
def test_missing_values_have_no_order(family, sign):
    X, _ = data(2)
    y = np.isnan(X[:, 0]).astype(int)
    settings = {"correction": "total", "C": 1e4, "n_estimators": 5, "random_state": 0}
    clf = CWBoostClassifier(family, monotonic_cst=[sign, 0, 0, 0], **settings).fit(X, y)
    assert clf.score(X, y) == 1.0
