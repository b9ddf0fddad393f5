"""Common behaviour of the four baselines, by the same tests for each."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from cwboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    MultiBoostClassifier,
)
from cwboost.callbacks import TimeLimit
from cwboost.ensemble.growing import HISTORY_NAMES

MODELS = [
    MultiBoostClassifier(solver="fcd", C=1e3, n_estimators=15),
    AdaBoostMHClassifier(n_estimators=15),
    AdaBoostECCClassifier(n_estimators=15),
    AdaBoostMOClassifier(n_estimators=15),
]
CHECKED = [
    MultiBoostClassifier(n_estimators=8),
    AdaBoostMHClassifier(n_estimators=10),
    AdaBoostECCClassifier(n_estimators=20),
    AdaBoostMOClassifier(n_estimators=10),
]


@pytest.mark.slow
@parametrize_with_checks(CHECKED)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(params=MODELS, ids=lambda m: f"{type(m).__name__}-{MODELS.index(m)}")
def model(request):
    return clone(request.param).set_params(random_state=0)


def test_history_and_attributes(model, vowel):
    X, y = vowel
    train, held = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    model.fit(X[train], y[train], X_val=X[held], y_val=y[held])
    assert model.n_iter_ == 15 and model.stop_reason_ == "n_estimators"
    assert set(HISTORY_NAMES) < set(model.history_)
    for values in model.history_.values():
        assert values.shape == (15,) and values.dtype.kind in "fi"
    shared = isinstance(model, MultiBoostClassifier)
    assert np.isnan(model.history_["dual_bound"]).all() != shared
    stages = zip(model.staged_predict(X[train]), model.staged_predict(X[held]))
    for r, (on_train, on_held) in enumerate(stages):
        assert model.history_["train_error"][r] == pytest.approx(np.mean(on_train != y[train]))
        assert model.history_["valid_error"][r] == pytest.approx(np.mean(on_held != y[held]))


def test_training_descends(model, vowel):
    X, y = vowel
    model.set_params(n_estimators=40).fit(X, y)
    history = model.history_
    assert history["train_error"][-1] < 0.6 * history["train_error"][0]
    assert (np.diff(history["objective"]) < 0).all()
    assert (history["train_error"] <= 1).all() and model.score(X, y) > 0.5


@pytest.mark.slow
def test_reproducible_at_any_number_of_threads(model, vowel):
    X, y = vowel
    first = model.fit(X, y)
    for other in (clone(model), clone(model).set_params(n_jobs=2)):
        other.fit(X, y)
        np.testing.assert_array_equal(first.decision_function(X), other.decision_function(X))
        np.testing.assert_array_equal(first.history_["objective"], other.history_["objective"])


@pytest.mark.slow
def test_weights_are_repetitions(model, vowel):
    X, y = vowel[0][::4], vowel[1][::4]
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    # Later rounds may differ: with weights that are small integers, learners tie.
    first, again = weighted.history_["objective"][0], repeated.history_["objective"][0]
    assert first == pytest.approx(again, rel=1e-9)
    weight = weight + np.where(weight > 0, np.random.default_rng(1).random(len(y)), 0.0)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    scaled = clone(model).fit(X, y, sample_weight=0.25 * weight)
    dropped = clone(model).fit(X[weight > 0], y[weight > 0], sample_weight=weight[weight > 0])
    for other in (scaled, dropped):
        np.testing.assert_array_equal(weighted.decision_function(X), other.decision_function(X))


def test_max_seconds_and_callbacks(model, vowel):
    X, y = vowel
    assert model.set_params(max_seconds=0).fit(X, y).n_iter_ == 1
    assert model.stop_reason_ == "max_seconds"

    class Third:
        def on_round_end(self, state):
            assert state.latest["train_error"] == state.training.model.history["train_error"][-1]
            return state.round == 3

    model.set_params(max_seconds=None, callbacks=[Third()]).fit(X, y)
    assert model.n_iter_ == 3 and model.stop_reason_ == "callback"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (AdaBoostECCClassifier(smoothing=0.0), "smoothing must be > 0"),
        (AdaBoostMOClassifier(code="ecoc"), "code must be 'random'"),
        (AdaBoostMOClassifier(code=np.ones((11, 3))), "the same code word"),
        (AdaBoostMOClassifier(code=np.zeros((11, 3))), "only -1 and"),
        (AdaBoostMOClassifier(code=np.ones((3, 3))), "one row for each of the 11 classes"),
        (AdaBoostMOClassifier(code_size=1025), "code_size must be at most 1023"),
        (
            AdaBoostMOClassifier(code_size=3),
            "code_size must be large enough to distinguish 11 classes, got 3",
        ),
        (
            AdaBoostMOClassifier(code_size=3, code="exhaustive"),
            "code_size must be None unless code='random'",
        ),
    ],
)
def test_bad_parameters_of_one(model, vowel, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*vowel)


def test_explanations_of_ecc_hold_its_offsets(vowel):
    X, y = vowel
    model = AdaBoostECCClassifier(n_estimators=20, random_state=0).fit(X, y)
    for rounds in (None, 7):
        constant, parts, _ = model.explain(X, rounds)
        np.testing.assert_allclose(
            constant + parts.sum(axis=1), model.decision_function(X, rounds), atol=1e-12
        )


@pytest.mark.parametrize(("seconds", "error"), [("1", TypeError), (-1.0, ValueError)])
def test_a_time_limit_is_a_number_of_seconds(seconds, error):
    with pytest.raises(error, match="seconds must be"):
        TimeLimit(seconds)
