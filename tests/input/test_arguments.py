"""What no argument can mean is refused by the name of the argument, by every estimator."""

import datetime
import warnings
from decimal import Decimal
from functools import partial
from inspect import signature

import numpy as np
import pytest
from models import CLASSIFIERS, paper
from sklearn.model_selection import GroupKFold, KFold

from cwboost import (
    AdaBoostMOClassifier,
    CWBoostClassifier,
    MultiBoostClassifier,
    ProjectionFamily,
    StumpFamily,
    TreeFamily,
    solve_master,
)
from cwboost.callbacks import Checkpoint, TimeLimit

N = 60
Y = np.arange(N) % 3
X = np.random.default_rng(0).normal(size=(N, 2)) + Y[:, None]
ONES = np.ones(N)
WEIGHTS = {
    "text": ["1"] * N,
    "dates": np.datetime64("2020-01-01") + Y,
    "complex": ONES + 1j,
    "gaps": [None] * N,
    "masked": np.ma.array(ONES, mask=Y == 0),
    "too few": ONES[1:],
    "a matrix": ONES[:, None],
    "one number": 2.0,
    "negative": -ONES,
    "nan": np.full(N, np.nan),
    "infinite": np.full(N, np.inf),
    "zeros": 0 * ONES,
    "too large": 1e308 * ONES,
}


def named(*values):
    return {str(value): value for value in values}


ODD = {
    "y": {
        "complex": Y + 1j,
        "bytes": np.array([b"a", b"b", b"c"])[Y],
        "durations": np.timedelta64(1, "D") * Y,
        "dates": WEIGHTS["dates"],
        "no number": np.where(Y == 0, np.nan, Y),
        "objects": [{one} for one in Y],
        "decimals": [Decimal(int(one)) for one in Y],
        "dates of Python": [datetime.date(2020, 1, 1 + one) for one in Y],
        "fractions": Y / 3,
        "of several types": np.array(["a", 1, 2.5], dtype=object)[Y],
    },
    "sample_weight": WEIGHTS,
    "sample_weight_val": WEIGHTS,
    "X_val": {"no rows": X[:0], "complex numbers": X + 1j, "text": np.full((N, 2), "a")},
    "y_val": {"unknown": Y + 1, "of another type": Y.astype(str), "dates": WEIGHTS["dates"]},
    "groups": {
        "too few": Y[1:],
        "a matrix": Y[:, None],
        "gaps": [None] * N,
        "masked": np.ma.array(Y, mask=Y == 0),
        "one": "all",
    },
    "class_weight": {
        "a word": "balancd",
        "a number": 3,
        "a list": [1, 2, 3],
        "text": {0: "1x"},
        "unknown": {5: 1},
        **{f"{odd}": {1: odd} for odd in (np.nan, np.inf, -1.0)},
    },
    "random_state": named(np.random.default_rng(0), "0", 1.5, -1, 2**32, [1]),
    "n_estimators": named(0, 2.5, "many"),
    "n_jobs": named(0, "2"),
    "verbose": named(-1, "yes"),
    "callbacks": {"no list": TimeLimit(1.0)},
    "C": named(0, np.inf, 1.1e150, "big"),
    "solver": named("mosek"),
    "tol": named("small"),
    "correction": named("partial"),
    "epsilon": named(-1),
    "subsample": named(0.0),
    "learning_rate": named(1e-310, 0.0, "0.1", np.nan, np.float64(1.5)),
    "early_stopping": {
        "two classes only": "roc_auc",
        "unknown": "auc",
        "text": lambda *_: "x",
        "nothing": lambda *_: None,
        "a class": KFold,
    },
    "n_iter_no_change": named("long"),
    "gap_tol": named(0.0),
    "smoothing": named(0.0),
    "code": {
        "unknown": "ecoc",
        "words that are the same": np.ones((3, 3)),
        "zeros": np.zeros((3, 3)),
        "a word too many": np.ones((4, 3)),
    },
    "code_size": named(4, 1),
    "Cs": named((), (1, 0), (np.nan,)),
    "rounds_per_C": named(0, 2.5),
    "estimator": {"no classifier": KFold(), "one that stops": paper(early_stopping=True)},
    "cv": {
        "a class": KFold,
        "a word": "x",
        "empty": [],
        "no pairs": [3],
        "without groups": GroupKFold(2),
        "outside": [(np.arange(30), [N])],
        "masks": [(Y > 0, Y == 0)],
    },
}


class Nothing:
    """What no parameter can be."""

    def __repr__(self):
        return "nothing"


def made(estimator, params):
    return estimator("stump", **{"n_estimators": 2} | params)


def cases():
    for estimator in CLASSIFIERS:
        takes, has = set(signature(estimator.fit).parameters), set(signature(estimator).parameters)
        for name, values in ODD.items():
            if name in takes | has:
                yield from (pytest.param(estimator, name, kind) for kind in values)


@pytest.mark.parametrize("estimator, name, kind", cases())
def test_what_an_argument_cannot_mean_is_refused_by_its_name(estimator, name, kind):
    given = {name: ODD[name][kind]}
    of_fit = given.keys() & signature(estimator.fit).parameters.keys()
    held_out = {"X_val": X, "y_val": Y} if name.endswith("_val") else {}
    model = made(estimator, {} if of_fit else given)
    with pytest.raises((TypeError, ValueError), match=f"^{name} must ") as caught:
        model.fit(**{"X": X, "y": Y} | held_out | (given if of_fit else {}))
    assert "np." not in str(caught.value)


def stop_early(state):
    return True


TOTAL = {"weak_learner": "stump", "correction": "total", "C": 1e4}
SPLIT, TWO, FIRST = {"early_stopping": True}, {"y": Y > 0}, {"monotonic_cst": [1, 0]}
REFUSED = [
    ({"weak_learner": "neuron"}, {}, "unknown weak learner 'neuron'"),
    ({"weak_learner": 3}, {}, "weak_learner must be"),
    ({"callbacks": [stop_early]}, {}, r"\[0\] must be .* got <function stop_ear"),
    ({"callbacks": [TimeLimit(1.0), TimeLimit]}, {}, r"\[1\] .* got <class .*TimeLimit"),
    ({"callbacks": [None]}, {}, r"\[0\] must .*method on_round_end.* got None"),
    ({"solver": "lbfgsb", "init": None}, {}, "solver must be 'fcd' with correction='stagewise'"),
    (TOTAL | {"learning_rate": 0.5}, {}, "learning_rate must be None or 1 with"),
    ({}, {"y": 0 * Y}, "y must have at least two classes"),
    ({}, {"sample_weight": (Y == 1) * 1.0}, "y must have at least two classes"),
    ({}, {"y": Y[:5]}, "inconsistent numbers of samples"),
    ({}, {"X": X[:, 0]}, "Expected 2D array"),
    ({}, {"X_val": X}, "X_val and y_val must be given together"),
    ({}, {"sample_weight_val": ONES}, "sample_weight_val needs X_val"),
    ({}, {"X_val": X, "y_val": Y[:3]}, "X_val and y_val must have as many rows, got 60 and 3"),
    ({"interaction_cst": "triples"}, {}, "must be 'no_interactions', 'pairwise', or a seq"),
    ({"interaction_cst": [0, 1]}, {}, r"sequence of sets of columns, got \[0, 1\]"),
    ({"interaction_cst": ["ab"]}, {}, r"sequence of sets of columns, got \['ab'\]"),
    ({"interaction_cst": iter([{0, 1}])}, {}, "sequence of sets of columns, got <list_iterator"),
    ({"interaction_cst": [{0, 6}]}, {}, "interaction_cst must hold names of columns .* got 6"),
    ({"monotonic_cst": [1] * 3}, TWO, r"must have shape \(2,\) or \(2, 2\), one row per cl"),
    ({"monotonic_cst": [2, 0]}, TWO, "must be -1, 0 or 1, got .*2.* for column 0"),
    ({"monotonic_cst": {"a": 1}}, TWO, "names of columns of X, or places from 0 to 1, got 'a'"),
    ({"monotonic_cst": {1: 5}}, TWO, "monotonic_cst must be -1, 0 or 1, got 5 for column 1"),
    ({"monotonic_cst": 5}, TWO, "monotonic_cst must be -1, 0 or 1, got 5"),
    ({"monotonic_cst": {7: {0: 1}}}, TWO, "a mapping of columns per label of y, got .* for 7"),
    (FIRST, {}, "must have constraints per class with 3 classes"),
    (FIRST | {"weak_learner": "projection"}, TWO, "'projection'.* lacks a capability: monotonic"),
    (FIRST | {"categorical_features": [0]}, TWO | {"X": X.round()}, "have no order, got a constr"),
    (FIRST | {"init": "kernel"}, TWO, "init must be 'auto' or None with monotonic_cst"),
    (SPLIT, {"groups": [1] * N}, r"^groups must hold at least two groups \(of positive .*, got 1"),
    (SPLIT | {"cv": 5}, {}, "^cv must be None, a splitter .*, or pairs of .* rows, got 5"),
    (SPLIT | {"cv": GroupKFold(3)}, {}, "^cv must be able to split the rows: .*groups"),
    (SPLIT | {"cv": [([0, 1, 2], [2, 3])]}, {}, "^cv must yield .* without a common one, got 1 in"),
    (SPLIT | {"cv": [([0, 1], [N])]}, {}, "^cv must yield rows from 0 to 59, got 60"),
    (SPLIT | {"cv": [([0], [1])]}, {}, "^cv must leave every class in the training rows of its l"),
    ({}, {"eval_sets": [1]}, "eval_sets must be a dict"),
    ({}, {"eval_sets": {"train": ([], [])}}, "may not have the name 'train'"),
    ({}, {"eval_sets": {"a": 3}}, "got int for 'a'"),
    ({}, {"eval_sets": {"a": ([[0.0]], [1])}}, r"eval_sets\['a'\]\[0\] has 1 f"),
    ({}, {"eval_sets": {"a": (X, Y + 7)}}, "labels.*7"),
    ({"class_weight": {0: 1e10}}, {"sample_weight": 1e300 * ONES},
     "^sample_weight times class_weight must have a finite sum"),
]  # fmt: skip


# What other classifiers cannot mean.
OTHERS = [
    (MultiBoostClassifier(max_working_sets=1), {}, "max_working_sets must be >= 2"),
    (AdaBoostMOClassifier(code="exhaustive", code_size=3), {}, "must be None unless code='random'"),
]


@pytest.mark.parametrize("given, data, message", REFUSED + OTHERS)
def test_what_does_not_fit_together_is_named(given, data, message):
    if isinstance(given, dict):
        given = CWBoostClassifier(**{"weak_learner": "stump", "n_estimators": 3} | given)
    with warnings.catch_warnings(), pytest.raises((TypeError, ValueError), match=message):
        warnings.simplefilter("error")
        given.fit(**{"X": X, "y": Y} | data)


@pytest.mark.parametrize(
    "estimator, name", [(e, name) for e in CLASSIFIERS for name in signature(e).parameters]
)
def test_every_parameter_of_a_constructor_is_checked(estimator, name):
    model = made(estimator, {}).set_params(**{name: Nothing()})
    with pytest.raises((TypeError, ValueError), match=f"^{name} must .*, got "):
        model.fit(X, Y)


NUMBERS = {
    "seconds": TimeLimit,
    "every_rounds": lambda value: Checkpoint("a.cwb", every_rounds=value),
    "every_seconds": lambda value: Checkpoint("a.cwb", every_seconds=value),
    "tol": lambda value: solve_master([[[1, -1]]] * 2, [0, 1], 1.0, tol=value),
    "n_threads": lambda value: solve_master([[[1, -1]]] * 2, [0, 1], 1.0, n_threads=value),
    "n_learners": lambda value: paper(n_estimators=2).fit(X, Y).strongest(n_learners=value),
}
# Parameters of families, and what else than no number they cannot be.
OF_FAMILIES = [
    (TreeFamily, "max_leaf_nodes", [1]),
    (TreeFamily, "max_depth", [0, 2.5]),
    (TreeFamily, "max_bins", [1, 257]),
    (TreeFamily, "min_leaf_weight", [np.inf, True]),
    (TreeFamily, "max_features", [0]),
    (TreeFamily, "criterion", ["mse"]),
    (StumpFamily, "max_bins", [1, 257]),
    (ProjectionFamily, "n_projections", [0, 2.0, None]),
]
NO_NUMBERS = [-1, "3", 1j, np.nan, [3]]


def fit_with(family, name, value):
    CWBoostClassifier(family(**{name: value}), init=None, n_estimators=2).fit(X, Y)


@pytest.mark.parametrize(
    "name, use, value",
    [(name, use, value) for name, use in NUMBERS.items() for value in NO_NUMBERS]
    + [
        (name, partial(fit_with, family, name), value)
        for family, name, more in OF_FAMILIES
        for value in NO_NUMBERS + more
    ],
    ids=lambda given: "" if callable(given) else str(given),
)
def test_what_a_number_cannot_be_is_refused_by_its_name(name, use, value):
    with pytest.raises((TypeError, ValueError), match=f"^{name} must be "):
        use(value)


@pytest.mark.parametrize("name", ["max_leaf_nodes", "max_depth", "max_bins"])
@pytest.mark.parametrize("value", [2**31, 2**63, 10**30])
def test_integers_that_kernels_cannot_hold_are_refused(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be .* to .*, got {value}"):
        fit_with(TreeFamily, name, value)


def test_more_rounds_than_the_model_has():
    model = paper(n_estimators=4).fit(X, Y)
    methods = ("predict", "predict_proba", "predict_log_proba", "decision_function", "explain")
    for method in methods:
        with pytest.raises(ValueError, match=r"n_estimators must lie in 0\.\.4 .* got 1000"):
            getattr(model, method)(X, n_estimators=1000)
        with pytest.raises(TypeError, match="n_estimators must be an integer or None"):
            getattr(model, method)(X, n_estimators=2.5)


def test_early_stopping_holds_out_and_leaves_a_row_of_each_class_that_has_two():
    y = np.where(np.arange(N) == 7, 99, Y)
    for fraction in (0.01, 0.1, 0.995):
        model = paper(n_estimators=4, early_stopping=True, validation_fraction=fraction)
        assert model.fit(X, y).classes_[-1] == 99
    with pytest.raises(ValueError, match="no class has a row to spare: pass X_val and y_val"):
        model.fit(X[:3], [0, 1, 2])
