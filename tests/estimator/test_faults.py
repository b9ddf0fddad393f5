"""Interrupts and errors at any moment: the finished rounds stay, and else the former model."""

import signal

import numpy as np
import pytest
from attack import carried_out
from attack_fits import ATTACKS, assert_first_rounds
from models import CLASSIFIERS, paper, stages
from sklearn.datasets import load_iris

from cwboost import CWBoostClassifier, column_generation
from cwboost.ensemble.path import PathBuilder
from cwboost.estimator.held_out.scores import HeldOutScores
from cwboost.kernels import SortedFeatures

X, Y = load_iris(return_X_y=True)
on_posix = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")


def made(classifier, family, **params):
    params = {"random_state": 0, **params}
    if classifier is CWBoostClassifier:
        return stages(family, **{"C": 1e8, "tol": 0.0} | params)
    return classifier(weak_learner=family, **params)


@pytest.mark.slow
# joblib reads files of the system, which an interrupt right after their opening leaves open.
@pytest.mark.filterwarnings("ignore:.*_io.FileIO:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", [name for name in ATTACKS if name.startswith("lines")])
def test_an_interrupt_at_every_tenth_of_a_fit(name):
    """Training for the first time and training again."""
    outcomes = carried_out(name, ATTACKS[name], 10, seed=0)
    assert outcomes.keys() <= {"the former model", "some rounds"}


@on_posix
def test_a_signal_at_every_tenth_of_a_fit():
    outcomes = carried_out("alarms", ATTACKS["alarms"], 10, seed=0)
    assert outcomes["some rounds"]


def failing(function, error, calls, at=5, late=False):
    """Raise at the call of this number, before it or when it has worked."""

    def replacement(*arguments, **options):
        calls.append(options)
        result = function(*arguments, **options) if late or len(calls) != at else None
        if len(calls) == at:
            raise error("by a test")
        return result

    return replacement


@pytest.mark.parametrize("error", [ZeroDivisionError, MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_an_error_in_a_family_keeps_the_rounds(classifier, error, monkeypatch):
    whole = made(classifier, "stump", n_estimators=8).fit(X, Y)
    clf = made(classifier, "stump", n_estimators=8)
    calls = []
    for name in ("search", "search_shared"):
        search = getattr(SortedFeatures, name)
        monkeypatch.setattr(SortedFeatures, name, failing(search, error, calls))
    with pytest.raises(BaseException) as caught:
        clf.fit(X, Y)
    chain = (caught.value, caught.value.__cause__)
    assert any(isinstance(link, error) for link in chain)
    assert clf.n_iter_ > 0
    assert_first_rounds(clf, whole)


@pytest.mark.parametrize("method", ["add", "move"])
@pytest.mark.parametrize("error", [ZeroDivisionError, MemoryError, KeyboardInterrupt])
def test_an_error_in_held_out_scoring_keeps_the_rounds(method, error, monkeypatch):
    """Each round adds learners once and moves coefficients once."""
    whole = made(CWBoostClassifier, "stump", n_estimators=8).fit(X, Y, X_val=X, y_val=Y)
    clf, calls = made(CWBoostClassifier, "stump", n_estimators=8), []
    working = getattr(HeldOutScores, method)
    monkeypatch.setattr(HeldOutScores, method, failing(working, error, calls))
    with pytest.raises(error):
        clf.fit(X, Y, X_val=X, y_val=Y)
    assert len(calls) == 5 and clf.n_iter_ == 4
    assert_first_rounds(clf, whole)
    assert clf.stop_reason_ == ("interrupted" if error is KeyboardInterrupt else "failed")


def test_an_interrupt_while_the_model_is_put_together(monkeypatch):
    whole = made(CWBoostClassifier, "stump", n_estimators=8).fit(X, Y)
    clf = made(CWBoostClassifier, "stump", n_estimators=8)
    attributes = failing(CWBoostClassifier._fitted_attributes, KeyboardInterrupt, [], at=1)
    monkeypatch.setattr(CWBoostClassifier, "_fitted_attributes", attributes)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert_first_rounds(clf, whole)
    assert clf.n_iter_ == 8


def objectives(clf, X, y):
    """The objective after each round, computed from the coefficients alone."""
    found = []
    for n in range(1, clf.n_iter_ + 1):
        scores = clf.ensemble_.scores(X, n_rounds=n)
        own = scores[np.arange(len(y)), y]
        pairs = np.exp(scores - own[:, None]).sum() - len(y)
        n_pairs = len(y) * (scores.shape[1] - 1)
        found.append(clf.ensemble_.coef(n).sum() + clf.C / n_pairs * pairs)
    return found


@pytest.mark.parametrize("at", [2, 6, 11, 12])
def test_an_interrupted_solve_is_not_gone_on_from(monkeypatch, at):
    """The last solves are the precise ones; the master is then ahead of the kept coefficients."""
    clf, calls = paper(C=20.0, n_estimators=300, warm_start=True), []
    solve = failing(column_generation.fcd, KeyboardInterrupt, calls, at, late=True)
    monkeypatch.setattr(column_generation, "fcd", solve)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert (calls[-1]["epsilon"] < clf.epsilon) == (at > 10)
    assert_goes_on(clf, at - 1)


@pytest.mark.parametrize("correction", ["total", "stagewise"])
def test_a_round_that_was_not_recorded_is_not_gone_on_from(monkeypatch, correction):
    clf = stages(C=1e3, n_estimators=30, warm_start=True, probability_scale=2.0)
    clf.set_params(correction=correction)
    append = failing(PathBuilder.append, KeyboardInterrupt, [], at=4)
    monkeypatch.setattr(PathBuilder, "append", append)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert_goes_on(clf, 3)


def assert_goes_on(clf, n_rounds):
    """Of an interrupted fit, these rounds are left, and others follow from their coefficients."""
    assert (clf.n_iter_, clf.stop_reason_) == (n_rounds, "interrupted")
    clf.fit(X, Y)
    assert clf.n_iter_ > n_rounds + 1
    np.testing.assert_allclose(clf.history_["objective"], objectives(clf, X, Y), rtol=1e-9)
    assert (np.diff(clf.history_["objective"]) <= 1e-9).all()


@pytest.mark.parametrize("C", [1e8, 1e100, 1e150])
def test_a_large_C_is_solved(C):
    """Two separated groups: one step per class, whose optimum is known."""
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    clf = paper(C=C, n_estimators=50).fit(X, np.repeat([0, 1], 20))
    # min over w of w + C exp(-2 w) / ... is w + 1, where w is the logarithm of C.
    np.testing.assert_allclose(clf.history_["objective"][-1], np.log(C) + 1, rtol=1e-9)
    assert (clf.history_["dual_bound"] <= clf.history_["objective"]).all()
    assert clf.history_["gap"][-1] <= 1e-6 * clf.history_["objective"][-1]
