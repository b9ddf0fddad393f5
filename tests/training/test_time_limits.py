"""A time limit bounds the whole fit, holdout runs and init models included."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from cwboost import CWBoostClassifier, classifier
from cwboost.callbacks import TimeLimit
from cwboost.datasets import load_vowel
from cwboost.recipe import recipe
from cwboost.support import clock
from cwboost.training import runner
from cwboost.training.leaf_boosting import LeafBoosting
from cwboost.training.one_machine import OneMachine

X, Y = load_vowel(return_X_y=True)
ROWS = np.random.default_rng(0).permutation(np.flatnonzero(Y < 4))
TRAIN, TEST = ROWS[:160], ROWS[160:]


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
    assert ("about 1 seconds, more than half of the 0.9 left" in reason) == (not taken)
