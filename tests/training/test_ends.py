"""Every way to end a fit: what is calibrated or certified belongs to the rounds that are kept.

Each is compared with a fit that was asked for as many rounds.
"""

import copy
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from models import RaiseAt, snapshot_of
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from cwboost import CWBoostClassifier, classifier, load_model
from cwboost.callbacks import Checkpoint, TimeLimit
from cwboost.datasets import load_vowel
from cwboost.recipe import recipe
from cwboost.support import clock
from cwboost.training import runner
from cwboost.training.leaf_boosting import LeafBoosting
from cwboost.training.one_machine import OneMachine

X, Y = load_vowel(return_X_y=True)
ROWS = np.random.default_rng(0).permutation(np.flatnonzero(Y < 4))
TRAIN, TEST = ROWS[:160], ROWS[160:]
LENGTH, WHOLE = 25, 150


def made(n_estimators=WHOLE, **params):
    return CWBoostClassifier(
        "tree", init=None, n_estimators=n_estimators, learning_rate=0.2, random_state=0, **params
    )


def stop(at=LENGTH):
    return SimpleNamespace(on_round_end=lambda state: state.round >= at)


def stopped(make, callback, tmp_path):
    return make(callbacks=[callback]).fit(X[TRAIN], Y[TRAIN])


def raised(make, error, tmp_path):
    clf = make(callbacks=[RaiseAt(LENGTH, error)])
    with pytest.raises(error):
        clf.fit(X[TRAIN], Y[TRAIN])
    return clf


def snapshot(make, _, tmp_path):
    model = snapshot_of(make(), X[TRAIN], Y[TRAIN], LENGTH)
    model.save(tmp_path / "model")
    return load_model(tmp_path / "model")


def checkpoint(make, _, tmp_path):
    callbacks = [Checkpoint(tmp_path / "model", every_rounds=LENGTH), stop()]
    make(callbacks=callbacks).fit(X[TRAIN], Y[TRAIN])
    return load_model(tmp_path / "model")


def longer(make, _, tmp_path):
    clf = make(10, warm_start=True).fit(X[TRAIN], Y[TRAIN])
    return clf.set_params(n_estimators=LENGTH).fit(X[TRAIN], Y[TRAIN])


def tol(make, _, tmp_path):
    clf = make(tol=0.13).fit(X[TRAIN], Y[TRAIN])
    assert clf.stop_reason_ == "tol"
    return clf


WAYS = {
    "callback": (stopped, stop()),
    "Ctrl-C": (raised, KeyboardInterrupt),
    "file of a snapshot": (snapshot, None),
    "Checkpoint": (checkpoint, None),
    "more rounds": (longer, None),
    "tol": (tol, None),
}


@pytest.fixture(scope="module")
def asked():
    """Return the model of a fit that was asked for some rounds."""
    known = {}

    def fit(n_rounds):
        if n_rounds not in known:
            known[n_rounds] = made(n_rounds).fit(X[TRAIN], Y[TRAIN])
        return known[n_rounds]

    return fit


def assert_calibrated_alike(clf, p, other):
    """Scale, log loss and sets are those of a model of as many rounds."""
    wanted = other.predict_proba(X[TEST])
    assert log_loss(Y[TEST], p) == pytest.approx(log_loss(Y[TEST], wanted), rel=0.05)
    if clf is None:
        return
    assert clf.probability_scale_ == pytest.approx(other.probability_scale_, rel=0.1)
    for alpha in (0.05, 0.2):
        sets = [
            one.predict_set(X[TEST], alpha)[np.arange(len(TEST)), Y[TEST]] for one in (clf, other)
        ]
        assert sets[0].mean() == pytest.approx(sets[1].mean(), abs=0.05)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_calibrated_belongs_to_the_rounds_that_are_kept(way, asked, tmp_path):
    end, what = WAYS[way]
    clf = end(made, what, tmp_path)
    assert 20 <= clf.n_iter_ < WHOLE
    assert_calibrated_alike(clf, clf.predict_proba(X[TEST]), asked(clf.n_iter_))


def test_the_length_counts_the_steps_that_were_taken(asked):
    """Rounds that went before with steps of half the size count half."""
    clf = made(20, warm_start=True).set_params(learning_rate=0.1).fit(X[TRAIN], Y[TRAIN])
    clf.set_params(n_estimators=WHOLE, learning_rate=0.2, callbacks=[stop(LENGTH + 10)])
    clf.fit(X[TRAIN], Y[TRAIN])
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
            assert_calibrated_alike(None, p, asked(n_rounds))
    assert clf.probability_scale_ < 0.8 * asked(LENGTH).probability_scale_
    assert clf.model_.scale_at(0) == clf.model_.scale_at(1) > clf.probability_scale_


class Ticks:
    """A clock that a round of any training advances by a second."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def ticks(monkeypatch):
    ticks, one_round = Ticks(), LeafBoosting.round

    def slow_round(training):
        ticks.now += 1.0
        return one_round(training)

    monkeypatch.setattr(LeafBoosting, "round", slow_round)
    for module in (recipe, clock, classifier, runner):
        monkeypatch.setattr(module, "perf_counter", ticks)
    return ticks


@pytest.mark.parametrize("rate", [None, 0.01, 1e-12])
@pytest.mark.parametrize("init", ["auto", "kernel", None])
def test_a_time_limit_bounds_the_whole_fit(ticks, init, rate):
    """Holdout runs too; a round that has begun is finished."""
    clf = CWBoostClassifier("tree", init=init, learning_rate=rate, random_state=0)
    for limit in (0.0, 1.0, 30.0):
        before = ticks.now
        clf.set_params(callbacks=[TimeLimit(limit)]).fit(X[TRAIN], Y[TRAIN])
        assert ticks.now - before <= limit + 3 and clf.n_iter_ >= 1
    assert clf.model_.conformity is not None and clf.probability_scale_ != 2.0


def test_where_time_is_short_fewer_rounds_take_longer_steps(ticks):
    """The model gets better with the time, and has its length's scale."""
    whole = CWBoostClassifier("tree", init=None, random_state=0).fit(X[TRAIN], Y[TRAIN])
    most = ticks.now
    losses = []
    for share in (0.03, 0.1, 3.0):  # holdout runs may take half of the time
        limit = TimeLimit(share * most)
        clf = CWBoostClassifier("tree", init=None, random_state=0, callbacks=[limit])
        losses.append(log_loss(Y[TEST], clf.fit(X[TRAIN], Y[TRAIN]).predict_proba(X[TEST])))
    assert losses[0] > losses[1] > 0.9 * losses[2] and losses[0] < 0.8 * np.log(4)
    np.testing.assert_array_equal(clf.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("limit, taken", [(1.9, False), (1000.0, True)])
def test_an_init_model_that_takes_too_long_is_left_out(ticks, limit, taken, monkeypatch):
    def slow(bench, *args):
        ticks.now += 1.0
        return init_loss(bench, *args)

    init_loss = OneMachine.init_loss
    monkeypatch.setattr(OneMachine, "init_loss", slow)
    clf = CWBoostClassifier("tree", random_state=0, callbacks=[TimeLimit(limit)])
    reason = clf.fit(X[TRAIN], Y[TRAIN]).plan_.reasons["init"]
    assert ("would take about 1 of 0.9 seconds" in reason) == (not taken)


def test_an_interrupt_of_the_holdout_run_leaves_the_model_as_it_was(monkeypatch):
    clf = made(LENGTH).fit(X[TRAIN], Y[TRAIN])
    before = copy.deepcopy(vars(clf))

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(recipe, "scale_and_loss", interrupt)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X[TEST], Y[TEST])
    assert vars(clf).keys() == before.keys() and clf.n_iter_ == LENGTH


FEW = np.arange(40)
ALONE = np.where(np.arange(len(TRAIN)) == 0, 9, Y[TRAIN])
UNSUITED = {
    "40 rows": ("kernel", X[TRAIN][FEW], Y[TRAIN][FEW]),
    "a class of one example": (LogisticRegression(), X[TRAIN], ALONE),
}


@pytest.mark.parametrize("what", UNSUITED)
def test_an_init_model_that_was_named_does_not_leave_unnoticed(what):
    init, A, b = UNSUITED[what]
    with pytest.warns(UserWarning, match=f"init={re.escape(repr(init))} cannot be fitted"):
        clf = CWBoostClassifier(init=init, n_estimators=3).fit(A, b)
    assert clf.init_ is None and repr(init) in clf.plan_.reasons["init"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CWBoostClassifier(n_estimators=3).fit(A, b)


def test_the_plan_shows_what_was_tried():
    clf = CWBoostClassifier(random_state=0).fit(X[TRAIN], Y[TRAIN])
    curves = clf.plan_.curves
    assert {"kernel", "zero"} <= set(curves)
    lowest = min(curves, key=lambda name: curves[name].kept_loss)
    assert clf.plan_.leader == lowest and clf.plan_.curve is curves[lowest]
    assert clf.plan_.leader.startswith(clf.plan_.init or "zero")
    assert all(one.calibrations == () for one in curves.values())
    assert set(clf.plan_.reasons) == {"encoding", "family", "init", "n_rounds", "scale"}


def test_the_plan_has_the_reasons_of_what_the_data_rule_out():
    few = CWBoostClassifier(random_state=0).fit(X[TRAIN][FEW], Y[TRAIN][FEW])
    assert few.plan_.reasons["init"] == "there are fewer than 100 examples"
    clf = CWBoostClassifier(init=None, n_estimators=3)
    clf.fit(X[TRAIN], Y[TRAIN], X_val=X[TEST], y_val=Y[TEST])
    assert "held-out examples" in clf.plan_.reasons["scale"]
