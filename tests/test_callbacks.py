"""Callbacks: the state they see, stopping of training, continuation after a crash."""

import copy
import csv
import errno
import io
import pickle
import re

import numpy as np
import pytest
from models import CLASSIFIERS, assert_same_training
from sklearn.base import clone
from sklearn.datasets import load_digits

from cwboost import AdaBoostMHClassifier, CWBoostClassifier, load_model
from cwboost.callbacks import Checkpoint, CSVLog, OptunaPruning, ProgressBar, TimeLimit
from cwboost.training.runner import RoundState

X, Y = load_digits(return_X_y=True)
X, Y = X[:400], Y[:400]


def classifier(**params):
    paper = {"weak_learner": "stump", "correction": "total"}
    return CWBoostClassifier(**{**paper, "n_estimators": 12, "C": 1e3, "random_state": 1, **params})


# ---------------------------------------------------------------------------- CSV log


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_csv_log_holds_the_history(tmp_path):
    clf = classifier(callbacks=[CSVLog(tmp_path / "log.csv")]).fit(X, Y)
    rows = read_csv(tmp_path / "log.csv")
    assert [int(row["round"]) for row in rows] == list(range(1, 13))
    for name, values in clf.history_.items():
        np.testing.assert_array_equal([float(row[name]) for row in rows], values)
    seconds = [float(row["seconds"]) for row in rows]
    assert seconds == sorted(seconds)
    clf.set_params(n_estimators=3).fit(X, Y)
    assert len(read_csv(tmp_path / "log.csv")) == 3


def test_csv_log_continues_with_training(tmp_path):
    path = tmp_path / "log.csv"
    clf = classifier(n_estimators=5, warm_start=True, callbacks=[CSVLog(path)]).fit(X, Y)
    first = read_csv(path)
    with open(path, "a") as file:
        file.write("6,1.0" + ",0" * len(clf.history_) + "\n7,broken")
    clf.set_params(n_estimators=8, callbacks=[CSVLog(path)]).fit(X, Y)
    rows = read_csv(path)
    assert rows[:5] == first
    np.testing.assert_array_equal(
        [float(row["objective"]) for row in rows], clf.history_["objective"]
    )
    held_out = {"X_val": X, "y_val": Y, "eval_sets": {"more": (X, Y)}}
    clf.set_params(n_estimators=9).fit(X, Y, **held_out)
    rows = read_csv(path)
    assert rows[4] == first[4] | {"more_error": "nan", "more_logloss": "nan"}
    assert float(rows[8]["more_error"]) == clf.history_["more_error"][8]
    clf.set_params(n_estimators=10).fit(X, Y)
    assert [row.keys() for row in read_csv(path)] == [first[0].keys()] * 10
    path.write_text("something,else\n1,2\n")
    clf.set_params(n_estimators=11, callbacks=[CSVLog(path)]).fit(X, Y)
    assert [int(row["round"]) for row in read_csv(path)] == [11]


# ---------------------------------------------------------------------------- checkpoints


def test_a_checkpoint_has_nothing_of_an_earlier_fit(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "b": pandas.Categorical(np.where(X[:, 1] > 0, 1, 2))})
    clf = classifier().fit(frame, Y)
    clf.set_params(callbacks=[Checkpoint(tmp_path / "c", every_rounds=1)]).fit(X[:, :2], Y)
    saved = load_model(tmp_path / "c")
    assert vars(saved).keys() - {"_state"} <= vars(clf).keys()
    np.testing.assert_array_equal(
        saved.decision_function(X[:, :2]), clf.decision_function(X[:, :2])
    )


@pytest.mark.parametrize(
    "every_seconds, seconds, n_saved", [(1e6, [1.0, 2.0], 0), (1e6, [2e6], 1), (0, [0.0, 0.0], 2)]
)
def test_checkpoints_by_time(tmp_path, every_seconds, seconds, n_saved):
    model, saved = classifier(n_estimators=2, warm_start=True).fit(X, Y), []

    def snapshot():
        saved.append(model)
        return model

    checkpoint = Checkpoint(tmp_path / "c", every_seconds=every_seconds)
    for number, at in enumerate(seconds, 1):
        state = RoundState(number, 9, at, {}, None, None, snapshot)
        assert not checkpoint.on_round_end(state)
    assert len(saved) == n_saved


def test_checkpoints_need_a_time_and_a_folder():
    with pytest.raises(ValueError, match="every_rounds or every_seconds"):
        Checkpoint("c", every_seconds=None)
    with pytest.raises(ValueError, match="in an existing folder"):
        Checkpoint("no folder/c")


def test_classifiers_without_warm_start_have_no_checkpoints(tmp_path):
    clf = AdaBoostMHClassifier(callbacks=[Checkpoint(tmp_path / "c", every_rounds=1)])
    with pytest.raises(TypeError, match="AdaBoostMHClassifier has no warm start, hence no check"):
        clf.fit(X, Y)


# ---------------------------------------------------------------------------- all of them


@pytest.mark.parametrize("given", [{"callbacks": [ProgressBar()]}, {"verbose": True}])
def test_a_progress_bar_as_a_callback_or_if_verbose(given, capsys):
    clf = classifier(n_estimators=4, **given)
    clone(clf).fit(X, Y)
    last = capsys.readouterr().err.split("\r")[-1]
    assert "4/4" in last and "train_error=" in last
    assert 0 < float(re.search(r"loss=([\d.]+)", last)[1]) < 1
    assert 0 < float(re.search(r"gap=([\d.]+)%", last)[1]) < 100
    clone(clf).set_params(callbacks=None, verbose=0).fit(X, Y)
    assert capsys.readouterr().err == ""


def test_the_progress_bar_shows_what_is_known(capsys):
    tree = classifier(weak_learner="tree", n_estimators=4, callbacks=[ProgressBar()])
    tree.fit(X, Y, X_val=X, y_val=Y)
    shown = capsys.readouterr().err
    assert "valid_error" in shown and "nan" not in shown and "gap" not in shown


class Failing:
    def on_round_end(self, state):
        if state.round == 3:
            raise RuntimeError("after three rounds")


ENDS = {
    "the last round": {"n_estimators": 3},
    "a callback": {"callbacks": [TimeLimit(0)]},
    "early stopping": {"early_stopping": True, "n_iter_no_change": 1, "n_estimators": 200},
    "an error": {"callbacks": [Failing()]},
}


@pytest.mark.parametrize("is_verbose", [True, False])
@pytest.mark.parametrize("end", ENDS)
def test_a_progress_bar_ends_however_training_ends(end, is_verbose, monkeypatch):
    pytest.importorskip("tqdm")
    bars, bar = [], ProgressBar()
    make = bar._open
    monkeypatch.setattr("tqdm.auto.tqdm", lambda **given: bars.append(make(**given)) or bars[-1])
    own = ENDS[end].get("callbacks", [])
    callbacks = own if is_verbose else [*own, ProgressBar()]
    clf = classifier(**ENDS[end] | {"callbacks": callbacks, "verbose": is_verbose})
    for n_fits in (1, 2):
        try:
            clf.fit(X, Y)
        except RuntimeError:
            assert end == "an error"
        assert len(bars) == n_fits and bars[-1].disable  # as tqdm marks a closed bar
        assert bars[-1].n == clf.n_iter_ or end == "an error"


class Broken(io.StringIO):
    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("stream", [None, Broken(), "closed"])
def test_a_progress_bar_that_cannot_be_shown_decides_about_nothing(stream, monkeypatch):
    if stream == "closed":
        stream = io.StringIO()
        stream.close()
    monkeypatch.setattr("sys.stderr", stream)
    assert classifier(n_estimators=3, callbacks=[ProgressBar()]).fit(X, Y).n_iter_ == 3
    assert classifier(n_estimators=3, verbose=1).fit(X, Y).n_iter_ == 3


@pytest.mark.parametrize("booster", CLASSIFIERS)
def test_callbacks_may_stop_training_and_all_are_called(booster):
    class StopAt:
        def __init__(self, round):
            self.round, self.told = round, []

        def on_round_end(self, state):
            self.told.append(state.round)
            assert state.latest["train_error"] == state.training.model.history["train_error"][-1]
            return state.round == self.round

    stop, other = StopAt(3), StopAt(99)
    clf = booster("stump", n_estimators=5, callbacks=[stop, other]).fit(X, Y)
    assert clf.stop_reason_ == "callback" and clf.n_iter_ == 3
    assert stop.told == other.told == [1, 2, 3]
    assert clf.set_params(callbacks=[TimeLimit(0)]).fit(X, Y).stop_reason_ == "time limit"


def test_estimators_with_callbacks_can_be_cloned_and_pickled(tmp_path):
    callbacks = [ProgressBar(), CSVLog(tmp_path / "l"), Checkpoint(tmp_path / "c")]
    clf = classifier(n_estimators=3, callbacks=callbacks).fit(X, Y)
    again = pickle.loads(pickle.dumps(clone(clf))).fit(X, Y)
    assert_same_training(again, clf)
    assert copy.deepcopy(clf).callbacks[1].path == tmp_path / "l"


# ---------------------------------------------------------------------------- Optuna


@pytest.fixture
def optuna():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("measure", ["error", "accuracy"])
@pytest.mark.parametrize("name", ["valid", "more"])
def test_optuna_prunes_the_trials_that_fall_behind(optuna, direction, measure, name):
    pruner = optuna.pruners.MedianPruner(n_startup_trials=1, n_warmup_steps=2)
    study = optuna.create_study(direction=direction, pruner=pruner)

    def objective(trial):
        y = Y if trial.number == 0 else np.roll(Y, 1)  # labels of other examples: nothing to learn
        callbacks = [OptunaPruning(trial, f"{name}_{measure}")]
        sets = {"X_val": X[300:], "y_val": y[300:], "eval_sets": {"more": (X[300:], y[300:])}}
        clf = classifier(callbacks=callbacks, early_stopping=measure, n_iter_no_change=12)
        clf.fit(X[:300], y[:300], **sets)
        return 0.0

    study.optimize(objective, n_trials=2)
    learned, lost = study.trials
    assert (learned.state.name, lost.state.name) == ("COMPLETE", "PRUNED")
    assert list(learned.intermediate_values) == list(range(1, 13))
    assert list(lost.intermediate_values) == [1, 2]


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_what_optuna_cannot_compare_is_an_error(optuna, direction):
    study = optuna.create_study(direction=direction)
    with pytest.raises(ValueError, match=r"name must be one of .*'train_error'.*, got 'loss'"):
        classifier(callbacks=[OptunaPruning(study.ask(), "loss")]).fit(X, Y)
    with pytest.raises(ValueError, match=r"name must be .*'valid_error' with nan at round 1"):
        classifier(callbacks=[OptunaPruning(study.ask())]).fit(X, Y)
