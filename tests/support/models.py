"""Models of every kind, small, for tests that apply to each; calls in threads at once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from types import SimpleNamespace

import numpy as np

import cwboost
from cwboost import BindContext, CWBoostClassifier

CLASSIFIERS = [
    cwboost.CWBoostClassifier,
    cwboost.MultiBoostClassifier,
    cwboost.AdaBoostECCClassifier,
    cwboost.AdaBoostMHClassifier,
    cwboost.AdaBoostMOClassifier,
]
FAMILIES = ["stump", "tree", "projection"]


def paper(weak_learner="stump", **params):
    """Return the method of the paper: total correction, on stumps unless told otherwise."""
    protocol = {"correction": "total", "C": 1e4, "random_state": 0}
    return CWBoostClassifier(weak_learner, **protocol | params)


def stages(weak_learner="stump", **params):
    """Return stage-wise training by whole steps on all examples."""
    whole = {"init": None, "learning_rate": 1.0, "subsample": 1.0, "random_state": 0}
    return CWBoostClassifier(weak_learner, **whole | params)


def context(n_targets=11, seed=0, **known):
    """Return what `bind` is told."""
    return BindContext(n_targets=n_targets, random_state=np.random.default_rng(seed), **known)


def bind(family, X, n_targets=3, seed=0, **known):
    """Return the pricer of a family on X."""
    return family.bind(X, context(n_targets, seed, **known))


def assert_same_rounds(one, other):
    """The same rounds, bit for bit, whatever time they took and whatever ended them."""
    np.testing.assert_equal(one.ensemble_.arrays(), other.ensemble_.arrays())
    histories = [dict(clf.history_) for clf in (one, other)]
    for history in histories:
        del history["pricing_seconds"], history["solver_seconds"]
    np.testing.assert_equal(*histories)
    for name in ("n_iter_", "best_iteration_", "probability_scale_"):
        assert getattr(one, name) == getattr(other, name), name


def assert_same_training(one, other):
    """The same rounds, ended by the same reason."""
    assert_same_rounds(one, other)
    assert one.stop_reason_ == other.stop_reason_


def pair_loss(scores, y):
    """Return the sum over all pairs of an example and another class of exp(-margin)."""
    return np.exp(scores - scores[np.arange(len(y)), y][:, None]).sum() - len(y)


def objective(clf, X, y, n_rounds=None):
    """Return the objective after some rounds, from the coefficients and the scores alone."""
    scores = clf.ensemble_.scores(X, n_rounds)
    n_pairs = len(y) * (scores.shape[1] - 1)
    return clf.ensemble_.coef(n_rounds).sum() + clf.C / n_pairs * pair_loss(scores, y)


class RaiseAt:
    """A callback that raises after a round, as Ctrl-C does or a fault."""

    def __init__(self, at, error=KeyboardInterrupt):
        self.at, self.error = at, error

    def on_round_end(self, state):
        if state.round >= self.at:
            raise self.error


def snapshot_of(clf, X, y, at):
    """Return the snapshot that a callback takes after a round of a fit."""
    kept = []

    def take(state):
        if state.round == at:
            kept.append(state.snapshot())

    clf.set_params(callbacks=[SimpleNamespace(on_round_end=take)]).fit(X, y)
    return kept[0]


def at_once(function, n_threads=4):
    """Return the results of ``function(0)``, ``function(1)`` and so on."""
    barrier = Barrier(n_threads)

    def begin(number):
        barrier.wait(30)
        return function(number)

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(begin, range(n_threads)))
