"""Classifiers of scikit-learn as weak learners: what is fitted, kept, stored and refused."""

import pickle

import numpy as np
import pytest
from models import bind, paper
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from cwboost import SklearnFamily
from cwboost.datasets import load_vowel

FLAT = [
    DecisionTreeClassifier(max_depth=4),
    ExtraTreeClassifier(max_depth=4),
    LogisticRegression(C=0.1, tol=1e-2),
    RidgeClassifier(),
    SGDClassifier(max_iter=3, tol=None),
    Perceptron(max_iter=3, tol=None),
    LinearSVC(dual=False, fit_intercept=False),
]


@pytest.fixture(scope="module")
def data():
    X, y = load_vowel(return_X_y=True)
    return train_test_split(X, y, test_size=0.5, random_state=0)


@pytest.mark.parametrize("estimator", FLAT, ids=lambda e: type(e).__name__)
def test_the_flat_form_predicts_as_the_estimator(data, estimator):
    X = data[0].astype(np.float32).astype(np.float64)
    rng = np.random.default_rng(3)
    # Labels that every classifier can learn: a constant must not be better.
    weights = (np.where(X[:, 0] > np.median(X[:, 0]), 1, -1) * rng.exponential(size=len(X)))[None]
    estimator = clone(estimator)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=7)
    priced = bind(SklearnFamily(estimator), X).price(weights)
    size = np.abs(weights[0]) / np.abs(weights[0]).max()
    label = np.where(weights[0] > 0, 1, -1)
    expected = clone(estimator).fit(X, label, sample_weight=size / size.mean()).predict(X)
    outputs = priced.learners.outputs(X)[:, 0]
    assert abs(outputs @ expected) == len(X)
    assert priced.edges[0] == pytest.approx(weights[0] @ outputs)


def test_any_other_classifier_trains_predicts_and_is_not_saved(data, tmp_path):
    X, X_test, y, y_test = data
    clf = paper(SklearnFamily(GaussianNB()), n_estimators=5)
    with pytest.warns(UserWarning, match="GaussianNB learners can be pickled, but not saved"):
        clf.fit(X, y)
    assert clf.score(X_test, y_test) > 0.5
    copy = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(copy.decision_function(X_test), clf.decision_function(X_test))
    with pytest.raises(TypeError, match=r"GaussianNB, which a model file cannot hold: .*pickle"):
        clf.save(tmp_path / "model.cwb")
    with pytest.raises(TypeError, match="only these have a form in flat arrays: DecisionTree"):
        clf.ensemble_.learners.arrays()
    assert list(tmp_path.iterdir()) == []


def test_weights_reach_classifiers_within_a_classifier(data):
    X, _, y, _ = data
    family = SklearnFamily(CalibratedClassifierCV(LogisticRegression(), cv=2))
    found = []
    for routing in (False, True):
        with (
            config_context(enable_metadata_routing=routing),
            pytest.warns(UserWarning, match="pickled"),
        ):
            found.append(paper(family, n_estimators=2).fit(X, y).decision_function(X))
    np.testing.assert_array_equal(*found)


def test_a_class_of_the_same_name_is_not_taken_for_that_of_scikit_learn(data, tmp_path):
    class DecisionTreeClassifier(GaussianNB):
        pass

    clf = paper(SklearnFamily(DecisionTreeClassifier()), n_estimators=2)
    with pytest.warns(UserWarning, match="not saved"):
        clf.fit(data[0], data[2])
    with pytest.raises(TypeError, match="cannot hold"):
        clf.save(tmp_path / "model.cwb")


def test_missing_values_go_where_the_tree_sends_them(data):
    X = data[0].copy()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    weights = np.random.default_rng(3).normal(size=(1, len(X)))
    tree = DecisionTreeClassifier(max_depth=4, random_state=1)
    size = np.abs(weights[0]) / np.abs(weights[0]).max()
    fitted = tree.fit(X, np.where(weights[0] > 0, 1, -1), sample_weight=size / size.mean())
    outputs = bind(SklearnFamily(tree), X).price(weights).learners.outputs(X)[:, 0]
    # scikit-learn compares in float32.
    assert (outputs == fitted.predict(X)).mean() > 0.99
    assert SklearnFamily(tree).capabilities.missing_values
    assert not SklearnFamily(RidgeClassifier()).capabilities.missing_values


def test_values_beyond_float32_are_taken_by_trees():
    X = np.array([[1e300], [-1e300], [np.inf], [2.0]])
    weights = np.array([[1.0, -1.0, 1.0, -1.0]])
    priced = bind(SklearnFamily(None), X).price(weights)
    assert priced.edges[0] == 4.0


@pytest.mark.parametrize(
    "estimator, message",
    [
        (KNeighborsClassifier(), "whose fit takes sample_weight"),
        (KMeans(), "estimator must be a classifier"),
        (DecisionTreeClassifier, "must be an instance"),
        ("tree", "must be an instance"),
    ],
)
def test_estimators_are_checked(estimator, message):
    with pytest.raises(ValueError, match=message):
        bind(SklearnFamily(estimator), np.eye(4))


def test_a_hostile_file_names_no_other_class():
    from cwboost.model_file.container import ModelFileError
    from cwboost.model_file.values import Decoder

    for node in (
        {"$": "estimator", "name": "MLPClassifier", "params": {}},
        {"$": "estimator", "name": 3, "params": {}},
        {"$": "estimator", "name": "Perceptron", "params": {"no_such": 1}},
        {"$": "estimator", "name": "Perceptron", "params": []},
    ):
        with pytest.raises(ModelFileError):
            Decoder({}).decode(node, "here")


def test_trees_that_scikit_learn_cannot_have_are_refused(data):
    X = data[0]
    family = SklearnFamily(DecisionTreeClassifier(max_depth=2))
    learners = bind(family, X, 2).price(np.random.default_rng(0).normal(size=(2, len(X)))).learners
    arrays = learners.arrays()
    graded = arrays | {"output": np.stack(2 * [arrays["output"]], axis=1)}
    assert family.learners_type.from_arrays(arrays, X.shape[1]).outputs(X).any()
    with pytest.raises(ValueError, match=r"output must be -1 or \+1 in leaves"):
        family.learners_type.from_arrays(graded, X.shape[1])
