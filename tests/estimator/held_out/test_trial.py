"""Scores of similarity are left out where a pilot without them is clearly better."""

import numpy as np
import pytest
from cwboost.plugins.trees import family as trees

from cwboost import CWBoostClassifier, load_model
from cwboost.datasets import load_vowel
from cwboost.estimator.held_out import fitting
from cwboost.estimator.held_out.pilot import Pilots
from cwboost.estimator.held_out.trial import Trial
from cwboost.families import AutoFamily
from cwboost.families.composed import automatic


def ranges(n=1200, seed=0):
    """Return points whose classes are ranges of one of twelve features, that most others hide."""
    X = np.random.default_rng(seed).normal(size=(n, 12))
    X[:, 1:] *= np.arange(1, 12)
    return X, np.searchsorted([-1.0, -0.3, 0.3, 1.0], X[:, 0])


@pytest.fixture(scope="module")
def alone():
    return small().fit(*ranges())


def small(n_estimators=40, **params):
    return CWBoostClassifier(n_estimators=n_estimators, random_state=0, **params)


def test_scores_are_left_out_where_they_say_little(alone):
    assert not hasattr(alone, "similarity_") and not hasattr(alone, "similarity_votes_")
    assert repr(alone.family_) == "AutoFamily(discriminants=0.1, splitter='turns')"
    assert alone.score(*ranges(2000, 1)) > 0.98
    demanded = small(similarity=True).fit(*ranges())
    assert hasattr(demanded, "similarity_") and repr(demanded.family_) == "AutoFamily()"


def test_the_model_is_that_of_the_family_without_scores(alone):
    family = AutoFamily(discriminants=0.1, splitter="turns")
    given = small(weak_learner=family, similarity=False).fit(*ranges())
    X = ranges(300, 1)[0]
    np.testing.assert_array_equal(alone.predict_proba(X), given.predict_proba(X))
    threads = small(n_jobs=2).fit(*ranges())
    np.testing.assert_array_equal(alone.predict_proba(X), threads.predict_proba(X))


def test_what_is_given_stays():
    family = AutoFamily(discriminants=0.5, splitter="best")
    clf = small(weak_learner=family).fit(*ranges())
    assert clf.family_.get_params() == family.get_params() and not hasattr(clf, "similarity_")


def test_many_examples_have_the_best_thresholds_either_way():
    family = AutoFamily(max_depth=8)
    few, many = (family.without_similarity(n).get_params() for n in (10_000, 10_001))
    assert few == {"max_depth": 8, "discriminants": 0.1, "splitter": "turns"}
    assert many == {**few, "splitter": "auto"}
    assert automatic.FEW == trees.MANY


def test_scores_stay_where_they_say_more():
    X, y = load_vowel(return_X_y=True)
    clf = small().fit(X, y)
    assert clf.similarity_votes_ > 0 and clf.family_.get_params() == AutoFamily().get_params()


@pytest.mark.parametrize("params", [{"n_estimators": 19}, {"similarity": True}])
def test_there_is_no_trial_where_nothing_depends_on_it(params, monkeypatch):
    monkeypatch.setattr(Trial, "allows", lambda *_: pytest.fail("a trial"))
    assert hasattr(small(**params).fit(*ranges()), "similarity_")


def test_few_examples_have_no_trial(monkeypatch):
    monkeypatch.setattr(Trial, "allows", lambda *_: pytest.fail("a trial"))
    assert hasattr(small().fit(*ranges(499)), "similarity_")


def test_a_continued_fit_stays_without_scores(alone, tmp_path):
    X, y = ranges()
    parts = small(25, warm_start=True).fit(X, y)
    parts.save(tmp_path / "model.cwb", training_state=True)
    for clf in (parts, load_model(tmp_path / "model.cwb")):
        clf.set_params(n_estimators=40).fit(X, y)
        assert not hasattr(clf, "similarity_") and clf.family_.discriminants == 0.1
        np.testing.assert_array_equal(clf.decision_function(X), alone.decision_function(X))


def test_the_pilot_of_the_trial_serves_the_training(monkeypatch):
    runs = []
    run = Pilots._trained
    monkeypatch.setattr(Pilots, "_trained", lambda *given: runs.append(given) or run(*given))
    monkeypatch.setattr(fitting, "MOST_EXAMPLES", 1000)  # no other depths are tried
    clf = small(400).fit(*ranges())
    assert len(runs) == 1 and not hasattr(clf, "similarity_")


def test_very_many_examples_need_fewer_rounds(monkeypatch):
    monkeypatch.setattr(fitting, "VERY_MANY", 1199)
    monkeypatch.setattr(fitting, "ENOUGH", 3.0)
    X, y = ranges()
    clf = small(60).fit(X, y)
    assert (clf.n_iter_, clf.stop_reason_) == (30, "enough")
    assert small(60, weak_learner="tree").fit(X, y).n_iter_ == 60
    monkeypatch.setattr(fitting, "ROUNDS", 59)  # who asks for more gets them
    assert small(60).fit(X, y).n_iter_ == 60 and small(59).fit(X, y).n_iter_ == 30
    monkeypatch.setattr(fitting, "VERY_MANY", 1200)
    assert small(59).fit(X, y).n_iter_ == 59


@pytest.mark.parametrize(
    ("losses", "allows"),
    [([0.1] * 4, True), ([0.42] * 4, True), ([0.43] * 4, False), ([2.0, 0.1, 0.1, 0.1], True)],
)
def test_the_difference_must_be_clear(losses, allows, monkeypatch):
    """The limit is 5% more, and half a standard error; only the pilot's examples count."""

    class Pilot:
        left_out, weight, log_losses = np.array([1, 3, 5, 8]), np.ones(4), np.full(4, 0.4)

    rows = np.array([1, 2, 3, 5, 7, 8])
    given = np.array([losses[0], 99, losses[1], losses[2], 99, losses[3]])
    trial = Trial(AutoFamily(), None, Pilot, {})
    assert trial.allows(rows, np.full(6, 1.8)) and not trial.allows(rows, np.full(6, 2.0))
    monkeypatch.setattr("cwboost.estimator.held_out.trial.LEAST_SUM", 0.0)
    assert trial.allows(rows, given) == allows
