"""Weights and labels: errors name the argument, and scaling by a power of two changes no bit."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

import cwboost
from cwboost import CWBoostClassifier
from cwboost.estimator.parameters import check_weight
from cwboost.estimator.problem import check_labels, sort_by_class
from cwboost.kernels import threads

X, Y = load_iris(return_X_y=True)


def small(**parameters):
    settings = {"weak_learner": "stump", "n_estimators": 3, "random_state": 0}
    return CWBoostClassifier(**settings | parameters)


@pytest.mark.parametrize("family", ["stump", "tree", "projection"])
@pytest.mark.parametrize(
    "weight, class_weight, message",
    [
        (1e308, None, "^sample_weight must sum to a finite number, got inf: divide all"),
        (1e300, {0: 1e10}, "^sample_weight times class_weight must sum to a finite number"),
        (
            1.0,
            {0: np.nan},
            "^class_weight must hold finite numbers >= 0, got nan for the class .*0",
        ),
        (
            1.0,
            {1: np.inf},
            "^class_weight must hold finite numbers >= 0, got inf for the class .*1",
        ),
        (1.0, {2: -1.0}, "^class_weight must hold finite numbers >= 0, got -1.0 for the class .*2"),
    ],
)
def test_weights_that_overflow_are_named(family, weight, class_weight, message):
    """Errors blamed the tree or a matrix; NaN and negative factors left classes out."""
    clf = small(weak_learner=family, class_weight=class_weight)
    with warnings.catch_warnings(), pytest.raises(ValueError, match=message):
        warnings.simplefilter("error")
        clf.fit(X, Y, sample_weight=np.full(len(Y), weight))


def test_weights_of_held_out_examples_that_overflow_are_named():
    with pytest.raises(ValueError, match="sample_weight_val must sum to a finite number, got inf"):
        check_weight(np.full(3, 1e308), 3, "sample_weight_val")
    assert check_weight([0.0, 5e-324], 2, "sample_weight_val").tolist() == [0.0, 5e-324]


@pytest.mark.parametrize("power", [-900, -1, 3, 900])
def test_a_common_power_of_two_changes_no_bit(power):
    weight = np.random.default_rng(0).exponential(size=len(Y))
    problem, _ = sort_by_class(X, Y, weight, None)
    scaled, _ = sort_by_class(X, Y, np.ldexp(weight, power), None)
    np.testing.assert_array_equal(scaled.weight, problem.weight)
    for classifier in (cwboost.AdaBoostMHClassifier("stump", n_estimators=5), small()):
        scores = classifier.fit(X, Y, sample_weight=weight).decision_function(X)
        classifier.fit(X, Y, sample_weight=np.ldexp(weight, power))
        np.testing.assert_array_equal(classifier.decision_function(X), scores)


@pytest.mark.parametrize("name", ["y", "y_val"])
@pytest.mark.parametrize(
    "y",
    [
        np.array([0.0, 1.0, np.nan]),
        np.array([0.0, 1.0, np.inf]),
        np.array(["a", "b", None], dtype=object),
        np.array(["a", "b", np.nan], dtype=object),
        np.array([1, 2, None], dtype=object),
        np.array([1.5, 2.5, 0.1]),
    ],
    ids=repr,
)
def test_labels_that_are_none_are_errors_of_y(y, name):
    with pytest.raises(ValueError, match=f"^{name} must hold class labels"):
        check_labels(y, name)


def test_missing_values_of_pandas_are_no_labels():
    pd = pytest.importorskip("pandas")
    for missing in (pd.NA, pd.NaT):
        with pytest.raises(ValueError, match=r"^y must hold class labels, got .* for example 1"):
            check_labels(np.array(["a", missing], dtype=object))


def test_more_threads_than_are_used_are_warned_of_once(monkeypatch):
    monkeypatch.setattr(threads._Process, "warned_of", 0)
    with pytest.warns(UserWarning, match="5000 threads are more than") as caught:
        found = small(n_jobs=5000).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(found, small(n_jobs=1).fit(X, Y).decision_function(X))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="6000 threads are more than"):
        small(n_jobs=6000).fit(X, Y)
