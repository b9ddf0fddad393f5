"""Init models: base scores as an offset of the margins, out of sample in training."""

import numpy as np
import pytest
from attack_plugins import init_model
from models import paper
from scipy.optimize import minimize
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cwboost import (
    CWBoostClassifier,
    CWBoostClassifierCV,
    FittedInit,
    InitModel,
    get_init,
    load_model,
    pack_outputs,
)
from cwboost.families.init_models import SklearnInit, resolve_init
from cwboost.master import RestrictedMaster, largest
from cwboost.solvers.fcd import fcd
from cwboost.solvers.lbfgsb import lbfgsb

LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())


def problem(seed, n_classes=4, n=60, columns=5):
    """A restricted master with random columns and base scores, and what it was made of."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n - n_classes, np.ones(n_classes) / n_classes) + 1
    y = np.repeat(np.arange(n_classes), counts)
    H = rng.choice([-1, 1], (n_classes, columns, n)).astype(np.int8)
    base, weight = rng.normal(size=(n, n_classes)), rng.uniform(0.5, 1.5, n)
    master = RestrictedMaster(counts, 200.0, weight, base=base)
    for c in range(n_classes):
        master.add(np.full(columns, c), pack_outputs(H[c].T))
    return master, H, y, base, weight


def objective(master, H, y, base, weight, coef):
    scores = base + np.einsum("cj,cji->ic", coef, H)
    gaps = np.exp(scores - scores[np.arange(len(y)), y][:, None]) * weight[:, None]
    gaps[np.arange(len(y)), y] = 0.0
    return coef.sum() + gaps.sum() / master.q


@pytest.mark.parametrize("seed", range(5))
def test_solvers_reach_the_optimum_and_the_bound_with_offsets(seed):
    given = problem(seed)
    master, H = given[:2]

    def value(flat):
        return objective(*given, flat.reshape(H.shape[:2]))

    start, bounds = np.zeros(H[:, :, 0].size), [(0, None)] * H[:, :, 0].size
    best = minimize(value, start, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-13}).fun
    assert master.objective == pytest.approx(value(start), rel=1e-12)
    fcd(master, [], epsilon=1e-9, max_working_sets=3000, rng=np.random.default_rng(0))
    assert master.objective == pytest.approx(best, rel=1e-6)
    assert largest(master.violations()) < 1e-6
    coef = np.array(master.coef)
    assert master.objective == pytest.approx(objective(*given, coef), rel=1e-10)
    bound = master.dual_bound(largest(master.edges()))
    assert bound == pytest.approx(master.objective, rel=1e-6)
    other = problem(seed)[0]
    lbfgsb(other, tol=1e-9, ftol=1e-15)
    assert other.objective == pytest.approx(best, rel=1e-6)


def test_base_scores_that_overflow_are_an_error():
    with pytest.raises(OverflowError, match="base scores"):
        RestrictedMaster([1, 1], 1.0, base=np.array([[0.0, 1e4], [0.0, 0.0]]))


def test_training_sees_scores_without_the_examples_own_label():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 2)), np.sort(rng.integers(0, 3, 150))
    forest = RandomForestClassifier(20, random_state=0)
    model = SklearnInit(forest)
    clf = CWBoostClassifier("stump", init=model, n_estimators=1, random_state=0).fit(X, y)
    # A forest knows its own examples by heart; out of sample, noise stays noise.
    fitted = clf.init_.fitted.scores(X)
    assert (np.argmax(fitted, axis=1) == y).mean() > 0.95
    assert clf.history_["train_error"][0] > 0.4
    out_of_sample = cross_val_predict(forest, X, y, cv=5)
    assert clf.history_["train_error"][0] == pytest.approx(np.mean(out_of_sample != y), abs=0.15)


@pytest.mark.parametrize("correction", ["stagewise", "total"])
def test_boosting_improves_on_the_model_that_it_starts_from(halves, correction):
    X, y, X_test, y_test = halves
    alone = LOGISTIC.fit(X, y).score(X_test, y_test)
    params = {"n_estimators": 60, "correction": correction, "random_state": 0}
    pure = CWBoostClassifier("tree", init=None, **params).fit(X, y).score(X_test, y_test)
    both = CWBoostClassifier("tree", init=LOGISTIC, **params).fit(X, y).score(X_test, y_test)
    assert both > alone + 0.1
    assert both > pure - 0.03


def test_history_starts_at_the_objective_of_the_base(halves):
    X, y, *_ = halves
    params = {"correction": "total", "n_estimators": 15, "random_state": 0}
    clf = CWBoostClassifier("stump", init=LogisticRegression(max_iter=5000), **params).fit(X, y)
    history = clf.history_
    assert (np.diff(history["objective"]) <= 1e-9 * history["objective"][:-1]).all()
    assert (history["dual_bound"] <= history["objective"]).all()
    assert history["gap"][-1] < history["gap"][0]


def test_scores_are_base_plus_votes(halves):
    X, y, X_test, _ = halves
    clf = CWBoostClassifier(n_estimators=8, init="kernel", random_state=0).fit(X, y)
    votes = clf.ensemble_.scores(X_test)
    np.testing.assert_array_equal(clf.decision_function(X_test), votes + clf.init_(X_test))
    *_, last = clf.staged_decision_function(X_test)
    np.testing.assert_allclose(last, clf.decision_function(X_test), atol=1e-12)
    few = clf.decision_function(X_test, n_estimators=2)
    np.testing.assert_array_equal(few, clf.ensemble_.scores(X_test, n_rounds=2) + clf.init_(X_test))


def test_what_no_file_can_hold_is_refused_when_saved(halves, tmp_path):
    X, y, *_ = halves
    clf = CWBoostClassifier("stump", init=GaussianNB(), n_estimators=2).fit(X, y)
    with pytest.raises(TypeError, match=r"init.*GaussianNB"):
        clf.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_init_model_is_saved_with_its_parameters_if_it_is_registered(halves, tmp_path):
    X, y, *_ = halves
    kernel = get_init("kernel")(max_landmarks=60)
    clf = CWBoostClassifier("stump", init=kernel, n_estimators=2, random_state=0).fit(X, y)
    clf.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.init.max_landmarks == loaded.init_.model.max_landmarks == 60
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
    clf = CWBoostClassifier("stump", init=init_model(), n_estimators=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="init: the init model 'acme' must be registered"):
        clf.save(tmp_path / "model")


def test_a_path_over_C_keeps_the_base(halves):
    X, y, X_test, y_test = halves
    inner = paper(init=LOGISTIC, n_estimators=10)
    search = CWBoostClassifierCV(inner, Cs=[1e2, 1e3], cv=2).fit(X, y)
    assert search.best_estimator_.init_ is not None
    assert search.score(X_test, y_test) > 0.5


def test_two_classes_and_example_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    for init in (LogisticRegression(), "kernel"):
        clf = CWBoostClassifier(n_estimators=5, init=init, random_state=0)
        clf.fit(X, y, sample_weight=rng.uniform(0.5, 2, 300))
        assert clf.score(X, y) > 0.7
        assert clf.decision_function(X).shape == (300,)


def test_a_model_without_columns_predicts_its_base(halves):
    X, y, X_test, _ = halves
    clf = paper(init=LOGISTIC, C=1e-9, n_estimators=5)
    with pytest.warns(UserWarning, match="predicts the base scores"):
        clf.fit(X, y)
    np.testing.assert_allclose(clf.decision_function(X_test), clf.init_(X_test))


def test_constraints_and_init_models_exclude_each_other():
    X, y = np.arange(120.0).reshape(60, 2) % 7, np.arange(60) % 2
    assert CWBoostClassifier(monotonic_cst=[1, 0], n_estimators=2).fit(X, y).init_ is None
    with pytest.raises(ValueError, match="init must be 'auto' or None with monotonic_cst"):
        CWBoostClassifier(monotonic_cst=[1, 0], init="kernel", n_estimators=2).fit(X, y)


def test_names_instances_and_classifiers_are_taken_and_others_refused():
    assert resolve_init(None) is None
    assert isinstance(resolve_init("kernel"), get_init("kernel"))
    assert resolve_init(DummyClassifier()).estimator.get_params()["strategy"] == "prior"
    with pytest.raises(ValueError, match=r"unknown init model 'kernal'.*'kernel'"):
        resolve_init("kernal")
    for wrong in (3, LogisticRegression, StandardScaler()):
        with pytest.raises(TypeError, match="init must be"):
            resolve_init(wrong)


class Broken(InitModel):
    """An init model whose scores are what the parameter says."""

    name, api_version, fitted_type = "broken", 1, FittedInit

    def __init__(self, scores=None):
        self.scores = scores

    def fit(self, X, y, context):
        assert not X.flags.writeable
        return object(), self.scores


@pytest.mark.parametrize("scores", [np.zeros((3, 2)), np.full((40, 2), np.nan), "none"])
def test_scores_of_a_broken_init_model_are_named(scores):
    X, y = np.arange(80.0).reshape(40, 2), np.arange(40) % 2
    with pytest.raises(ValueError, match="init model 'broken': scores must be"):
        CWBoostClassifier("stump", init=Broken(scores), n_estimators=2).fit(X, y)
