"""The scale of the probabilities from a pilot training."""

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier, CWBoostClassifierCV, TreeFamily
from cwboost.datasets import load_vowel
from cwboost.estimator.held_out import pilot

PARAMS = {
    "weak_learner": TreeFamily(max_depth=5),
    "correction": "stagewise",
    "C": 1e12,
    "learning_rate": 0.3,
    "subsample": 1.0,
    "n_estimators": 40,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def vowel():
    X, y = load_vowel(return_X_y=True)
    return train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)


def loss(clf, X, y):
    return log_loss(y, clf.predict_proba(X), labels=clf.classes_)


@pytest.mark.parametrize("n_classes, below", [(11, 0.6), (2, 1.05)])
def test_probabilities_are_nearly_as_good_as_with_the_best_scale(vowel, n_classes, below):
    X, X_test, y, y_test = vowel
    y, y_test = (y, y_test) if n_classes == 11 else (y % 2, y_test % 2)
    params = {**PARAMS, "n_estimators": 200}
    clf = CWBoostClassifier(**params).fit(X, y)
    given = loss(clf, X_test, y_test)
    unscaled = CWBoostClassifier(**params, probability_scale=2.0).fit(X, y)
    np.testing.assert_array_equal(clf.decision_function(X_test), unscaled.decision_function(X_test))
    assert given < below * loss(unscaled, X_test, y_test)
    assert given < 1.1 * loss(clf.calibrate(X_test, y_test), X_test, y_test)


def test_the_more_careful_of_two_estimates_counts_more():
    usual = pilot.USUAL_SPREAD  # of a model whose scores have variance 1
    well, badly = (0.05, 1e-12), (0.6, 0.6)
    many = 10**9
    for factor in (0.1, 10):
        found = pilot.scale_of_model(factor * usual, badly, 1.0, many)
        assert found == pytest.approx(factor * usual, rel=0.02)
    progress = np.log(well[0]) / np.log(well[1])
    careful = pilot.scale_of_model(0.1 * usual / progress, well, 1.0, many)
    assert careful == pytest.approx(usual * 0.1**pilot.WEIGHT_IF_CAREFUL)
    sure = pilot.scale_of_model(10 * usual / progress, well, 1.0, many)
    assert usual < sure < 1.3 * usual


def test_models_of_few_examples_are_more_careful_unless_they_fit_badly():
    def share(loss, n_samples):
        few, many = (pilot.scale_of_model(4.0, (loss, loss), 1.0, n) for n in (n_samples, 10**9))
        return few / many

    assert share(1e-30, pilot.FEW) == pytest.approx(0.5, rel=0.02)
    assert share(1e-30, 1000) > 0.99
    assert share(0.6, pilot.FEW) > 0.99


def test_a_pilot_has_at_most_a_tenth_of_the_rounds_unless_steps_are_long():
    assert pilot._n_rounds(400, 742, longer=3.0) == 40
    assert pilot._n_rounds(400, 742, longer=1.0) == 73
    assert pilot._n_rounds(400, 50_000, longer=3.0) == 28


def test_one_scale_at_any_number_of_threads_and_after_a_continued_fit(vowel):
    X, _, y, _ = vowel
    params = {**PARAMS, "n_estimators": 30, "subsample": 0.5, "warm_start": True}
    whole = CWBoostClassifier(**params).fit(X, y)
    parts = CWBoostClassifier(**params, n_jobs=2).set_params(n_estimators=22).fit(X, y)
    assert parts.probability_scale_ != whole.probability_scale_
    parts.set_params(n_estimators=30).fit(X, y)
    assert parts.probability_scale_ == whole.probability_scale_
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))


def test_weights_count_in_the_pilot(vowel):
    X, _, y, _ = vowel
    params = {**PARAMS, "n_estimators": 20}
    plain = CWBoostClassifier(**params).fit(X, y)
    tripled = CWBoostClassifier(**params).fit(X, y, sample_weight=np.full(len(y), 4.0))
    assert tripled.probability_scale_ == plain.probability_scale_
    weight = np.where(y < 3, 10.0, 1.0)
    other = CWBoostClassifier(**params).fit(X, y, sample_weight=weight)
    assert other.probability_scale_ != plain.probability_scale_


def test_short_and_fixed_models_have_no_pilot(vowel, monkeypatch):
    X, X_test, y, y_test = vowel
    monkeypatch.setattr(pilot.Pilots, "run", lambda *_: pytest.fail("a pilot"))
    short = CWBoostClassifier(**PARAMS).set_params(n_estimators=pilot.FEWEST_ROUNDS - 1)
    assert short.fit(X, y).probability_scale_ == 2.0
    fixed = CWBoostClassifier(**PARAMS, probability_scale=0.5).fit(X, y)
    assert fixed.probability_scale_ == 0.5
    held = CWBoostClassifier(**PARAMS).fit(X, y, X_val=X_test, y_val=y_test)
    assert held.probability_scale_ != 2.0
    for value in (0.0, "loss", True):
        with pytest.raises((TypeError, ValueError), match="probability_scale must be"):
            CWBoostClassifier(
                weak_learner="stump", correction="total", probability_scale=value
            ).fit(X, y)


def test_an_interrupt_in_the_pilot_keeps_the_model(vowel, monkeypatch):
    X, _, y, _ = vowel
    params = {**PARAMS, "n_estimators": 20}
    whole = CWBoostClassifier(**params).fit(X, y)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pilot, "fit_scale", interrupted)
    clf = CWBoostClassifier(**params)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    np.testing.assert_array_equal(clf.decision_function(X), whole.decision_function(X))
    assert clf.probability_scale_ == 2.0


def test_a_path_over_C_ends_with_a_pilot(vowel):
    X, _, y, _ = vowel
    stumps = CWBoostClassifier(
        "stump", correction="total", learning_rate=1.0, n_estimators=20, random_state=0
    )
    path = CWBoostClassifierCV(stumps, Cs=[1e2, 1e3], rounds_per_C=2, cv=2).fit(X, y)
    assert path.best_estimator_.probability_scale_ != 2.0
