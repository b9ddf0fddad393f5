"""Interaction constraints: what no path and no score may mix, and what is refused."""

import numpy as np
import pytest
from models import paper
from sklearn.datasets import load_wine

from cwboost import CWBoostClassifier, load_model

SETS = {
    "disjoint": [["a", "b"], ["c", "d"]],
    "overlapping": ({0, 1}, {1, 2}, {3}),
    "pairwise": "pairwise",
    "no_interactions": "no_interactions",
}
PAIRS = [(a, b) for a in range(6) for b in range(a)]
ALLOWED = {
    "disjoint": [{0, 1}, {2, 3}, {4, 5}],
    "overlapping": [{0, 1}, {1, 2}, {3}, {4, 5}],
    "pairwise": [{a, b} for a, b in PAIRS],
    "no_interactions": [{a} for a in range(6)],
}


@pytest.fixture(scope="module")
def frame():
    pandas = pytest.importorskip("pandas")
    X, y = load_wine(return_X_y=True)
    return pandas.DataFrame(X[:, 6:12], columns=list("abcdef")), y


def paths(clf):
    """Yield the features that some path of a tree compares."""
    trees = clf.ensemble_.learners.flat_form()
    for start, end in zip(trees.offsets, trees.offsets[1:]):
        above = {0: frozenset()}
        for node in range(end - start):
            if (feature := int(trees.feature[start + node])) >= 0:
                left = trees.left[start + node]
                above[left] = above[left + 1] = above[node] | {feature}
            else:
                yield above[node]


def mixed_difference(clf, X, one, other):
    """Return how much the effect of a feature depends on another."""
    low, high = np.quantile(X, 0.2, axis=0), np.quantile(X, 0.8, axis=0)
    scores = []
    for ends in ((low, low), (high, low), (low, high), (high, high)):
        moved = X.copy()
        for column, end in zip((one, other), ends):
            moved.iloc[:, column] = end[column]
        scores.append(clf._scores(moved))
    return np.abs(scores[0] - scores[1] - scores[2] + scores[3]).max()


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("make", [CWBoostClassifier, paper], ids=["stagewise", "total"])
def test_no_path_and_no_score_mixes_features_of_different_sets(frame, make, kind):
    X, y = frame
    clf = make("tree", n_estimators=25, random_state=0, interaction_cst=SETS[kind]).fit(X, y)
    found = list(paths(clf))
    assert all(any(path <= own for own in ALLOWED[kind]) for path in found)
    assert max(map(len, found)) == max(map(len, ALLOWED[kind]))
    for pair in PAIRS:
        kept_apart = not any(set(pair) <= own for own in ALLOWED[kind])
        assert not kept_apart or mixed_difference(clf, X, *pair) < 1e-9
    assert clf.score(X, y) > 0.9 and clf.init_ is None


def test_without_them_all_features_mix(frame):
    X, y = frame
    clf = paper("tree", n_estimators=25).fit(X, y)
    assert max(map(len, paths(clf))) > 2
    assert min(mixed_difference(clf, X, *pair) for pair in PAIRS) > 1e-6


def test_every_family_keeps_or_refuses_them(frame, tmp_path):
    X, y = frame
    for family in ("stump", ["stump", "tree"]):
        clf = paper(family, n_estimators=10, interaction_cst=[{0, 1}]).fit(X, y)
        assert mixed_difference(clf, X, 0, 2) < 1e-9
        clf.save(tmp_path / "model.cwb")
        assert mixed_difference(load_model(tmp_path / "model.cwb"), X, 0, 2) < 1e-9
    for family in ("projection", ["tree", "projection"]):
        with pytest.raises(ValueError, match=r"interactions is required.*'stump', 'tree'"):
            CWBoostClassifier(family, interaction_cst=[{0, 1}]).fit(X, y)
    with pytest.raises(ValueError, match="init must be 'auto' or None with interaction_cst"):
        CWBoostClassifier(init="kernel", interaction_cst=[{0, 1}]).fit(X, y)
    wide = np.random.default_rng(0).normal(size=(40, 300))
    with pytest.raises(ValueError, match="at most 256 sets of columns for trees, got 300"):
        CWBoostClassifier("tree", interaction_cst="no_interactions").fit(wide, wide[:, 0] > 0)
    stumps = CWBoostClassifier("stump", interaction_cst="no_interactions", n_estimators=2)
    stumps.fit(wide, wide[:, 0] > 0)
