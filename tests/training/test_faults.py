"""Interrupts, errors and failing allocations: the finished rounds stay, or the former model."""

import shutil
import signal
import sys
from threading import RLock

import attack
import numpy as np
import pytest
from attack import carried_out
from attack_fits import ATTACKS, assert_first_rounds, run_with_library
from models import objective, paper, stages
from sklearn.datasets import load_iris
from threadpoolctl import OpenBLASController

from cwboost import CWBoostClassifier
from cwboost.calibration.scores import HeldOutScores
from cwboost.ensemble.path import PathBuilder
from cwboost.kernels import SortedFeatures, one_thread
from cwboost.training import column_generation
from cwboost.training.outcome import BoostingOutcome

X, Y = load_iris(return_X_y=True)


def made(classifier=CWBoostClassifier, **params):
    params = {"n_estimators": 8, "random_state": 0} | params
    if classifier is CWBoostClassifier:
        return stages("stump", **{"C": 1e8, "tol": 0.0} | params)
    return classifier("stump", **params)


@pytest.mark.slow
# joblib reads files of the system, which an interrupt right after their opening leaves open.
@pytest.mark.filterwarnings("ignore:.*_io.FileIO:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:warm_start adds no rounds")
@pytest.mark.parametrize("name", [name for name in ATTACKS if name.startswith("lines")])
def test_an_interrupt_at_every_tenth_of_a_fit(name, monkeypatch):
    """Of every classifier and family; training for the first time and training again."""
    # CPython may leave the `with` of a lock unreleased if the interrupt comes at its very end.
    monkeypatch.setattr(one_thread._Process, "alone", RLock())
    if hasattr(OpenBLASController, "_SHARED_STATE"):
        monkeypatch.setattr(OpenBLASController._SHARED_STATE, "lock", RLock())
    outcomes = carried_out(name, ATTACKS[name], 10, seed=0).keys()
    at_end = {"ended before"} if name == "lines/continued" else set()  # the second fit is short
    assert outcomes - at_end - {"some rounds"} == {"the former model"}
    assert ("some rounds" in outcomes) == (name != "lines/thin")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
def test_a_signal_at_every_tenth_of_a_fit():
    # On a busy machine, fits may slow down so much that all signals come before the first round.
    tries = (carried_out("alarms", ATTACKS["alarms"], 10, seed) for seed in range(10))
    assert any(outcomes["some rounds"] for outcomes in tries)


def failing(function, error, calls, at=5, late=False):
    """Raise at the call of this number, before it or when it has worked."""

    def replacement(*arguments, **options):
        calls.append(options)
        result = function(*arguments, **options) if late or len(calls) != at else None
        if len(calls) == at:
            raise error("by a test")
        return result

    return replacement


# Functions that each round calls once.
STEPS = {
    "pricing": (SortedFeatures, "search"),
    "solving": (column_generation, "fcd"),
    "recording the round": (PathBuilder, "append"),
    "scoring new learners": (HeldOutScores, "add"),
    "moving coefficients": (HeldOutScores, "move"),
}


@pytest.mark.parametrize("error", [ZeroDivisionError, MemoryError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("step", STEPS)
def test_an_error_in_a_step_keeps_the_rounds(step, error, monkeypatch):
    owner, name = STEPS[step]
    whole, clf = made().fit(X, Y, X_val=X, y_val=Y), made()
    monkeypatch.setattr(owner, name, failing(getattr(owner, name), error, []))
    with pytest.raises(BaseException) as caught:
        clf.fit(X, Y, X_val=X, y_val=Y)
    assert any(isinstance(link, error) for link in (caught.value, caught.value.__cause__))
    assert clf.n_iter_ == 4
    assert_first_rounds(clf, whole)
    assert clf.stop_reason_ == ("failed" if issubclass(error, Exception) else "interrupted")


def test_an_interrupt_while_the_model_is_put_together(monkeypatch):
    whole, clf = made().fit(X, Y), made()
    attributes = failing(BoostingOutcome.attributes, KeyboardInterrupt, [], at=1)
    monkeypatch.setattr(BoostingOutcome, "attributes", attributes)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert_first_rounds(clf, whole)
    assert clf.n_iter_ == 8


@pytest.mark.parametrize(
    "step, at, clf",
    [
        # The last solves are the precise ones; the master is then ahead of the kept coefficients.
        *(("solving", at, paper(C=20.0, n_estimators=300)) for at in (2, 6, 11, 12)),
        ("recording the round", 4, paper(C=1e3, n_estimators=30)),
        ("recording the round", 4, stages(C=1e3, n_estimators=30)),
    ],
)
def test_an_interrupted_round_is_not_gone_on_from(step, at, clf, monkeypatch):
    """The rounds before it are left, and others follow from their coefficients."""
    (owner, name), calls = STEPS[step], []
    late = step == "solving"
    fails = failing(getattr(owner, name), KeyboardInterrupt, calls, at, late)
    monkeypatch.setattr(owner, name, fails)
    with pytest.raises(KeyboardInterrupt):
        clf.set_params(warm_start=True, probability_scale=2.0).fit(X, Y)
    if late:
        assert (calls[-1]["epsilon"] < clf.epsilon) == (at > 10)
    assert (clf.n_iter_, clf.stop_reason_) == (at - 1, "interrupted")
    clf.fit(X, Y)
    assert clf.n_iter_ > at
    expected = [objective(clf, X, Y, n) for n in range(1, clf.n_iter_ + 1)]
    np.testing.assert_allclose(clf.history_["objective"], expected, rtol=1e-9)
    assert (np.diff(clf.history_["objective"]) <= 1e-9).all()


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc"), reason="needs glibc and a C compiler"
)
def test_allocations_that_fail():
    """A few of each fit; `make attack` lets all of them fail."""
    command = [attack.__file__, "allocations", "--times", "6", "--seed", "0"]
    done = run_with_library(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    lines = done.stdout.splitlines()
    assert len(lines) == 12
    assert all("the former model" in line for line in lines)
    assert sum("some rounds" in line for line in lines) >= 3
