"""Parameters are checked in ``fit``, in the user's words; probabilities in all their forms."""

from dataclasses import replace

import numpy as np
import pytest
from models import CLASSIFIERS, paper
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold

from cwboost import (
    AdaBoostECCClassifier,
    AdaBoostMOClassifier,
    CWBoostClassifier,
    CWBoostClassifierCV,
    MultiBoostClassifier,
)
from cwboost.callbacks import TimeLimit

X, Y = load_iris(return_X_y=True)


def stop_early(state):
    return True


class Watcher:
    def on_round_end(self, state):
        return False


CW, MULTI, CV = [CWBoostClassifier], [MultiBoostClassifier], [CWBoostClassifierCV]
ECC, MO, WITH_C = [AdaBoostECCClassifier], [AdaBoostMOClassifier], CW + MULTI
REFUSED = [
    (CLASSIFIERS, {"n_estimators": 0}, ValueError, "n_estimators must be .*>= 1, got 0"),
    (CLASSIFIERS, {"n_estimators": 2.5}, TypeError, "n_estimators must be an integer"),
    (CLASSIFIERS, {"n_estimators": "many"}, (TypeError, ValueError), "n_estimators must be"),
    (CLASSIFIERS, {"weak_learner": "neuron"}, ValueError, "unknown weak learner 'neuron'"),
    (CLASSIFIERS, {"weak_learner": 3}, TypeError, "weak_learner"),
    (CLASSIFIERS, {"n_jobs": 0}, ValueError, "n_jobs must be a number of threads, -1 for all"),
    (CLASSIFIERS, {"n_jobs": "2"}, TypeError, "n_jobs must be an integer, got '2'"),
    (CLASSIFIERS, {"verbose": -1}, ValueError, "verbose must be >= 0, got -1"),
    (CLASSIFIERS, {"verbose": "yes"}, TypeError, "verbose must be an integer, got 'yes'"),
    (
        CLASSIFIERS,
        {"callbacks": [stop_early]},
        TypeError,
        r"\[0\] must be .* got <function stop_ear",
    ),
    (
        CLASSIFIERS,
        {"callbacks": [Watcher(), TimeLimit]},
        TypeError,
        r"\[1\] .* got <class .*TimeLimit",
    ),
    (CLASSIFIERS, {"callbacks": [None]}, TypeError, r"\[0\] must .*method on_round_end.* got None"),
    (CLASSIFIERS, {"callbacks": Watcher()}, TypeError, "callbacks must be a list or None"),
    (WITH_C, {"C": 0}, ValueError, "C must be > 0.0"),
    (WITH_C, {"C": np.inf}, ValueError, r"C must be > 0.0 and <= 1e\+150, got inf"),
    (WITH_C, {"C": 1.1e150}, ValueError, r"C must be > 0.0 and <= 1e\+150"),
    (WITH_C, {"C": "big"}, TypeError, "C must be a number"),
    (WITH_C, {"solver": "mosek"}, ValueError, "solver must be one of"),
    (WITH_C, {"tol": "small"}, TypeError, "tol must be a number"),
    (CW, {"correction": "partial"}, ValueError, "correction must be one of"),
    (
        CW,
        {"correction": "stagewise", "solver": "lbfgsb"},
        ValueError,
        "solver must be 'fcd' with correction='stagewise'",
    ),
    (CW, {"epsilon": -1}, ValueError, "epsilon"),
    (CW, {"learning_rate": 1.5}, ValueError, "learning_rate must be >= 1e-12 and <= 1.0"),
    (CW, {"learning_rate": 0.5}, ValueError, "learning_rate must be None or 1 with"),
    (CW, {"subsample": 0.0}, ValueError, "subsample"),
    (CW, {"early_stopping": "auc"}, ValueError, "early_stopping must be a bool, one of"),
    (CW, {"n_iter_no_change": "long"}, ValueError, "n_iter_no_change must be 'auto' or a number"),
    (MULTI, {"gap_tol": 0.0}, ValueError, "gap_tol must be > 0"),
    (MULTI, {"max_working_sets": 1}, ValueError, "max_working_sets must be >= 2"),
    (ECC, {"smoothing": 0.0}, ValueError, "smoothing must be > 0"),
    (MO, {"code": "ecoc"}, ValueError, "code must be 'random'"),
    (MO, {"code": np.ones((3, 3))}, ValueError, "the same code word"),
    (MO, {"code": np.zeros((3, 3))}, ValueError, "only -1 and"),
    (MO, {"code": np.ones((4, 3))}, ValueError, "one row for each of the 3 classes"),
    (MO, {"code_size": 4}, ValueError, "code_size must be at most 3, the splits of 3 classes"),
    (MO, {"code_size": 1}, ValueError, "large enough to distinguish 3 classes, got 1"),
    (MO, {"code": "exhaustive", "code_size": 3}, ValueError, "must be None unless code='random'"),
    (CV, {"Cs": ()}, ValueError, "Cs must hold positive finite"),
    (CV, {"Cs": (1, 0)}, ValueError, "Cs must hold positive finite"),
    (CV, {"Cs": (np.nan,)}, ValueError, "Cs must hold positive finite"),
    (CV, {"rounds_per_C": 0}, ValueError, "rounds_per_C must be"),
    (CV, {"rounds_per_C": 2.5}, TypeError, "rounds_per_C must be an integer"),
    (CV, {"scoring": "gini"}, ValueError, "'scoring' parameter"),
    (CV, {"estimator": KFold()}, TypeError, "estimator must be a CWBoostClassifier"),
    (CV, {"estimator": paper(correction="partial")}, ValueError, "correction must be one of"),
    (CV, {"estimator": paper(early_stopping=True)}, ValueError, "must have early_stopping=False"),
]


@pytest.mark.parametrize(
    "classifier, params, error, message",
    [(one, *case) for classifiers, *case in REFUSED for one in classifiers],
)
def test_bad_parameters_are_named(classifier, params, error, message):
    others = {"weak_learner": "stump", "correction": "total"} if classifier in CW else {}
    with pytest.raises(error, match=message):
        classifier(**others | params).fit(X, Y)


def test_more_rounds_than_the_model_has():
    model = paper(n_estimators=4).fit(X, Y)
    methods = ("predict", "predict_proba", "predict_log_proba", "decision_function", "explain")
    for method in methods:
        with pytest.raises(ValueError, match=r"n_estimators must lie in 0\.\.4 .* got 1000"):
            getattr(model, method)(X, n_estimators=1000)
        with pytest.raises(TypeError, match="n_estimators must be an integer or None"):
            getattr(model, method)(X, n_estimators=2.5)


def test_early_stopping_needs_two_examples_of_each_class():
    y = np.where(np.arange(len(Y)) == 7, 99, Y)
    model = paper(n_estimators=4, early_stopping=True)
    with pytest.raises(ValueError, match="of class 99 there is only one; pass X_val"):
        model.fit(X, y)
    assert model.fit(X, y, X_val=X, y_val=y).n_iter_ <= 4
    for fraction, n_held in ((0.01, 2), (0.995, 149)):
        with pytest.raises(ValueError, match=f"{fraction} of 149 examples are {n_held}: change"):
            model.set_params(validation_fraction=fraction).fit(X, Y)


def test_logarithms_are_finite_where_probabilities_round_to_zero():
    model = paper(n_estimators=30).fit(X, Y)
    model.model_ = replace(model.model_, scale=1e4)
    assert (model.predict_proba(X) == 0).any()
    assert np.isfinite(model.predict_log_proba(X)).all()
