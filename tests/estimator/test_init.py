"""Init models: base scores as an offset of the margins, out of sample in training."""

import numpy as np
import pytest
import slow_master
from models import paper
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cwboost import CWBoostClassifier, FittedInit, InitModel, get_init, pack_outputs
from cwboost.families.init_models import SklearnInit, resolve_init
from cwboost.kernels import softmax
from cwboost.master import RestrictedMaster, largest
from cwboost.solvers.fcd import fcd
from cwboost.solvers.lbfgsb import lbfgsb

LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())


@pytest.fixture(scope="module")
def iris():
    """Without its only equal rows."""
    X, y = (np.delete(values, 142, axis=0) for values in load_iris(return_X_y=True))
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("seed", range(5))
def test_solvers_reach_the_optimum_with_offsets(seed):
    """Objective and bound are those of the definition by tests/project/test_theory.py."""
    rng = np.random.default_rng(seed)
    H, y, weight = slow_master.random_problem(rng, 4, 60, 5, weighted=True)
    order = np.argsort(y, kind="stable")
    base = rng.normal(size=(60, 4))

    def master():
        master = RestrictedMaster(np.bincount(y), 200.0, weight[order], base=base)
        for c, h in enumerate(H):
            master.add(np.full(5, c), pack_outputs(h[:, order].T))
        return master

    ours, rival = master(), master()
    fcd(ours, [], epsilon=1e-9, max_working_sets=3000, rng=rng)
    assert largest(ours.violations()) < 1e-6
    bound = ours.dual_bound(largest(ours.edges()))
    assert bound == pytest.approx(ours.objective, rel=1e-6)
    lbfgsb(rival, tol=1e-9, ftol=1e-15)
    assert rival.objective == pytest.approx(ours.objective, rel=1e-6)


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


def test_a_model_without_columns_predicts_its_base(halves):
    X, y, X_test, _ = halves
    clf = paper(init=LOGISTIC, C=1e-9, n_estimators=5)
    with pytest.warns(UserWarning, match="predicts the base scores"):
        clf.fit(X, y)
    np.testing.assert_allclose(clf.decision_function(X_test), clf.init_(X_test))


def test_constraints_exclude_the_default_init_model():
    X, y = np.arange(120.0).reshape(60, 2) % 7, np.arange(60) % 2
    assert CWBoostClassifier(monotonic_cst=[1, 0], n_estimators=2).fit(X, y).init_ is None
    clf = CWBoostClassifier(init=DummyClassifier(), n_estimators=2, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="monotonic_cst must be of the kind of the fitted model"):
        clf.set_params(init="auto", monotonic_cst=[1, 0], n_estimators=3).fit(X, y)


def test_names_instances_and_classifiers_are_taken_and_others_refused():
    assert resolve_init(None) is None
    assert isinstance(resolve_init("kernel"), get_init("kernel"))
    assert resolve_init(DummyClassifier()).estimator.get_params()["strategy"] == "prior"
    with pytest.raises(ValueError, match=r"unknown init model 'kernal'.*'kernel'"):
        resolve_init("kernal")
    for wrong in (3, LogisticRegression, StandardScaler()):
        with pytest.raises(TypeError, match="init must be"):
            resolve_init(wrong)
    with pytest.raises(ValueError, match="must be a classifier with predict_proba, got None"):
        CWBoostClassifier(init="sklearn").fit(np.eye(30), np.arange(30) % 2)


WEIGHT = np.arange(1.0, 150.0)


SEARCH = GridSearchCV(LOGISTIC, {"logisticregression__C": [0.1, 1.0]}, cv=2)
LAST = "logisticregression__sample_weight"


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize(
    "estimator, name",
    [
        (LogisticRegression(), "sample_weight"),
        (LOGISTIC, LAST),
        (make_pipeline(LOGISTIC), f"pipeline__{LAST}"),
        (SEARCH, LAST),
    ],
    ids=["classifier", "pipeline", "pipeline in another", "search"],
)
def test_weights_reach_the_classifier_that_takes_them(iris, estimator, name, routing):
    X, y = iris
    clf = CWBoostClassifier("stump", init=estimator, n_estimators=1, random_state=0)
    with config_context(enable_metadata_routing=routing):
        scores = clf.fit(X, y, WEIGHT).init_.fitted.scores(X)
    weight = {name: WEIGHT / WEIGHT.mean()}
    expected = clone(estimator).fit(X, y, **weight).predict_proba(X)
    np.testing.assert_allclose(softmax(scores), expected, atol=1e-4)


def test_a_classifier_without_weights_is_named(iris):
    X, y = iris
    clf = CWBoostClassifier("stump", init=KNeighborsClassifier(), n_estimators=1, random_state=0)
    with pytest.warns(UserWarning, match="init: KNeighborsClassifier takes no sample_weight"):
        weighted = clf.fit(X, y, WEIGHT).init_.fitted.scores(X)
    np.testing.assert_array_equal(weighted, clf.fit(X, y).init_.fitted.scores(X))


def test_a_classifier_without_weights_gets_copies(iris):
    X, y = iris
    clf = CWBoostClassifier("stump", init=KNeighborsClassifier(), n_estimators=1, random_state=0)
    counts = 1 + np.arange(len(y)) % 2
    init = clf.fit(X, y, counts).init_
    expected = KNeighborsClassifier().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    found = np.exp(init.fitted.scores(X))
    np.testing.assert_allclose(found, np.maximum(expected.predict_proba(X), 1e-6))


@pytest.mark.parametrize("family", ["stump", "tree"])
def test_rows_without_a_score_are_blamed_on_the_init_model(iris, family):
    X, y = iris
    clf = CWBoostClassifier(family, init=LogisticRegression(), n_estimators=2).fit(X, y)
    gap = X.copy()
    gap[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"init model .*LogisticRegression.*got row 7 with .*nan"):
        clf.predict(gap)


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
    with pytest.raises(ValueError, match="init model 'broken': scores must"):
        CWBoostClassifier("stump", init=Broken(scores), n_estimators=2).fit(X, y)
