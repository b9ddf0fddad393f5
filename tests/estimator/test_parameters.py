"""Parameters are checked in ``fit``, in the user's words; probabilities in all their forms."""

from dataclasses import replace

import numpy as np
import pytest
from models import CLASSIFIERS, paper

from cwboost import CWBoostClassifier
from cwboost.callbacks import TimeLimit
from cwboost.datasets import load_vowel


@pytest.fixture(scope="module")
def vowel():
    X, y = load_vowel(return_X_y=True)
    return X[::5], y[::5]


def stop_early(state):
    return True


class Watcher:
    def on_round_end(self, state):
        return False


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize(
    "callbacks, message",
    [
        ([stop_early], r"callbacks\[0\] must be .* got the function stop_early"),
        ([Watcher(), TimeLimit], r"callbacks\[1\] must be an object, got the class TimeLimit"),
        ([None], r"callbacks\[0\] must be an object with a method on_round_end.* got None"),
        (Watcher(), "callbacks must be a list or None"),
    ],
)
def test_callbacks_are_checked(classifier, callbacks, message, vowel):
    with pytest.raises(TypeError, match=message):
        classifier(n_estimators=2, callbacks=callbacks).fit(*vowel)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_verbose_is_checked(classifier, vowel):
    with pytest.raises(ValueError, match="verbose must be >= 0, got -1"):
        classifier(n_estimators=2, verbose=-1).fit(*vowel)
    with pytest.raises(TypeError, match="verbose must be an integer, got 'yes'"):
        classifier(n_estimators=2, verbose="yes").fit(*vowel)
    classifier(n_estimators=2, verbose=False).fit(*vowel)


def test_n_jobs_is_none_or_a_number_of_threads(vowel):
    with pytest.raises(ValueError, match="n_jobs must be a number of threads, -1 for all, or None"):
        CWBoostClassifier(n_estimators=2, n_jobs=0).fit(*vowel)
    with pytest.raises(TypeError, match="n_jobs must be an integer or None, got '2'"):
        CWBoostClassifier(n_estimators=2, n_jobs="2").fit(*vowel)


@pytest.mark.parametrize("wrong", ["balancd", 3, [1.0] * 11])
def test_class_weight_is_checked(wrong, vowel):
    with pytest.raises(ValueError, match="class_weight must be 'balanced', a dict of weights"):
        paper(n_estimators=2, class_weight=wrong).fit(*vowel)


def test_more_rounds_than_the_model_has(vowel):
    X, y = vowel
    model = paper(n_estimators=4).fit(X, y)
    methods = ("predict", "predict_proba", "predict_log_proba", "decision_function", "explain")
    for method in methods:
        with pytest.raises(ValueError, match=r"n_estimators must lie in 0\.\.4 .* got 1000"):
            getattr(model, method)(X, n_estimators=1000)
        with pytest.raises(TypeError, match="n_estimators must be an integer or None"):
            getattr(model, method)(X, n_estimators=2.5)


def test_early_stopping_needs_two_examples_of_each_class(vowel):
    X, y = vowel
    y = np.where(np.arange(len(y)) == 7, 99, y)
    model = paper(n_estimators=4, early_stopping=True)
    with pytest.raises(ValueError, match="of class 99 there is only one; pass X_val"):
        model.fit(X, y)
    assert model.fit(X, y, X_val=X, y_val=y).n_iter_ <= 4
    for fraction, n_held in ((0.01, 2), (0.995, 198)):
        with pytest.raises(ValueError, match=f"{fraction} of 198 examples are {n_held}: change"):
            model.set_params(validation_fraction=fraction).fit(*vowel)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_stages_and_logarithms_are_those_of_the_first_rounds(classifier, vowel):
    X, y = vowel
    model = classifier(n_estimators=6, random_state=0).fit(X, y)
    scores, labels = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    stages = list(model.staged_predict_proba(X))
    assert len(scores) == len(labels) == len(stages) == 6
    for n in (1, 2, 6):
        decision, chances = model.decision_function(X, n), model.predict_proba(X, n)
        np.testing.assert_allclose(scores[n - 1], decision, rtol=1e-9, atol=1e-9)
        predicted = model.classes_[decision.argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(X, n), predicted)
        np.testing.assert_allclose(stages[n - 1], chances, rtol=1e-9)
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X, n)), chances, rtol=1e-9)
        # Scores that differ in the last bit may give equal probabilities.
        own = chances[np.arange(len(X)), np.searchsorted(model.classes_, predicted)]
        np.testing.assert_array_equal(own, chances.max(axis=1))
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(X, 6))
    np.testing.assert_array_equal(labels[-1], model.predict(X))


def test_logarithms_are_finite_where_probabilities_round_to_zero(vowel):
    X, y = vowel
    model = paper(n_estimators=30).fit(X, y)
    model.model_ = replace(model.model_, scale=1e4)
    assert (model.predict_proba(X) == 0).any()
    assert np.isfinite(model.predict_log_proba(X)).all()
