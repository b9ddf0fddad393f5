"""Weights and labels: errors name the argument, and scaling by a power of two changes no bit."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

import cwboost
from cwboost import CWBoostClassifier
from cwboost.estimator.problem import sort_by_class

X, Y = load_iris(return_X_y=True)


def small(**parameters):
    settings = {"weak_learner": "stump", "init": None, "n_estimators": 3, "random_state": 0}
    return CWBoostClassifier(**settings | parameters)


ALL = np.ones(len(Y))
FINITE = "^class_weight must hold finite numbers >= 0, got"
REFUSED = [
    ({"y": 0 * Y}, {}, "at least two classes"),
    ({"y": X[:, 0] / 3}, {}, r"^y must hold class labels\. Unknown label type: conti"),
    ({"y": np.array(["a", 1, 2.5] * 50, dtype=object)}, {}, "^y must hold labels of one type"),
    ({"y": Y[:5]}, {}, "inconsistent numbers of samples"),
    ({"X": X[:, 0]}, {}, "Expected 2D array"),
    ({"X": X[:0], "y": Y[:0]}, {}, "0 sample"),
    ({"X": np.full((150, 2), "a", dtype=object)}, {}, "got text in .*column 1"),
    ({"X_val": X}, {}, "X_val and y_val"),
    ({"sample_weight_val": ALL}, {}, "sample_weight_val needs X_val"),
    ({"X_val": X, "y_val": Y[:3]}, {}, "X_val and y_val must have as many rows, got 150 and 3"),
    ({"X_val": X, "y_val": Y + 1}, {}, "y_val must hold only training labels, got .*3"),
    ({"sample_weight": (Y == 1) * 1.0}, {}, "at least two classes"),
    (
        {"sample_weight": 1e300 * ALL},
        {0: 1e10},
        "^sample_weight times class_weight must have a f",
    ),
    ({}, {0: np.nan}, f"{FINITE} nan for the class .*0"),
    ({}, {1: np.inf}, f"{FINITE} inf for the class .*1"),
    ({}, {2: -1.0}, f"{FINITE} -1.0 for the class .*2"),
]


@pytest.mark.parametrize(("arguments", "class_weight", "message"), REFUSED)
def test_bad_data_is_named(arguments, class_weight, message):
    clf = small(class_weight=class_weight or None)
    with warnings.catch_warnings(), pytest.raises(ValueError, match=message):
        warnings.simplefilter("error")
        clf.fit(**{"X": X, "y": Y} | arguments)


def test_labels_of_another_type_are_named():
    names = np.array(["a", "b", "c"], dtype=object)[Y]
    with pytest.raises(ValueError, match="y_val must hold only training labels"):
        small().fit(X, names, X_val=X, y_val=Y)


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
