"""Refitting: new rows move the leaves of a trained model, and nothing else."""

from copy import copy

import numpy as np
import pytest
from models import paper
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold

from cwboost import CWBoostClassifier, load_model
from cwboost.calibration.calibration import LeftOut
from cwboost.master import SMOOTHING


@pytest.fixture(scope="module", params=[2, 11])
def drifted(request, halves):
    """A model of the first half of some data, and new rows and test rows of a shifted half."""
    X, y, X_new, y_new = halves
    keep, keep_new = y <= request.param, y_new <= request.param
    shift = 0.5 * X.std(axis=0) * np.random.default_rng(1).normal(size=X.shape[1])
    X_new, y_new = X_new[keep_new] + shift, y_new[keep_new]
    clf = CWBoostClassifier(init=None, n_estimators=40, random_state=0).fit(X[keep], y[keep])
    return clf, (X_new[::2], y_new[::2]), (X_new[1::2], y_new[1::2])


def structure(clf):
    trees = clf.ensemble_.learners.trees
    return trees.offsets, trees.feature, trees.threshold, trees.left, trees.missing


def test_pairs_of_rows_belong_to_fit(drifted):
    clf, (X, y), held_out = drifted
    n = len(X) // 2
    other = copy(clf).set_params(cv=[(np.arange(n), np.arange(n, n + 9))])
    with pytest.raises(ValueError, match=r"^cv must be None or a splitter for refit, .*cv=None"):
        other.refit(X, y)
    assert other.refit(X, y, X_val=held_out[0], y_val=held_out[1]).model_.conformity is not None


def test_drifted_rows_are_predicted_better_by_the_same_trees(drifted):
    clf, (X, y), (X_test, y_test) = drifted
    before = clf.decision_function(X_test)
    new = clf.refit(X, y)
    stale = log_loss(y_test, clf.predict_proba(X_test))
    assert log_loss(y_test, new.predict_proba(X_test)) < 0.95 * stale
    np.testing.assert_equal(structure(new), structure(clf))
    assert new.ensemble_.n_rounds == clf.ensemble_.n_rounds
    np.testing.assert_array_equal(clf.decision_function(X_test), before)
    *_, last = new.staged_decision_function(X_test)
    np.testing.assert_allclose(last, new.decision_function(X_test), rtol=1e-9, atol=1e-9)


def steps_in_turn(clf, X, y):
    """Return the scores after each tree has added a smoothed fraction of its exact steps."""
    trees, scores = clf.ensemble_.learners, clf.ensemble_.scores(X)
    n_classes, own = scores.shape[1], np.searchsorted(clf.classes_, y)
    is_own = np.eye(n_classes, dtype=bool)[own]
    for cells in trees.cells(X).T:
        mu = np.where(is_own, 0.0, np.exp(scores - scores[is_own][:, None]))
        signed = np.where(is_own, mu.sum(axis=1, keepdims=True), -mu)
        for c in range(1 if n_classes == 2 else 0, n_classes):
            r = signed[:, c]
            added = SMOOTHING / len(y) * np.abs(r).sum()
            positive, negative = np.bincount(cells, r.clip(0)), np.bincount(cells, -r.clip(None, 0))
            steps = 0.5 * np.log((positive + added) / (negative + added))
            scores[:, c] += clf.learning_rate_ * steps[cells]
    return scores


def test_every_leaf_takes_the_smoothed_step_from_the_present_weights(drifted):
    clf, (X, y), (X_val, y_val) = drifted
    new = clf.refit(X, y, X_val=X_val, y_val=y_val)
    before, expected = clf.ensemble_.scores(X), steps_in_turn(clf, X, y)
    assert np.abs(expected - before).max() > 0.5
    # The outputs of leaves are rounded to whole numbers.
    np.testing.assert_allclose(new.ensemble_.scores(X), expected, atol=0.02)


def test_held_out_rows_set_scale_and_prediction_sets(drifted):
    clf, (X, y), (X_val, y_val) = drifted
    given = clf.refit(X, y, X_val=X_val, y_val=y_val)
    own = np.searchsorted(clf.classes_, y_val)
    scores = given.model_.scores(X_val)
    assert given.probability_scale_ == pytest.approx(
        LeftOut(own, np.ones(len(own))).scale_and_loss(scores)[0]
    )
    # Of a holdout run, whose commonest probability is a little higher, sets may be larger.
    for new, fewest in ((given, 0.05), (clf.refit(X, y), 0.0)):
        sets = new.predict_set(X_val, alpha=0.2)
        assert fewest < 1 - sets[np.arange(len(own)), own].mean() < 0.35
        assert 0 < new.probability_scale_ != clf.probability_scale_
    fixed = CWBoostClassifier(init=None, n_estimators=10, probability_scale=1.5, random_state=0)
    assert fixed.fit(X, y).refit(X, y).probability_scale_ == 1.5


def test_a_splitter_says_which_rows_measure_a_refit(drifted):
    clf, (X, y), _ = drifted
    other = copy(clf).set_params(cv=KFold(4, shuffle=True, random_state=0))
    scales = [one.refit(X, y).probability_scale_ for one in (clf, other)]
    assert np.isfinite(scales).all() and 0.3 < scales[0] / scales[1] < 3.0


def test_classes_without_new_rows_keep_their_leaves(halves):
    X, y, X_new, y_new = halves
    clf = CWBoostClassifier(init=None, n_estimators=30, random_state=0).fit(X, y)
    known = y_new % 2 == 0
    new = clf.refit(X_new[known], y_new[known])
    moved = np.abs(new.decision_function(X) - clf.decision_function(X)).max(axis=0)
    kept = clf.classes_ % 2 == 1
    assert (moved[kept] < 1e-12).all() and (moved[~kept] > 0.01).all()
    # The held-out examples are of the classes of the model.
    given = clf.refit(X_new[known], y_new[known], X_val=X, y_val=y)
    other = copy(given).calibrate(X, y)
    assert given.probability_scale_ == other.probability_scale_
    np.testing.assert_array_equal(given.predict_set(X), other.predict_set(X))


def test_unknown_classes_and_models_of_columns_get_a_remedy():
    X, y = load_iris(return_X_y=True)
    known = y < 2
    clf = CWBoostClassifier(n_estimators=5, random_state=0).fit(X[known], y[known])
    with pytest.raises(ValueError, match=r"or some of them, got \[0 1 2\].*fit a new model"):
        clf.refit(X, y)
    for columns in (paper(n_estimators=5), CWBoostClassifier("stump", n_estimators=5)):
        with pytest.raises(ValueError, match=r"thin\(X, y, C=...\)"):
            columns.fit(X, y).refit(X, y)


def test_a_weight_is_a_count_and_threads_change_nothing(drifted):
    clf, (X, y), held_out = drifted
    held_out = dict(zip(("X_val", "y_val"), held_out))
    rows = np.repeat(np.arange(len(y)), 1 + np.arange(len(y)) % 2)
    repeated = clf.refit(X[rows], y[rows], **held_out)
    weighted = clf.refit(X, y, np.bincount(rows), **held_out)
    # The unit of weights is the median one, here 1 and 1.5: smoothing differs a little.
    difference = weighted.decision_function(X) - repeated.decision_function(X)
    assert np.abs(difference).max() < 0.1 * np.abs(repeated.decision_function(X)).max()
    threads = copy(clf).set_params(n_jobs=3)
    for kind in (held_out, {}):
        one, three = clf.refit(X, y, **kind), threads.refit(X, y, **kind)
        np.testing.assert_array_equal(one.predict_proba(X), three.predict_proba(X))


def test_a_refitted_model_is_saved_refitted_again_and_trained_on(tmp_path):
    X, y = load_wine(return_X_y=True)
    old, new = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
    clf = CWBoostClassifier(n_estimators=20, warm_start=True, random_state=0).fit(X[old], y[old])
    clf.save(tmp_path / "old.cwb", staged=False)
    again = load_model(tmp_path / "old.cwb").refit(X[new], y[new])
    refitted = clf.refit(X[new], y[new])
    np.testing.assert_array_equal(again.decision_function(X), refitted.decision_function(X))
    longer = refitted.set_params(n_estimators=25).fit(X[new], y[new])
    assert longer.ensemble_.n_rounds == 25
    scores = longer.decision_function(X, n_estimators=20)
    np.testing.assert_array_equal(scores, again.decision_function(X))
