"""C chosen along a path of warm starts."""

import numpy as np
import pytest
from models import paper, stages
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold

from cwboost import CWBoostClassifier, CWBoostClassifierCV, load_model


@pytest.mark.slow
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"weak_learner": "tree", "subsample": 0.7, "init": "kernel"},
        {"weak_learner": "projection", "solver": "lbfgsb", "probability_scale": 2.0},
    ],
    ids=["stumps", "trees", "projections"],
)
def test_the_model_is_the_path_trained_on_everything(halves, params):
    X, y = (part[::2] for part in halves[:2])
    params = {"weak_learner": "stump", "correction": "total", "n_estimators": 16, **params}
    params["random_state"] = 0
    template = CWBoostClassifier(**params)
    cv = CWBoostClassifierCV(template, Cs=[1e4, 1e2, 1e3], rounds_per_C=4, cv=3).fit(X, y)
    np.testing.assert_array_equal(cv.Cs_, [1e2, 1e3, 1e4])
    assert cv.scores_.shape == (3, 3)
    best = int(np.argmax(cv.scores_.mean(axis=1)))
    assert cv.C_ == cv.Cs_[best] == cv.best_estimator_.C
    by_hand = CWBoostClassifier(**params, C=1e2, warm_start=True).fit(X, y)
    for C in cv.Cs_[1 : best + 1]:
        # The last C continues up to the number of rounds of the template.
        rounds = max(by_hand.n_iter_ + 4, 16 if C == cv.C_ else 0)
        by_hand.set_params(C=C, n_estimators=rounds).fit(X, y)
    np.testing.assert_array_equal(cv.decision_function(X), by_hand.decision_function(X))
    np.testing.assert_array_equal(cv.predict(X), by_hand.predict(X))
    np.testing.assert_array_equal(cv.predict_proba(X), by_hand.predict_proba(X))
    np.testing.assert_array_equal(cv.feature_importances_, by_hand.feature_importances_)
    for name, values in by_hand.history_.items():
        if not name.endswith("seconds"):
            np.testing.assert_array_equal(cv.best_estimator_.history_[name], values)
    assert not cv.best_estimator_.warm_start and not hasattr(cv.best_estimator_, "_state")


@pytest.mark.filterwarnings("ignore:no weak learner lowers the objective")
def test_a_path_may_begin_with_a_C_at_which_no_column_pays(halves):
    X, y, *_ = halves
    template = paper(n_estimators=8)
    cv = CWBoostClassifierCV(template, Cs=(1e-3, 1e4), rounds_per_C=5, cv=2).fit(X, y)
    assert cv.C_ == 1e4 and cv.best_estimator_.n_iter_ == 8
    np.testing.assert_array_less(cv.scores_[0], cv.scores_[1])


def test_a_warm_start_reaches_the_objective_of_a_separate_fit(halves):
    X, y, *_ = halves
    clf = paper(n_estimators=60, C=1e2, warm_start=True).fit(X, y)
    for C in (1e3, 1e4):
        clf.set_params(C=C, n_estimators=clf.n_iter_ + 15).fit(X, y)
        separate = paper(n_estimators=60, C=C).fit(X, y)
        assert clf.history_["objective"][-1] <= 1.05 * separate.history_["objective"][-1]


def test_sample_weight_and_parallel_folds(halves):
    X, y, *_ = halves
    weight = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    template = paper(n_estimators=6)
    one, two = (
        CWBoostClassifierCV(template, Cs=(1e3, 1e4), cv=2, n_jobs=jobs).fit(X, y, weight)
        for jobs in (None, 2)
    )
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_copies_of_a_row_are_its_weight(halves):
    """The folds are those of the distinct rows."""
    X, y, *_ = halves
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    search = CWBoostClassifierCV(paper(n_estimators=6), Cs=(1e3, 1e4), cv=3)
    weighted, copied = clone(search).fit(X, y, weight), search.fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.scores_, copied.scores_)
    np.testing.assert_array_equal(weighted.predict_proba(X), copied.predict_proba(X))


def test_stage_wise_training_is_chosen_by_any_score(halves):
    X, y, *_ = halves
    template = stages(C=1e4, n_estimators=5)
    folds = KFold(2, shuffle=True, random_state=3)
    cv = CWBoostClassifierCV(template, Cs=(10.0, 1e4), cv=folds, scoring="neg_log_loss").fit(X, y)
    for C, scores in zip(cv.Cs_, cv.scores_):
        for score, (train, test) in zip(scores, folds.split(X)):
            clf = clone(template).set_params(C=C).fit(X[train], y[train])
            assert score == -log_loss(y[test], clf.predict_proba(X[test]))
    clf = clone(template).set_params(C=cv.C_).fit(X, y)
    np.testing.assert_array_equal(cv.decision_function(X), clf.decision_function(X))
    assert cv.score(X, y) == -log_loss(y, cv.predict_proba(X))


@pytest.mark.parametrize("correction", ["total", "stagewise"])
def test_the_values_of_C_fit_the_correction_and_one_is_saved(halves, correction, tmp_path):
    template = CWBoostClassifier(
        "stump", init=None, n_estimators=4, correction=correction, random_state=0
    )
    cv = CWBoostClassifierCV(template, cv=2).fit(*halves[:2])
    cv.save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert type(loaded) is CWBoostClassifier and loaded.C == cv.C_ == cv.best_estimator_.C
    np.testing.assert_array_equal(loaded.predict(halves[0]), cv.predict(halves[0]))
    wanted = {"total": [1e2, 1e3, 1e4, 1e5], "stagewise": [1e4, 1e8, 1e12]}
    np.testing.assert_array_equal(cv.Cs_, wanted[correction])
