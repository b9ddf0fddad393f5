"""`CWBoostClassifier` as a scikit-learn estimator: labels, weights, early stopping, errors."""

import numpy as np
import pytest
from models import paper, stages
from sklearn.utils.estimator_checks import parametrize_with_checks

from cwboost import CWBoostClassifier


def explained(estimator):
    """Return the checks that cannot pass, each with the reason."""
    if estimator.weak_learner == "auto":
        check = "check_sample_weight_equivalence_on_{}_data"
        why = "some examples are drawn and others not, whatever their weights"
        return {check.format(kind): why for kind in ("dense", "sparse")}
    return {
        "check_class_weight_classifiers": (
            "expects a class of overwhelming weight to be predicted everywhere; a stump also "
            "says no where the training part has only examples of other classes"
        )
    }


@parametrize_with_checks([CWBoostClassifier(n_estimators=10)], expected_failed_checks=explained)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        paper(n_estimators=10),
        stages(n_estimators=10, C=1e4, learning_rate=0.5),
    ],
    expected_failed_checks=explained,
)
def test_sklearn_checks_of_variants(estimator, check):
    check(estimator)


def test_class_weight(vowel):
    X, y = vowel
    few = np.flatnonzero((y != 3) | (np.arange(len(y)) % 9 == 0))
    balanced = paper(n_estimators=10, class_weight="balanced")
    by_hand = paper(n_estimators=10)
    counts = np.bincount(y[few])
    balanced.fit(X[few], y[few])
    by_hand.fit(X[few], y[few], sample_weight=len(few) / (11 * counts[y[few]]))
    np.testing.assert_allclose(
        balanced.history_["objective"], by_hand.history_["objective"], rtol=1e-9
    )


def test_verbose_shows_a_bar(vowel, capsys):
    X, y = vowel
    paper(n_estimators=3, verbose=1).fit(X, y)
    shown = capsys.readouterr().err
    assert "loss" in shown and "gap" in shown and "train_error" in shown
    paper(n_estimators=3).fit(X, y)
    assert capsys.readouterr().err == ""


X, Y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"C": 0}, ValueError, "C must be > 0.0"),
        ({"C": np.inf}, ValueError, r"C must be > 0.0 and <= 1e\+150, got inf"),
        ({"C": 1.1e150}, ValueError, r"C must be > 0.0 and <= 1e\+150"),
        ({"C": "big"}, TypeError, "C must be a number"),
        ({"n_estimators": 0}, ValueError, "n_estimators must be >= 1"),
        ({"n_estimators": 2.5}, TypeError, "n_estimators must be an integer"),
        ({"correction": "partial"}, ValueError, "correction must be one of"),
        ({"solver": "mosek"}, ValueError, "solver must be one of"),
        (
            {"correction": "stagewise", "solver": "lbfgsb"},
            ValueError,
            "solver applies to .*'total'",
        ),
        ({"epsilon": -1}, ValueError, "epsilon"),
        ({"learning_rate": 1.5}, ValueError, "learning_rate must be > 0.0 and <= 1.0"),
        ({"learning_rate": 0.5}, ValueError, "learning_rate applies to"),
        ({"subsample": 0.0}, ValueError, "subsample"),
        ({"early_stopping": "auc"}, ValueError, "early_stopping must be a bool, one of"),
        ({"weak_learner": "neuron"}, ValueError, "unknown weak learner 'neuron'"),
        ({"weak_learner": 3}, TypeError, "weak_learner"),
    ],
)
def test_bad_parameters_are_named(params, error, message):
    with pytest.raises(error, match=message):
        CWBoostClassifier(**{"weak_learner": "stump", "correction": "total"} | params).fit(X, Y)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"y": np.zeros(6)}, ValueError, "at least two classes"),
        ({"y": X[:, 0] / 3}, ValueError, r"^y must hold class labels\. Unknown label type: conti"),
        ({"y": Y[:5]}, ValueError, "inconsistent numbers of samples"),
        ({"X": X[:, 0]}, ValueError, "Expected 2D array"),
        ({"X": X[:0], "y": Y[:0]}, ValueError, "0 sample"),
        ({"X": np.full((6, 2), "a", dtype=object)}, ValueError, "column 1 hold text"),
        ({"sample_weight": -np.ones(6)}, ValueError, "Negative values"),
        ({"sample_weight": np.zeros(6)}, ValueError, "at least one non-zero|all weights are zero"),
        ({"sample_weight": (Y == 1) * 1.0}, ValueError, "at least two classes"),
        ({"X_val": X}, ValueError, "X_val and y_val"),
        ({"X_val": X, "y_val": Y[:3]}, ValueError, "X_val has 6 rows and y_val 3"),
        ({"X_val": X, "y_val": Y + 1}, ValueError, "y_val must hold only training labels, got .*3"),
    ],
)
def test_bad_data_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        paper(n_estimators=2).fit(**({"X": X, "y": Y} | arguments))
