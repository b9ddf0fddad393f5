"""Training on real data: the certificate, monotone objectives, repeatability, continuation."""

from dataclasses import replace

import numpy as np
import pytest
from models import CLASSIFIERS, objective, paper, stages
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from cwboost import CWBoostClassifier, StumpFamily, load_model
from cwboost.datasets import load_pendigits, load_vowel


@pytest.fixture(scope="module")
def pendigits():
    X, y = load_pendigits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    cut = 3 * len(y) // 4
    return X[order[:cut]], y[order[:cut]], X[order[cut:]], y[order[cut:]]


@pytest.mark.slow
def test_certificate_on_vowel(halves):
    """Run until no stump violates: objective and bound over ALL stumps meet."""
    X, y, *_ = halves
    clf = paper(C=1e3, n_estimators=2000, epsilon=1e-5, max_working_sets=100, tol=0.0).fit(X, y)
    assert clf.stop_reason_ == "optimal"
    objective, bound = clf.history_["objective"][-1], clf.history_["dual_bound"][-1]
    assert bound <= objective * (1 + 1e-12)
    assert objective - bound <= 1e-3 * objective


@pytest.mark.parametrize(
    "model",
    [
        paper(C=1e5),
        paper(C=1e2),
        stages(C=1e8),
        stages(C=1e8, learning_rate=0.1),
        stages(C=1e8, learning_rate=0.01),
        stages(C=1e12, learning_rate=0.7, subsample=0.5),
        stages("tree", C=1e12, subsample=0.5),
        paper(solver="lbfgsb"),
        paper(init=LogisticRegression(max_iter=5000)),
    ],
)
def test_the_objective_never_rises(halves, model):
    n_estimators = 8 if model.solver == "lbfgsb" else 80
    model.set_params(tol=0.0, n_estimators=n_estimators).fit(*halves[:2])
    objective = model.history_["objective"]
    assert len(objective) > 1
    assert not (model.history_["dual_bound"] > objective).any()
    assert (np.diff(objective) <= 1e-12 * objective[1:]).all()


@pytest.mark.parametrize("correction", ["classwise", "total"])
def test_columns_of_trees_belong_to_one_class_each(halves, correction):
    X, y, *_ = halves
    options = {"correction": correction, "C": 1e4, "n_estimators": 3, "tol": 0.0, "random_state": 0}
    clf = CWBoostClassifier("tree", init=None, **options)
    ensemble = clf.fit(X, y).ensemble_
    assert not ensemble.learners.is_graded
    assert set(np.unique(ensemble.learners.outputs(X))) == {-1, 1}
    columns = 3 * len(clf.classes_)
    assert len(ensemble.learners) == columns == len(set(ensemble.path.column))


@pytest.mark.parametrize("weak_learner", ["stump", "tree"])
def test_a_smaller_C_takes_smaller_steps(halves, weak_learner):
    X, y, *_ = halves

    def largest(C):
        clf = stages(weak_learner, C=C, n_estimators=1, learning_rate=1.0, subsample=1.0)
        return np.abs(clf.fit(X, y).decision_function(X)).max()

    assert largest(30.0) < largest(300.0) < largest(1e12) * (1 + 1e-9)
    assert largest(1e12) == pytest.approx(largest(None), rel=1e-6)


@pytest.mark.parametrize("data", ["halves", "pendigits"])
def test_fast_convergence(data, request):
    """With C = 1e5 total correction fits the training part within 50 rounds, and generalises."""
    X, y, X_test, y_test = request.getfixturevalue(data)
    clf = paper(C=1e5, n_estimators=100).fit(X, y)
    assert (clf.history_["train_error"][49:] == 0.0).all()
    assert clf.score(X_test, y_test) > {"halves": 0.78, "pendigits": 0.97}[data]


@pytest.mark.slow
def test_long_stagewise_run_on_separable_data(halves):
    """2,000 rounds at C = 1e8: no overflow, no NaN, no stall."""
    X, y, *_ = halves
    clf = stages(C=1e8, n_estimators=2000, tol=0.0).fit(X, y)
    values = clf.history_["objective"]
    assert len(values) == 2000
    assert np.isfinite(values).all()
    assert (np.diff(values) <= 1e-12 * values[1:]).all()
    assert values[-1] < 1e-2 * values[100]
    # After 31 rebuilds, the state still matches the coefficients.
    assert values[-1] == pytest.approx(objective(clf, X, y), rel=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        stages(correction="total", n_estimators=30, C=1e4, subsample=0.8),
        stages(n_estimators=30, C=1e4, subsample=0.8),
        *(classifier("stump", n_estimators=8, random_state=0) for classifier in CLASSIFIERS[1:]),
    ],
)
def test_threads_and_repetition_give_the_same_bits(pendigits, model):
    X, y, X_test, _ = pendigits
    first, *others = (clone(model).set_params(n_jobs=n).fit(X, y) for n in (1, 2, 1))
    for other in others:
        np.testing.assert_array_equal(
            other.decision_function(X_test), first.decision_function(X_test)
        )
        np.testing.assert_array_equal(other.history_["objective"], first.history_["objective"])


def test_without_a_column_the_class_prior_is_predicted(halves, tmp_path):
    """With a small C the optimum has no columns: shares of classes, and a warning says so."""
    X, y, *_ = halves
    X, y = X[y != y[0]], y[y != y[0]]
    weight = np.where(y == y[-1], 2.0, 1.0)
    clf = paper(C=1e-3)
    with pytest.warns(UserWarning, match=r"C=0.001: the model predicts the shares.*raise C"):
        clf.fit(X, y, weight)
    assert clf.stop_reason_ == "optimal"
    assert clf.n_iter_ == 0
    shares = np.bincount(y, weight)[clf.classes_] / weight.sum()
    np.testing.assert_allclose(clf.predict_proba(X[:1])[0], shares, rtol=1e-12)
    assert set(clf.predict(X)) == {y[-1]}
    for staged, whole in (
        (clf.staged_predict, clf.predict),
        (clf.staged_predict_proba, clf.predict_proba),
        (clf.staged_decision_function, clf.decision_function),
    ):
        (stage,) = staged(X)
        np.testing.assert_array_equal(stage, whole(X))
    clf.save(tmp_path / "model")
    assert (load_model(tmp_path / "model").predict_proba(X) == clf.predict_proba(X)).all()
    clf.set_params(C=1e4, n_estimators=3, warm_start=True).fit(X, y, weight)
    cold = clone(clf).set_params(warm_start=False).fit(X, y, weight)
    np.testing.assert_array_equal(clf.decision_function(X), cold.decision_function(X))


@pytest.mark.slow
def test_a_bad_draw_does_not_end_training():
    """Twelve examples: a node draws one of two features, which may give trees without a split."""
    X = np.array([[a, b] for a in (1.0, 2.0, 3.0) for b in (1.0, 2.0, 3.0, 4.0)])
    y = np.array([1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2])
    for seed in range(60):
        clf = paper("tree", n_estimators=10, random_state=seed).fit(X, y)
        assert clf.score(X, y) == 1.0


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (paper(), "optimal"),
        (paper(subsample=0.5), "no column"),
        (stages(subsample=0.5), "no column"),
        (paper("projection"), "no column"),
    ],
)
def test_only_pricing_of_all_examples_proves_optimality(halves, model, reason):
    """At this C no weak learner pays; only exact pricing without subsampling proves it."""
    with pytest.warns(UserWarning, match="raise C"):
        model.set_params(C=1e-3).fit(*halves[:2])
    assert model.stop_reason_ == reason


def test_training_goes_on_between_the_rounds_that_end_it():
    """Where no new column pays, epsilon falls round by round: a continuation knows how far."""
    X, y = load_vowel(return_X_y=True)
    options = {"C": 1e2, "n_estimators": 300, "tol": 0.0}
    whole = paper(**options).fit(X, y)
    assert whole.stop_reason_ == "optimal"
    last = whole.n_iter_
    for cut in range(last - 6, last):
        parts = paper(**options | {"n_estimators": cut}, warm_start=True).fit(X, y)
        parts.set_params(n_estimators=300).fit(X, y)
        np.testing.assert_array_equal(parts.history_["objective"], whole.history_["objective"])
        np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))


class BothPriced(StumpFamily):
    """Stumps that do not say that the negative of each is one."""

    capabilities = replace(StumpFamily().capabilities, symmetric=False)


def test_one_score_of_two_classes_has_the_same_optimum():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:150, :8], y[:150]
    params = {"init": None, "correction": "total", "C": 50.0, "n_estimators": 400, "tol": 1e-9}
    one, both = (
        CWBoostClassifier(family, **params).fit(X, y) for family in (StumpFamily(), BothPriced())
    )
    for clf in (one, both):
        assert clf.stop_reason_ == "optimal"
        assert 0 <= clf.history_["gap"][-1] <= 1e-3 * clf.history_["objective"][-1]
    optima = [clf.history_["objective"][-1] for clf in (one, both)]
    np.testing.assert_allclose(*optima, rtol=1e-3)
    np.testing.assert_array_equal(one.predict(X), both.predict(X))
    assert len(one.class_columns(y.min()).coef) == 0 < len(both.class_columns(y.min()).coef)


@pytest.mark.parametrize("C", [1e8, 1e100, 1e150])
def test_a_large_C_is_solved(C):
    """Two separated groups: one step per class, whose optimum is known."""
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    clf = paper(C=C, n_estimators=50).fit(X, np.repeat([0, 1], 20))
    # min over w of w + C exp(-2 w) / ... is w + 1, where w is the logarithm of C.
    np.testing.assert_allclose(clf.history_["objective"][-1], np.log(C) + 1, rtol=1e-9)
    assert (clf.history_["dual_bound"] <= clf.history_["objective"]).all()
    assert clf.history_["gap"][-1] <= 1e-6 * clf.history_["objective"][-1]
