"""Stopped after k rounds by any means, and carried on by any, training equals a fit of k rounds.

What is calibrated on rows that the first rounds left out belongs to these k rounds, too.
"""

import copy
import functools
import pickle
import warnings
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from models import RaiseAt, assert_same_rounds, snapshot_of
from sklearn.metrics import log_loss

from cwboost import CWBoostClassifier, load_model
from cwboost.calibration.metrics import NAMED
from cwboost.callbacks import Checkpoint, TimeLimit
from cwboost.datasets import load_vowel

X, Y = load_vowel(return_X_y=True)
ROWS = np.random.default_rng(0).permutation(np.flatnonzero(Y < 4))
TRAIN, HELD = ROWS[:120], ROWS[120:190]
MOST = 60


def negative_error(estimator, X, y):
    return -float(np.mean(estimator.predict(X) != y))


KINDS = {
    "leaves": {"weak_learner": "tree", "learning_rate": 0.5},
    "leaves of samples": {"weak_learner": "tree", "subsample": 0.7, "C": 300.0},
    "columns": {"weak_learner": "stump", "learning_rate": 0.5, "subsample": 0.7},
    "columns of trees": {"weak_learner": "tree", "correction": "classwise"},
    "total": {"weak_learner": "stump", "correction": "total", "C": 300.0},
    "constrained": {
        "weak_learner": "stump", "correction": "total", "C": 300.0,
        "monotonic_cst": np.ones((4, 10), dtype=int),
    },
}  # fmt: skip
MEASURES = [False, *NAMED, "balanced_accuracy", negative_error]


class Late(TimeLimit):
    """A limit that is past at a round, whatever the clock of the machine says."""

    def __init__(self, at):
        super().__init__(3600.0)
        self.at = at

    def on_round_end(self, state):
        return state.round >= self.at


def stop(at):
    return SimpleNamespace(on_round_end=lambda state: state.round >= at)


class Training(RuleBasedStateMachine):
    """A classifier that is stopped and goes on, with `fresh` fits to compare it with."""

    @initialize(
        kind=st.sampled_from(sorted(KINDS)),
        kernel=st.booleans(),
        measure=st.sampled_from(MEASURES),
        is_given=st.booleans(),
    )
    def begin(self, kind, kernel, measure, is_given):
        params = KINDS[kind]
        self.params = {
            "init": "kernel" if kernel and kind != "constrained" else None,
            "early_stopping": measure, "n_iter_no_change": 5, "validation_fraction": 0.3,
            "probability_scale": "auto" if measure or is_given else 2.0,
            "random_state": 0, "tol": 0.0, **params,
        }  # fmt: skip
        self.held_out = {"X_val": X[HELD], "y_val": Y[HELD]} if is_given else {}
        self.clf = CWBoostClassifier(warm_start=True, **self.params)
        self.fresh = {}

    def fit(self, clf, **params):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return clf.set_params(**params).fit(X[TRAIN], Y[TRAIN], **self.held_out)

    @property
    def n_rounds(self):
        return getattr(self.clf, "n_iter_", 0)

    @rule(n_more=st.integers(1, 9), callback=st.sampled_from([None, stop, Late]))
    def train(self, n_more, callback):
        at = self.n_rounds + n_more
        if callback is None:
            self.fit(self.clf, n_estimators=at, callbacks=None)
        else:
            self.fit(self.clf, n_estimators=MOST, callbacks=[callback(at)])

    errors = st.sampled_from([KeyboardInterrupt, SystemExit, StopIteration, MemoryError])

    @rule(n_more=st.integers(1, 9), error=errors)
    def break_off(self, n_more, error):
        raises = RaiseAt(self.n_rounds + n_more, error)
        before = self.n_rounds
        try:
            self.fit(self.clf, n_estimators=MOST, callbacks=[raises])
        except error:
            assert self.n_rounds == raises.at
        else:  # it was over before
            assert before <= self.n_rounds <= raises.at

    @precondition(lambda self: self.n_rounds)
    @rule(how=st.sampled_from(["file", "copy", "pickle"]))
    def carry(self, how):
        if how == "file":
            given = self.params["early_stopping"]
            self.clf.set_params(callbacks=None, early_stopping=False)
            self.clf.save(self.path, training_state=True)
            self.clf = load_model(self.path).set_params(early_stopping=given)
        else:
            self.clf.set_params(callbacks=None)
            parts = copy.deepcopy if how == "copy" else lambda clf: pickle.loads(pickle.dumps(clf))
            self.clf = parts(self.clf)

    @rule(n_more=st.integers(1, 9))
    def go_on_from_a_checkpoint(self, n_more):
        """It has all rounds, whatever early stopping keeps of them, so that one more follows."""
        at, given = self.n_rounds + n_more, self.params["early_stopping"]
        callbacks = [Checkpoint(self.path, every_rounds=at), stop(at)]
        self.fit(self.clf, n_estimators=at + 2, callbacks=callbacks)
        if self.n_rounds == at:
            self.clf = load_model(self.path).set_params(early_stopping=given, warm_start=True)
            self.fit(self.clf, n_estimators=at + 1)

    @invariant()
    def equals_a_fit_of_as_many_rounds(self):
        if not getattr(self, "clf", None) or not self.n_rounds:
            return
        # The pricing that finds no column amends the bound of the last round.
        ended_by_itself = self.clf.stop_reason_ in ("optimal", "no column")
        asked = MOST if ended_by_itself else self.n_rounds
        if asked not in self.fresh:
            clf = CWBoostClassifier(**self.params)
            self.fresh[asked] = self.fit(clf, n_estimators=asked)
        other = self.fresh[asked]
        assert_same_rounds(self.clf, other)
        np.testing.assert_array_equal(self.clf.predict_proba(X), other.predict_proba(X))
        if other.model_.conformity is not None:
            np.testing.assert_array_equal(self.clf.predict_set(X), other.predict_set(X))


@pytest.mark.parametrize("part", range(2))
def test_stopped_training_equals_a_fit_of_as_many_rounds(part, tmp_path):
    Training.path = tmp_path / "model"
    machine = type(f"Training{part}", (Training,), {})
    machine.TestCase.settings = settings(
        max_examples=40,
        stateful_step_count=5,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
    )
    machine.TestCase().runTest()


# ------------------------------------------------------------------ calibration

FEW, TEST, LENGTH, WHOLE = ROWS[:160], ROWS[160:], 27, 150


def made(n_estimators=WHOLE, **params):
    params = {"init": None, "learning_rate": 0.2, "random_state": 0} | params
    return CWBoostClassifier("tree", n_estimators=n_estimators, **params)


def trained(clf, error=(), **params):
    with suppress(error):
        clf.set_params(**params).fit(X[FEW], Y[FEW])
    return clf


def from_snapshot(path):
    snapshot_of(made(), X[FEW], Y[FEW], LENGTH).save(path)
    return load_model(path)


def from_checkpoint(path):
    trained(made(callbacks=[Checkpoint(path, every_rounds=LENGTH), stop(LENGTH)]))
    return load_model(path)


WAYS = {
    "callback": lambda path: trained(made(callbacks=[stop(LENGTH)])),
    "Ctrl-C": lambda path: trained(made(callbacks=[RaiseAt(LENGTH)]), KeyboardInterrupt),
    "snapshot": from_snapshot,
    "checkpoint": from_checkpoint,
    "more rounds": lambda path: trained(trained(made(10, warm_start=True)), n_estimators=LENGTH),
    "tol": lambda path: trained(made(tol=0.13)),
}


@pytest.fixture(scope="module")
def asked():
    """Return the model of a fit that was asked for some rounds."""
    return functools.cache(lambda n_rounds: trained(made(n_rounds)))


def assert_calibrated_alike(p, other):
    wanted = other.predict_proba(X[TEST])
    assert log_loss(Y[TEST], p) == pytest.approx(log_loss(Y[TEST], wanted), rel=0.05)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_calibrated_belongs_to_the_rounds_that_are_kept(way, asked, tmp_path):
    """Whatever number of rounds the holdout run was for: scale, log loss and sets are alike."""
    clf = WAYS[way](tmp_path / "model")
    assert clf.stop_reason_ == "tol" or clf.n_iter_ == LENGTH
    other = asked(clf.n_iter_)
    assert_calibrated_alike(clf.predict_proba(X[TEST]), other)
    assert clf.probability_scale_ == pytest.approx(other.probability_scale_, rel=0.1)
    own = np.arange(len(TEST)), Y[TEST]
    for alpha in (0.05, 0.2):
        sets = [one.predict_set(X[TEST], alpha)[own].mean() for one in (clf, other)]
        assert sets[0] == pytest.approx(sets[1], abs=0.05)


def test_the_length_counts_the_steps_that_were_taken(asked):
    """Rounds that went before with steps of half the size count half."""
    clf = trained(made(20, warm_start=True, learning_rate=0.1))
    trained(clf, n_estimators=WHOLE, learning_rate=0.2, callbacks=[stop(LENGTH + 10)])
    assert clf.n_iter_ == LENGTH + 10
    assert clf.probability_scale_ == pytest.approx(asked(LENGTH).probability_scale_, rel=0.05)


def test_every_stage_has_the_scale_of_its_length(asked, tmp_path):
    clf = asked(WHOLE)
    clf.save(tmp_path / "model")
    stages = list(clf.staged_predict_proba(X[TEST]))
    for n_rounds in (LENGTH, 60, WHOLE):
        for one in (clf, load_model(tmp_path / "model")):
            p = one.predict_proba(X[TEST], n_estimators=n_rounds)
            np.testing.assert_array_equal(p, stages[n_rounds - 1])
            assert_calibrated_alike(p, asked(n_rounds))
    assert clf.probability_scale_ < 0.8 * asked(LENGTH).probability_scale_
    assert clf.model_.scale_at(0) == clf.model_.scale_at(1) > clf.probability_scale_
