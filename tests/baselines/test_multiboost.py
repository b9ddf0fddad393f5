"""MultiBoost: one column per round for all classes, solved by either solver."""

import numpy as np
import pytest
import slow_boosting
from models import objective
from sklearn.exceptions import ConvergenceWarning

from cwboost import MultiBoostClassifier


@pytest.fixture(scope="module")
def small(vowel):
    """Return every third example of five classes."""
    X, y = vowel
    chosen = np.flatnonzero(np.isin(y, np.unique(y)[:5]))[::3]
    return X[chosen], y[chosen]


@pytest.mark.parametrize("solver", ["fcd", "lbfgsb"])
def test_history_and_ensemble_against_the_definition(small, solver):
    X, y = small
    codes = np.unique(y, return_inverse=True)[1]
    model = MultiBoostClassifier("stump", 10, C=500.0, solver=solver, tol=0).fit(X, y)
    assert model.stop_reason_ == "n_estimators" and model.n_iter_ == 10
    assert len(model.ensemble_.learners) == 10
    for r, scores in enumerate(model.staged_decision_function(X), start=1):
        coef = model.ensemble_.coef(r).toarray()
        assert (coef >= 0).all()
        value = objective(model, X, codes, r)
        assert model.history_["objective"][r - 1] == pytest.approx(value, rel=1e-9)
        error = np.mean(scores.argmax(axis=1) != codes)
        assert model.history_["train_error"][r - 1] == pytest.approx(error)
        assert model.history_["n_nonzero"][r - 1] == np.count_nonzero(coef)
    assert (np.diff(model.history_["objective"]) <= 0).all()
    assert (model.history_["gap"] >= 0).all()
    if solver == "lbfgsb":
        assert (model.history_["master_gap"] <= 1e-2).all()


def test_the_column_of_a_round_is_the_best_over_learners_and_classes(small):
    X, y = small
    codes = np.unique(y, return_inverse=True)[1]
    model = MultiBoostClassifier("stump", 6, C=500.0, solver="fcd", tol=0).fit(X, y)
    stumps = slow_boosting.stump_table(X)
    scores = np.zeros((len(y), codes.max() + 1))
    for r, after in enumerate(model.staged_decision_function(X)):
        rows = np.arange(len(y))
        R = -np.exp(scores - scores[rows, codes][:, None])
        R[rows, codes] = -1.0 - R.sum(axis=1)
        best = np.abs(stumps @ R).max()
        chosen = model.ensemble_.learners.take([r]).outputs(X)[:, 0].astype(float)
        assert (chosen @ R).max() == pytest.approx(best, rel=1e-9)
        scores = after


def test_it_stops_when_no_column_pays(small):
    X, y = small
    model = MultiBoostClassifier("stump", 500, C=8.0, gap_tol=1e-6).fit(X, y)
    assert model.stop_reason_ in ("optimal", "tol")
    assert model.n_iter_ < 500
    gap = model.history_["objective"][-1] - model.history_["dual_bound"][-1]
    assert 0 <= gap <= 1e-5 * model.history_["objective"][-1]
    with pytest.warns(UserWarning, match=r"C=1e-09: the model predicts the shares"):
        nothing = MultiBoostClassifier("stump", 5, C=1e-9).fit(X, y)
    assert nothing.n_iter_ == 0 and nothing.stop_reason_ == "optimal"
    shares = np.unique(y, return_counts=True)[1] / len(y)
    np.testing.assert_allclose(nothing.predict_proba(X[:1])[0], shares, rtol=1e-12)


def test_a_gap_below_rounding_is_a_warning(small):
    X, y = small
    with pytest.warns(ConvergenceWarning, match="of 5 rounds .* gap_tol=1e-300"):
        MultiBoostClassifier("stump", 5, C=1e4, solver="lbfgsb", gap_tol=1e-300).fit(X, y)


@pytest.mark.filterwarnings("error")
def test_few_passes_reach_the_same_optimum(small):
    X, y = small
    settings = {"weak_learner": "stump", "n_estimators": 300, "C": 20.0, "tol": 0}
    precise = MultiBoostClassifier(gap_tol=1e-5, **settings).fit(X, y)
    few = MultiBoostClassifier(solver="fcd", max_working_sets=2, **settings).fit(X, y)
    assert precise.stop_reason_ == few.stop_reason_ == "optimal"
    assert few.history_["objective"][-1] == pytest.approx(precise.history_["objective"][-1], 1e-5)
    assert few.history_["gap"][-1] <= 1e-5 * few.history_["objective"][-1]
