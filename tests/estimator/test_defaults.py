"""What `CWBoostClassifier` does without arguments, and parameters that depend on the correction."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from cwboost import CWBoostClassifier, ProjectionFamily, TreeFamily, load_model
from cwboost.datasets import load_vowel
from cwboost.families import AutoFamily, MixedFamily


@pytest.fixture(scope="module")
def vowel():
    X, y = load_vowel(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def same(first, second, X):
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))


def small(**params):
    return CWBoostClassifier(n_estimators=12, random_state=0, **params)


def test_no_argument_stands_for_trees_and_discriminants_in_turns(vowel, tmp_path):
    X, y, X_test, _ = vowel
    clf = small().fit(X, y)
    assert AutoFamily().discriminants == "auto"
    shares = (0.75, 0.25)
    members = [TreeFamily(max_depth=8), ProjectionFamily(kind="discriminant")]
    explicit = small(
        weak_learner=MixedFamily(members, selection="turns", shares=shares),
        correction="stagewise",
        C=1e12,
        learning_rate=0.1,
        subsample=0.5,
        similarity=True,
    )
    same(clf, explicit.fit(X, y), X_test)
    assert {"tree", "projection"} == set(clf.ensemble_.learners.parts)
    clf.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.get_params() == clf.get_params() and loaded.weak_learner == "auto"
    same(clf, loaded, X_test)


@pytest.mark.slow
def test_the_defaults_err_little(vowel):
    X, y, X_test, y_test = vowel
    assert CWBoostClassifier(random_state=0).fit(X, y).score(X_test, y_test) > 0.97


def test_the_method_of_the_paper_is_one_short_call(vowel):
    X, y, X_test, _ = vowel
    paper = small(weak_learner="stump", correction="total").fit(X, y)
    spelled_out = small(
        weak_learner="stump", correction="total", C=1e4, learning_rate=1.0, subsample=1.0
    )
    same(paper, spelled_out.fit(X, y), X_test)
    assert (paper.history_["gap"] >= 0).all()


def test_a_search_reaches_the_default_weak_learner(vowel):
    X, y, *_ = vowel
    grid = {"weak_learner__max_depth": [2, 8], "weak_learner__discriminants": [0.0]}
    search = GridSearchCV(small(), grid, cv=2).fit(X, y)
    assert search.best_params_ == {"weak_learner__max_depth": 8, "weak_learner__discriminants": 0.0}
    assert search.best_estimator_.weak_learner.max_depth == 8


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"solver": "lbfgsb"}, "solver applies to correction='total' only.* got 'lbfgsb'"),
        ({"correction": "total", "learning_rate": 0.1}, "learning_rate applies to .* got 0.1"),
        ({"subsample": 0}, "subsample must be > 0.0 and <= 1.0, got 0"),
        ({"C": -1}, "C must be > 0.0"),
    ],
)
def test_what_the_correction_does_not_use_is_refused(vowel, params, message):
    with pytest.raises(ValueError, match=message):
        small(**params).fit(*vowel[:2])
