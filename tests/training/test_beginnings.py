"""Every way to begin again, with every parameter and every part of the data changed.

What was trained is kept or refused; a bound, a best round and a reason to stop hold for the present
problem only.
"""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from models import assert_same_training, snapshot_of
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from cwboost import CWBoostClassifier, StumpFamily, TreeFamily, load_model
from cwboost.calibration.metrics import NAMED
from cwboost.callbacks import TimeLimit
from cwboost.datasets import load_vowel

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(120, 4)), 1)
Y = np.digitize(X[:, 0] - X[:, 1] + 0.5 * X[:, 2] ** 2, [-0.3, 0.9])
FIRST, MORE, MANY = 6, 12, 300
RISING = np.ones((3, 4), dtype=int)

KINDS = {
    "total": {"weak_learner": "stump", "correction": "total", "C": 100.0, "tol": 0.0},
    "constrained": {
        "weak_learner": "stump", "correction": "total", "C": 100.0, "tol": 0.0,
        "monotonic_cst": RISING,
    },
    "stagewise": {"weak_learner": "tree", "init": None},
}  # fmt: skip

CHANGES = {
    "weak_learner": {
        "total": StumpFamily(max_features=1), "constrained": StumpFamily(max_features=1),
        "stagewise": TreeFamily(max_depth=1),
    },
    "init": LogisticRegression(),
    "n_estimators": MORE,
    "C": 20.0,
    "max_columns": None,  # belongs to C=None
    "correction": {"total": "stagewise", "constrained": "stagewise", "stagewise": "total"},
    "max_working_sets": 5,
    "epsilon": 1e-3,
    "learning_rate": {"total": 1.0, "constrained": 1.0, "stagewise": 0.5},
    "subsample": 0.6,
    "solver": {"total": "lbfgsb", "constrained": "lbfgsb", "stagewise": "fcd"},
    "tol": 1e-4,
    "early_stopping": "error",
    "validation_fraction": 0.3,
    "cv": StratifiedKFold(3),
    "n_iter_no_change": 3,
    "categorical_features": [3],
    "category_encoding": "target",
    "monotonic_cst": {"total": RISING, "constrained": None, "stagewise": RISING},
    "interaction_cst": [[0, 1]],
    "class_weight": {0: 5.0, 1: 1.0, 2: 1.0},
    "callbacks": [TimeLimit(600.0)],
    "random_state": 1,
    "n_jobs": 2,
    "verbose": 0,
    "probability_scale": 1.5,
    # Not parameters of the classifier:
    "sample_weight": np.where(np.arange(120) % 3, 1.0, 8.0),
    "X": X[:, ::-1],
    "y": Y[RNG.permutation(120)],
}  # fmt: skip

REFUSED = {
    "categorical_features": dict.fromkeys(KINDS, "categories"),
    "correction": {"stagewise": "rounds of one learner per class: fit again"},
    "interaction_cst": dict.fromkeys(KINDS, "interaction_cst must constrain nothing more"),
    "monotonic_cst": {
        "total": "monotonic_cst must constrain nothing more than in the fitted model",
        "stagewise": "rounds of one learner per class: fit again",
    },
}


def test_every_parameter_is_changed():
    known = set(inspect.signature(CWBoostClassifier).parameters) - {"warm_start"}
    assert known | {"sample_weight", "X", "y"} == set(CHANGES)


def made(kind, **params):
    first = {"n_estimators": FIRST, "warm_start": True, "random_state": 0}
    return CWBoostClassifier(**first | KINDS[kind] | params)


def fit(clf, X=X, y=Y, sample_weight=None, held_out=(), **params):
    """Train on; rounds that are there already, or columns that do not pay, warn."""
    held_out = dict(zip(("X_val", "y_val"), held_out))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return clf.set_params(**params).fit(X, y, sample_weight, **held_out)


def in_memory(kind, path):
    return fit(made(kind))


def from_file(kind, path):
    in_memory(kind, path).save(path, training_state=True)
    return load_model(path)


def from_plain_file(kind, path):
    in_memory(kind, path).save(path)
    return load_model(path)


def from_snapshot(kind, path):
    clf = snapshot_of(made(kind, n_estimators=MORE, warm_start=False), X, Y, FIRST)
    return clf.set_params(warm_start=True, n_estimators=FIRST, callbacks=None)


def changed(what, kind):
    value = CHANGES[what]
    return {what: value[kind] if isinstance(value, dict) and kind in value else value}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", CHANGES)
def test_what_goes_on_is_true_of_the_present_problem(what, kind, tmp_path):
    clf = from_file(kind, tmp_path / "model")
    before = list(clf.staged_decision_function(X))
    change = changed(what, kind)
    if what in REFUSED and kind in REFUSED[what]:
        with pytest.raises(ValueError, match=REFUSED[what][kind]):
            fit(clf, **{"n_estimators": MORE} | change)
        assert clf.n_iter_ == FIRST
        return
    fit(clf, **{"n_estimators": MORE} | change)
    after = list(clf.staged_decision_function(X))
    n_kept = min(FIRST, len(after))
    np.testing.assert_allclose(after[:n_kept], before[:n_kept], rtol=1e-9, atol=1e-9)
    bounds = clf.history_["dual_bound"][FIRST:]
    if np.isnan(bounds).all():
        return
    change.pop("init", None)  # the present one stays
    fresh = fit(made(kind), **change | {"n_estimators": MANY, "warm_start": False})
    best = fresh.history_["objective"].min()
    assert (bounds <= best * (1 + 1e-9)).all()


ENDS = {
    "tol": ({"correction": "total", "C": 300.0, "tol": 1e-2}, {"tol": 1e-5}),
    "tol, ten times": ({"subsample": 0.7, "C": 60.0, "tol": 0.2}, {"tol": 1e-3}),
    "optimal": ({"correction": "total", "C": 30.0, "tol": 0.0}, {"C": 300.0}),
    "no column": (
        {"subsample": 1.0, "learning_rate": 1.0, "C": 30.0, "tol": 0.0}, {"C": 3000.0}
    ),
}  # fmt: skip


@pytest.mark.parametrize("reason", ENDS)
def test_a_reason_to_stop_stays_for_its_problem_only(reason, tmp_path):
    params, other = ENDS[reason]
    settings = {"init": None, "n_estimators": MANY, "warm_start": True, "random_state": 0}
    clf = fit(CWBoostClassifier("stump", **settings | params))
    reason = reason.partition(",")[0]
    assert clf.stop_reason_ == reason
    clf.save(tmp_path / "model", training_state=True)
    clf = load_model(tmp_path / "model")
    n_rounds = clf.n_iter_
    fit(clf, n_estimators=MANY + 1)
    assert (clf.n_iter_, clf.stop_reason_) == (n_rounds, reason)
    for changes in (other, {"weak_learner": StumpFamily(max_features=2)}):
        assert fit(clf, n_estimators=clf.n_iter_ + 3, **changes).n_iter_ > n_rounds
        n_rounds = clf.n_iter_


def test_trees_of_one_class_stay_trees_of_one_class():
    """Without constraints a round would grow one tree for all classes."""
    clf = fit(made("stagewise", monotonic_cst=RISING))
    with pytest.raises(ValueError, match="rounds of one learner for all classes: fit again"):
        fit(clf, n_estimators=MORE, monotonic_cst=None)


def test_constraints_that_are_dropped_do_not_come_back(tmp_path):
    clf = fit(from_file("constrained", tmp_path / "model"), n_estimators=MORE)
    fit(clf, n_estimators=MORE + 1, monotonic_cst=RISING * [1, 0, 1, 1])
    fit(clf, n_estimators=MORE + 2, monotonic_cst=RISING * [1, 0, 0, 1])
    with pytest.raises(ValueError, match="monotonic_cst must constrain nothing more"):
        fit(clf, n_estimators=MORE + 3, monotonic_cst=RISING)
    assert clf.n_iter_ == MORE + 2


def test_sets_of_features_may_grow(tmp_path):
    clf = fit(made("stagewise", interaction_cst="no_interactions"))
    clf.save(tmp_path / "model")
    clf = fit(load_model(tmp_path / "model"), n_estimators=MORE, interaction_cst=[[0, 1], [2]])
    for sets in ("no_interactions", [[0, 2]]):
        with pytest.raises(ValueError, match="interaction_cst must constrain nothing more"):
            fit(clf, n_estimators=MORE + 1, interaction_cst=sets)
    assert fit(clf, n_estimators=MORE + 1, interaction_cst=None).model_.constraints == {}


NEW = np.random.default_rng(1).normal(size=(240, 4))
OTHERS = NEW, np.digitize(NEW[:, 0] - NEW[:, 1] + 0.5 * NEW[:, 2] ** 2, [-0.3, 0.9])
ENOUGH = 20  # rounds, for a holdout run


@pytest.mark.parametrize("begin", [in_memory, from_plain_file, from_snapshot])
def test_a_holdout_run_calibrates_a_model_of_its_examples_only(begin, tmp_path):
    """With others the scale stays, and there are no prediction sets."""
    same = fit(begin("stagewise", tmp_path / "model"), np.asfortranarray(X), Y, n_estimators=ENOUGH)
    assert same.model_.conformity is not None and same.plan_.curve is not None
    more, mixed = (
        (np.r_[X, NEW], np.r_[Y, OTHERS[1]]),
        (X, Y[np.random.default_rng(2).permutation(120)]),
    )
    for examples in (OTHERS, more, mixed) if begin is in_memory else (mixed,):
        clf = begin("stagewise", tmp_path / "model")
        scale = clf.probability_scale_
        with pytest.raises(ValueError, match="n_estimators must be a number, or X_val and y_val"):
            fit(clf, *examples, n_estimators="auto")
        for n, part in enumerate((examples, examples, (X, Y))):
            fit(clf, *part, n_estimators=ENOUGH + n)
            assert (clf.probability_scale_, clf.model_.conformity) == (scale, None)
            assert "these examples alone" in clf.plan_.reasons["scale"]
        assert clf.calibrate(*OTHERS).probability_scale_ != scale
        clf.set_params(n_estimators="auto").fit(*examples, X_val=NEW, y_val=OTHERS[1])
        assert clf.predict_set(X).any()


@pytest.mark.parametrize("change", ["refit", "thin"])
def test_a_changed_model_is_that_of_no_examples(change):
    clf = fit(made("stagewise"))
    other = clf.refit(*OTHERS) if change == "refit" else clf.thin(X, Y, C=1e3)
    assert (clf.model_.examples is None, other.model_.examples) == (False, None)


@pytest.mark.parametrize("zero", [[0] * 4, {}, np.zeros((3, 4)), {0: {1: 0}}])
def test_zero_constraints_are_none(zero):
    params = {"n_estimators": 20, "random_state": 0}
    fits = [CWBoostClassifier(monotonic_cst=one, **params).fit(X, Y) for one in (None, zero)]
    np.testing.assert_array_equal(*(clf.predict_proba(X) for clf in fits))


# ------------------------------------------------------------------ on VOWEL

VOWEL = load_vowel(return_X_y=True)
VOWELS = np.random.default_rng(0).permutation(np.flatnonzero(VOWEL[1] < 5))
TRAIN, HELD, OTHER, BOTH = (
    [part[VOWELS[rows]] for part in VOWEL]
    for rows in (slice(120), slice(120, 200), slice(200, 280), slice(280))
)
NAMED_COLUMNS = pd.DataFrame(TRAIN[0]).add_prefix("f")
OTHER_DATA = [
    (NAMED_COLUMNS[NAMED_COLUMNS.columns[::-1]], "stump", "must have the name 'f0' .*got 'f9'"),
    (NAMED_COLUMNS.iloc[:, :4], "stump", "the 10 features of the fitted model .*got 4"),
    (NAMED_COLUMNS, "tree", "of the kind of the fitted model .*'tree'"),
    (NAMED_COLUMNS, ["stump"], "of the kind of the fitted .*'mixed'"),
]


@pytest.mark.parametrize("data, weak_learner, message", OTHER_DATA)
def test_training_goes_on_with_the_same_columns_and_kind_of_learner_only(
    data, weak_learner, message
):
    clf = CWBoostClassifier("stump", init=None, n_estimators=2, warm_start=True)
    clf.fit(NAMED_COLUMNS, TRAIN[1]).set_params(n_estimators=4, weak_learner=weak_learner)
    with pytest.raises(ValueError, match=message):
        clf.fit(data, TRAIN[1])
    assert clf.n_iter_ == 2


@pytest.mark.parametrize("init", ["auto", "kernel", GaussianNB()])
@pytest.mark.parametrize("together", ["groups", "cv", None])
def test_training_goes_on_from_the_same_base_scores(init, together):
    """Cross-fitting draws the folds of the first fit, whatever that tried before."""
    cv = KFold(5) if together == "cv" else None
    groups = np.arange(280) // 4 if together == "groups" else None
    params = {"init": init, "cv": cv, "random_state": 0, "warm_start": True}
    parts, whole = (CWBoostClassifier(n_estimators=n, **params) for n in (20, 23))
    for clf, n_estimators in ((parts, 20), (parts, 23), (whole, 23)):
        clf.set_params(n_estimators=n_estimators).fit(*BOTH, groups=groups)
    assert whole.init_ is not None
    assert_same_training(parts, whole)


def stopping(measure, n_estimators, correction="stagewise", **params):
    steps = {"learning_rate": 1.0, "subsample": 0.7} if correction == "stagewise" else {"C": 300.0}
    params = {"init": None, "n_iter_no_change": 5, "validation_fraction": 0.3} | steps | params
    params |= {"correction": correction, "warm_start": True, "random_state": 0}
    return CWBoostClassifier("stump", early_stopping=measure, n_estimators=n_estimators, **params)


def negative_error(estimator, X, y):
    return -float(np.mean(estimator.predict(X) != y))


@pytest.mark.parametrize("held_out", [(), HELD])
@pytest.mark.parametrize(
    "measure, init", [("logloss", None), ("error", "kernel"), (negative_error, None)]
)
def test_without_a_column_that_pays_the_model_stays(measure, init, held_out):
    """At so small a C, whatever the rounds so far."""
    clf = fit(stopping(measure, 15, init=init), *TRAIN, held_out=held_out)
    kept, scores = clf.best_iteration_, clf.decision_function(VOWEL[0])
    for n_rounds in (15, 30):
        fit(clf, *TRAIN, held_out=held_out, n_estimators=n_rounds, C=1e-6)
        assert clf.best_iteration_ == kept
        np.testing.assert_array_equal(clf.decision_function(VOWEL[0]), scores)


@pytest.mark.parametrize("init", [None, "kernel"])
@pytest.mark.parametrize("weak_learner", ["tree", "stump"])
def test_a_model_without_rounds_can_go_on(weak_learner, init):
    settings = {"init": init, "n_estimators": 5, "random_state": 0, "probability_scale": 2.0}
    clf = CWBoostClassifier(weak_learner, C=1e-3, warm_start=True, **settings)
    with pytest.warns(UserWarning, match="no weak learner lowers the objective"):
        clf.fit(*TRAIN)
    assert clf.set_params(C=100.0).fit(*TRAIN).n_iter_ == 5
    whole = CWBoostClassifier(weak_learner, C=100.0, **settings).fit(*TRAIN)
    assert clf.score(*TRAIN) == pytest.approx(whole.score(*TRAIN), abs=0.1)


@pytest.mark.parametrize("correction", ["stagewise", "total"])
def test_the_best_round_is_that_of_the_present_examples_and_measure(correction):
    """The rounds so far are measured again, on another X_val or by another measure."""
    clf = fit(stopping("error", 10, correction), *TRAIN, held_out=HELD)
    for held_out, measure in ((OTHER, "error"), (OTHER, "logloss"), (HELD, "loss")):
        more = {"early_stopping": measure, "n_estimators": clf.n_iter_ + 3}
        values = fit(clf, *TRAIN, held_out=held_out, **more).history_[f"valid_{measure}"]
        kept, factor = clf.best_iteration_, 1 + NAMED[measure].tolerance
        assert len(values) == clf.n_iter_ >= kept == clf.ensemble_.n_rounds
        assert values[kept - 1] <= values.min() * factor
        whole = stopping(measure, clf.n_iter_, correction, n_iter_no_change=1000)
        known = fit(whole, *TRAIN, held_out=held_out).history_[f"valid_{measure}"]
        np.testing.assert_array_equal(values, known)


@pytest.mark.parametrize("family", [StumpFamily, TreeFamily])
def test_other_rows_meet_other_draws(family):
    """Else a model that grows by a round per set of rows would see few of its features."""
    clf = CWBoostClassifier(
        family(max_features=2), init=None, probability_scale=2.0, warm_start=True, random_state=0
    )
    for n in range(1, 9):
        clf.set_params(n_estimators=n).fit(*(part[VOWELS[n:]] for part in VOWEL))
    assert np.count_nonzero(clf.feature_importances_) > 4
