"""Init models: base scores as an offset of the margins, out of sample in training."""

import re
import warnings

import numpy as np
import pytest
from models import paper
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cwboost import CWBoostClassifier, FittedInit, InitModel, get_init
from cwboost.families.init_models import resolve_init
from cwboost.kernels import softmax
from cwboost.master import RestrictedMaster

LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def test_base_scores_that_overflow_are_an_error():
    with pytest.raises(OverflowError, match="base scores"):
        RestrictedMaster([1, 1], 1.0, base=np.array([[0.0, 1e4], [0.0, 0.0]]))


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


WEIGHT = np.arange(1.0, 151.0)


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


class WithoutGaps(GaussianNB):
    """Probabilities of rows with gaps are NaN."""

    def predict_proba(self, X):
        p = super().predict_proba(np.nan_to_num(X))
        p[np.isnan(X).any(axis=1)] = np.nan
        return p


@pytest.mark.parametrize("family", ["stump", "tree"])
def test_rows_without_a_score_are_blamed_on_the_init_model(iris, family):
    X, y = iris
    clf = CWBoostClassifier(family, init=WithoutGaps(), n_estimators=2).fit(X, y)
    gap = X.copy()
    gap[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"init model .*WithoutGaps.*got row 7 with .*nan"):
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


ALONE = np.where(np.arange(150) == 0, 9, np.arange(150) % 3)
UNSUITED = {
    "40 rows": ("kernel", np.eye(40, 4), np.arange(40) % 3),
    "a class of one example": (LogisticRegression(), np.eye(150, 4), ALONE),
}


@pytest.mark.parametrize("what", UNSUITED)
def test_an_init_model_that_was_named_does_not_leave_unnoticed(what):
    init, X, y = UNSUITED[what]
    with pytest.warns(UserWarning, match=f"init={re.escape(repr(init))} cannot be fitted"):
        clf = CWBoostClassifier(init=init, n_estimators=3).fit(X, y)
    assert clf.init_ is None and repr(init) in clf.plan_.reasons["init"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CWBoostClassifier(n_estimators=3).fit(X, y)
