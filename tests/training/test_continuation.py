"""Warm start with early stopping: no model shrinks, none forgets its best round, parts equal one.

Every measure, both ways to hold examples out, with and without an init model; continued by no, one
and many rounds, past a stop, without a column that pays, and through interrupts.
"""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
from attack_fits import Lines
from models import assert_same_training
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from cwboost import CWBoostClassifier, StumpFamily, TreeFamily
from cwboost.calibration.metrics import NAMED
from cwboost.datasets import load_vowel

X, Y = load_vowel(return_X_y=True)
ROWS = np.random.default_rng(0).permutation(np.flatnonzero(Y < 5))
TRAIN, HELD, OTHER = ROWS[:120], ROWS[120:200], ROWS[200:280]
FIRST, PATIENCE = 6, 5


def negative_error(estimator, X, y):
    return -float(np.mean(estimator.predict(X) != y))


MEASURES = [*NAMED, "balanced_accuracy", negative_error]
NAMES = [getattr(measure, "__name__", measure) for measure in MEASURES]
# Every pair of a measure, an init model, and a way to hold examples out: X_val, or split off.
CASES = [
    pytest.param(measure, init, (init is None) == place % 2, id=f"{name}-{init}")
    for place, (measure, name) in enumerate(zip(MEASURES, NAMES))
    for init in (None, "kernel")
]
every_pair = pytest.mark.parametrize("measure, init, given", CASES)


def made(measure, init=None, n_estimators=FIRST, correction="stagewise", patience=PATIENCE):
    steps = {"learning_rate": 1.0, "subsample": 0.7} if correction == "stagewise" else {"C": 300.0}
    return CWBoostClassifier(
        "stump", init=init, early_stopping=measure, n_iter_no_change=patience,
        validation_fraction=0.3, n_estimators=n_estimators, correction=correction, warm_start=True,
        random_state=0, **steps
    )  # fmt: skip


def fit(clf, given=True, rows=HELD, **params):
    """Train on; rounds that are there already, or columns that do not pay, warn."""
    held_out = {"X_val": X[rows], "y_val": Y[rows]} if given else {}
    held_out["eval_sets"] = {"other": (X[OTHER], Y[OTHER])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return clf.set_params(**params).fit(X[TRAIN], Y[TRAIN], **held_out)


def watched(clf):
    """The measure after each round, smaller for a better one, and the factor that may be kept."""
    named = NAMED.get(clf.early_stopping)
    name = getattr(clf.early_stopping, "__name__", clf.early_stopping)
    values = clf.history_[f"valid_{name}"]
    return (values, 1 + named.tolerance) if named else (-values, 1)


def assert_keeps_the_best(clf, at_least=1):
    """No round is lost, and none of those that were known is better than what is kept."""
    (values, factor), kept = watched(clf), clf.best_iteration_
    assert len(values) == clf.n_iter_ >= kept == clf.ensemble_.n_rounds >= at_least
    assert values[kept - 1] <= (values.min() * factor if factor > 1 else values.min())


NAMED_COLUMNS = pd.DataFrame(X[TRAIN]).add_prefix("f")
OTHER_DATA = {
    "order": (
        NAMED_COLUMNS[NAMED_COLUMNS.columns[::-1]],
        {},
        "must have the name 'f0' .*got 'f9'",
    ),
    "number": (NAMED_COLUMNS.iloc[:, :4], {}, "the 10 features of the fitted model .*got 4"),
    "kind": (NAMED_COLUMNS, {"weak_learner": "tree"}, "of the kind of the fitted model .*'tree'"),
    "list": (NAMED_COLUMNS, {"weak_learner": ["stump"]}, "of the kind of the fitted .*'mixed'"),
}


@pytest.mark.parametrize("what", OTHER_DATA)
def test_training_goes_on_with_the_same_columns_and_kind_of_learner_only(what):
    data, params, message = OTHER_DATA[what]
    clf = CWBoostClassifier("stump", init=None, n_estimators=2, warm_start=True).fit(
        NAMED_COLUMNS, Y[TRAIN]
    )
    with pytest.raises(ValueError, match=message):
        clf.set_params(n_estimators=4, **params).fit(data, Y[TRAIN])
    assert clf.n_iter_ == 2


@pytest.mark.parametrize("init", ["auto", "kernel", LogisticRegression(max_iter=2000)])
@pytest.mark.parametrize("together", ["groups", "cv", None])
def test_a_continuation_begins_with_the_same_base_scores(init, together):
    """Cross-fitting draws the folds of the first fit, whatever that tried before."""
    cv = KFold(5) if together == "cv" else None
    groups = np.arange(280) // 4 if together == "groups" else None
    params = {"init": init, "cv": cv, "random_state": 0, "warm_start": True}
    parts, whole = (CWBoostClassifier(n_estimators=n, **params) for n in (20, 23))
    for clf, n_estimators in ((parts, 20), (parts, 23), (whole, 23)):
        clf.set_params(n_estimators=n_estimators).fit(X[ROWS[:280]], Y[ROWS[:280]], groups=groups)
    assert whole.init_ is not None
    assert_same_training(parts, whole)


@every_pair
def test_a_continuation_without_a_column_keeps_the_model(measure, init, given):
    """At so small a C no column pays, whatever the rounds so far."""
    clf = fit(made(measure, init, 15), given)
    kept, scores = clf.best_iteration_, clf.decision_function(X)
    for n_rounds in (15, 30):
        fit(clf, given, n_estimators=n_rounds, C=1e-6)
        assert clf.best_iteration_ == kept
        np.testing.assert_array_equal(clf.decision_function(X), scores)


@pytest.mark.parametrize("seed", [None, np.random.RandomState(0)])
def test_examples_split_off_stay_out_of_all_fits(seed):
    clf = fit(made("error", n_estimators=30, patience=1000).set_params(random_state=seed), False)
    before = clf.history_["valid_error"]
    assert before[-1] > clf.history_["train_error"][-1]
    fit(clf, False, n_estimators=31)
    np.testing.assert_array_equal(clf.history_["valid_error"][:30], before)


@pytest.mark.parametrize("init", [None, "kernel"])
@pytest.mark.parametrize("weak_learner", ["tree", "stump"])
def test_a_model_without_rounds_can_go_on(weak_learner, init):
    settings = {"init": init, "n_estimators": 5, "random_state": 0, "probability_scale": 2.0}
    clf = CWBoostClassifier(weak_learner, C=1e-3, warm_start=True, **settings)
    with pytest.warns(UserWarning, match="no weak learner lowers the objective"):
        clf.fit(X[TRAIN], Y[TRAIN])
    assert clf.set_params(C=100.0).fit(X[TRAIN], Y[TRAIN]).n_iter_ == 5
    whole = CWBoostClassifier(weak_learner, C=100.0, **settings).fit(X[TRAIN], Y[TRAIN])
    assert clf.score(X[TRAIN], Y[TRAIN]) == pytest.approx(whole.score(X[TRAIN], Y[TRAIN]), abs=0.1)


@pytest.mark.parametrize("n_estimators", ["auto", 5])
def test_a_continuation_that_adds_no_round_warns(n_estimators):
    clf = CWBoostClassifier(init=None, n_estimators=n_estimators, warm_start=True, random_state=0)
    clf.fit(X[TRAIN], Y[TRAIN])
    with pytest.warns(UserWarning, match=f"adds no rounds to the {clf.n_iter_} of the fitted"):
        clf.fit(X[TRAIN], Y[TRAIN])


@pytest.mark.parametrize("measure, init", [("logloss", None), ("error", "kernel")])
def test_an_interrupt_at_any_line_of_a_continuation(measure, init):
    first = fit(made(measure, init, 12))
    with Lines() as lines:
        fit(copy.copy(first), n_estimators=15)
    for part in range(8):
        clf = copy.copy(first)
        with pytest.raises(KeyboardInterrupt), Lines(1 + lines.count * part // 8):
            fit(clf, n_estimators=15)
        assert_keeps_the_best(clf, first.best_iteration_)
        assert_keeps_the_best(fit(clf, n_estimators=20), first.best_iteration_)


@pytest.mark.parametrize("correction", ["stagewise", "total"])
def test_the_best_round_is_that_of_the_present_examples_and_measure(correction):
    """The rounds so far are measured again, on another X_val or by another measure."""
    clf = fit(made("error", None, 10, correction))
    for rows, measure in ((OTHER, "error"), (OTHER, "logloss"), (HELD, "loss")):
        fit(clf, rows=rows, early_stopping=measure, n_estimators=clf.n_iter_ + 3)
        assert_keeps_the_best(clf)
        whole = fit(made(measure, None, clf.n_iter_, correction, patience=1000), rows=rows)
        np.testing.assert_array_equal(watched(clf)[0], watched(whole)[0])


@pytest.mark.parametrize("family", [StumpFamily, TreeFamily])
def test_other_rows_meet_other_draws(family):
    """Else a model that grows by a round per set of rows would see few of its features."""
    clf = CWBoostClassifier(
        family(max_features=2), init=None, probability_scale=2.0, warm_start=True, random_state=0
    )
    for n in range(1, 9):
        clf.set_params(n_estimators=n).fit(X[ROWS[n:]], Y[ROWS[n:]])
    assert np.count_nonzero(clf.feature_importances_) > 4
