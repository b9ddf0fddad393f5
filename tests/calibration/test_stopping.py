"""Early stopping: what it watches, how long it waits, what the history records."""

import numpy as np
import pytest
from models import stages
from sklearn.metrics import balanced_accuracy_score, log_loss, make_scorer

from cwboost import load_model
from cwboost.calibration.metrics import NAMED
from cwboost.calibration.stopping import EarlyStopping, patience_for
from cwboost.datasets import load_vowel

PARAMS = {"C": 1e8, "n_estimators": 12}


@pytest.fixture(scope="module")
def vowel():
    X, y = load_vowel(return_X_y=True)
    y = np.array([f"class {label:02}" for label in y])
    rows = np.random.default_rng(0).permutation(len(y))
    return X[rows[:300]], y[rows[:300]], X[rows[300:400]], y[rows[300:400]]


def fitted(vowel, **params):
    X, y, X_val, y_val = vowel
    arguments = {k: params.pop(k) for k in ("sample_weight_val", "eval_sets") if k in params}
    clf = stages(**{**PARAMS, **params})
    return clf.fit(X, y, X_val=X_val, y_val=y_val, **arguments)


def test_the_default_watches_the_log_loss_of_the_probabilities_it_will_give(vowel):
    clf = fitted(vowel, early_stopping=True)
    _, _, X_val, y_val = vowel
    watched = clf.history_["valid_logloss"]
    kept = clf.best_iteration_
    assert kept == 1 + np.flatnonzero(watched <= 1.02 * watched.min())[-1] > np.argmin(watched)
    assert -negative_loss(clf, X_val, y_val) == pytest.approx(watched[kept - 1], rel=1e-9)


@pytest.mark.parametrize("name, kept", [("logloss", 4), ("loss", 2)])
def test_the_last_round_within_the_tolerance_is_kept(name, kept):
    stopping = EarlyStopping(NAMED[name], patience=4)
    values = [1.0, 0.9, 0.95, 0.91, 0.95, 0.97]
    ended = [stopping.observe(value, n) for n, value in enumerate(values, 1)]
    assert ended == [False] * 5 + [True]
    assert (stopping.best_round, stopping.kept_round) == (2, kept)


def negative_error(estimator, X, y, sample_weight=None):
    return -float(np.average(estimator.predict(X) != y, weights=sample_weight))


def negative_loss(estimator, X, y):
    return -log_loss(y, estimator.predict_proba(X), labels=estimator.classes_)


def balanced_accuracy(estimator, X, y):
    return balanced_accuracy_score(y, estimator.predict(X))


@pytest.mark.parametrize(
    "measure, name, scored",
    [
        ("balanced_accuracy", "balanced_accuracy", balanced_accuracy),
        (make_scorer(balanced_accuracy_score), "balanced_accuracy_score", balanced_accuracy),
        ("neg_log_loss", "neg_log_loss", negative_loss),
        (negative_error, "negative_error", negative_error),
    ],
)
def test_scorers_watch_as_they_would_score_the_fitted_model(vowel, measure, name, scored):
    clf = fitted(vowel, early_stopping=measure)
    watched = clf.history_[f"valid_{name}"]
    assert clf.best_iteration_ == 1 + np.argmax(watched)
    assert watched.max() == pytest.approx(scored(clf, *vowel[2:]), rel=1e-9)


@pytest.mark.parametrize("measure", [balanced_accuracy, "adjusted_rand_score"])
def test_scorers_without_weights_see_copies(vowel, measure):
    X, y, X_val, y_val = vowel
    weight = np.arange(len(y_val)) % 3 + 2.0
    copies = np.repeat(np.arange(len(y_val)), weight.astype(int))
    one = fitted(vowel, early_stopping=measure, sample_weight_val=weight)
    other = fitted((X, y, X_val[copies], y_val[copies]), early_stopping=measure)
    name = f"valid_{getattr(measure, '__name__', measure)}"
    np.testing.assert_allclose(one.history_[name], other.history_[name], rtol=1e-12)
    with pytest.raises(ValueError, match=r"^early_stopping must .* sample_weight, .*, got '"):
        fitted(vowel, early_stopping=measure, sample_weight_val=weight / 3)


def test_split_off_examples_bring_their_weights(vowel):
    X, y, *_ = vowel
    weight = np.where(np.arange(len(y)) % 2, 1.0, 1e-9)
    clf = stages(**PARAMS, early_stopping=True).fit(X, y, sample_weight=weight)
    plain = stages(**PARAMS, early_stopping=True).fit(X, y)
    assert not np.allclose(clf.history_["valid_error"], plain.history_["valid_error"])


def test_evaluation_sets_are_recorded_and_change_nothing(vowel):
    X, y, X_val, y_val = vowel
    sets = {"seen": (X, y), "same": (X_val, y_val, np.ones(len(y_val)))}
    clf = fitted(vowel, early_stopping=True, eval_sets=sets)
    plain = fitted(vowel, early_stopping=True)
    for measure in ("error", "logloss"):
        ours = clf.history_[f"same_{measure}"]
        np.testing.assert_array_equal(ours, plain.history_[f"valid_{measure}"])
    np.testing.assert_array_equal(clf.history_["seen_error"], clf.history_["train_error"])
    np.testing.assert_array_equal(clf.decision_function(X), plain.decision_function(X))
    assert clf.probability_scale_ == plain.probability_scale_


def test_patience_grows_as_steps_shrink(vowel):
    assert [patience_for(None, rate) for rate in (1.0, 0.3, 0.1, 0.01)] == [20, 50, 150, 1500]
    assert patience_for(7, 0.1) == 7
    clf = fitted(vowel, early_stopping="error", n_iter_no_change=3, n_estimators=200)
    assert clf.stop_reason_ == "early stopping"
    assert clf.n_iter_ == clf.best_iteration_ + 3


def test_a_scorer_of_ones_own_is_not_stored(vowel, tmp_path):
    clf = fitted(vowel, early_stopping=negative_error)
    with pytest.warns(UserWarning, match="early_stopping is a function and is not stored"):
        clf.save(tmp_path / "m")
    assert load_model(tmp_path / "m").early_stopping is False
