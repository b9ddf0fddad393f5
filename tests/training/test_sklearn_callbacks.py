"""Callbacks of scikit-learn see every round, may stop training, and are always torn down."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

from cwboost import AdaBoostMHClassifier, CWBoostClassifier, MultiBoostClassifier

callback = pytest.importorskip("sklearn.callback")
X, Y = load_iris(return_X_y=True)


class Recorder:
    """Keeps what it is told; stops after round `last`, or raises there."""

    def __init__(self, last=None, error=None):
        self.last, self.error = last, error
        self.told, self.scores, self.sizes = [], [], []

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(f"begin {context.task_name}")
        self.sizes.append(context.max_subtasks)

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.told.append(f"end {context.task_name}")
        self.scores.append(fitted_estimator.score(X, y))
        if context.task_name == "round" and context.task_id + 1 == self.last:
            if self.error is not None:
                raise self.error
            return True
        return False


CLASSIFIERS = pytest.mark.parametrize(
    "classifier", [CWBoostClassifier, MultiBoostClassifier, AdaBoostMHClassifier]
)
ROUND = ["begin round", "end round"]


@CLASSIFIERS
def test_a_callback_sees_every_round_and_the_model_of_it(classifier):
    recorder = Recorder()
    clf = classifier("stump", n_estimators=4, random_state=0).set_callbacks(recorder).fit(X, Y)
    assert recorder.told == ["setup", "begin fit", *4 * ROUND, "end fit", "teardown"]
    assert recorder.sizes == [4, 0, 0, 0, 0]
    staged = [np.mean(labels == Y) for labels in clf.staged_predict(X)]
    assert recorder.scores == [*staged, clf.score(X, Y)]
    plain = classifier("stump", n_estimators=4, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(clf.decision_function(X), plain.decision_function(X))


@CLASSIFIERS
def test_a_callback_stops_training(classifier):
    clf = classifier("stump", n_estimators=9, random_state=0).set_callbacks(Recorder(last=3))
    clf.fit(X, Y)
    assert (clf.n_iter_, clf.stop_reason_) == (3, "callback")


@pytest.mark.parametrize("y", [Y, Y[:-1]])
def test_callbacks_are_torn_down_after_an_error(y):
    recorder = Recorder(last=2, error=RuntimeError("enough"))
    clf = CWBoostClassifier("stump", init=None, n_estimators=9).set_callbacks(recorder)
    with pytest.raises((RuntimeError, ValueError), match=r"enough|inconsistent"):
        clf.fit(X, y)
    assert (recorder.told[0], recorder.told[-1]) == ("setup", "teardown")
    assert not hasattr(clf, "_callback_fit_ctx")


def test_a_search_hands_its_callbacks_on():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    clf = CWBoostClassifier("stump", init=None, n_estimators=3, random_state=0).set_callbacks(
        monitor
    )
    search = GridSearchCV(clf, {"epsilon": [0.1, 0.2]}, cv=2)
    search.fit(X, Y)
    assert search.best_estimator_.n_iter_ == 3
    assert sklearn.base.clone(clf).get_params() == clf.get_params()
