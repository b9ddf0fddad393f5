"""Relations of meaning: what a change of the data must do to a model, for every model by rule."""

from copy import copy

import numpy as np
import pandas
import pytest
from models import CLASSIFIERS, FAMILIES, paper
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.utils import estimator_checks

from cwboost import CWBoostClassifier

rng = np.random.default_rng(0)
_X, _Y = make_classification(900, 8, n_informative=6, n_classes=3, random_state=0)
LABELS = np.array(["a", "b", "c"])
X, NEW = _X[:240], _X[300:]
Y, TRUE = LABELS[_Y[:240]], LABELS[_Y[300:]]
COUNTS = rng.integers(1, 4, len(Y))
WEIGHT = COUNTS * 1.0

MODELS = {
    classifier.__name__: lambda classifier=classifier: classifier(
        "stump", n_estimators=5, random_state=0
    )
    for classifier in CLASSIFIERS
}
MODELS |= {
    f"paper, {family}": lambda family=family: paper(family, n_estimators=5) for family in FAMILIES
}
MODELS |= {
    "default": lambda: CWBoostClassifier(random_state=0),
    "early stopping": lambda: CWBoostClassifier(
        init=None, early_stopping=True, n_estimators=40, random_state=0
    ),
    "balanced": lambda: CWBoostClassifier(
        "stump", class_weight="balanced", n_estimators=5, random_state=0
    ),
    "subsample": lambda: CWBoostClassifier(
        init=None, subsample=0.5, n_estimators=10, random_state=0
    ),
    "mixed": lambda: CWBoostClassifier(["stump", "tree"], n_estimators=5, random_state=0),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param]


def probabilities(model, X=X, y=Y, weight=WEIGHT, new=NEW):
    return model().fit(X, y, sample_weight=weight).predict_proba(new)


@pytest.fixture(scope="module")
def expected(model):
    return probabilities(model)


def test_a_weight_of_zero_is_absent(model, expected):
    unused = rng.normal(size=(40, 8)) * 10
    found = probabilities(
        model, np.vstack([unused, X]), np.r_[Y[:40], Y], np.r_[np.zeros(40), WEIGHT]
    )
    np.testing.assert_array_equal(found, expected)


COPIES = np.repeat(np.arange(len(Y)), COUNTS)


def leaves_nothing_out(model):
    """Return the model without what draws rows or leaves them out."""
    if isinstance(model, CWBoostClassifier):
        model.set_params(
            init=None, n_estimators=12, subsample=1.0, probability_scale=2.0, early_stopping=False
        )
    return model


COPYABLE = [name for name in MODELS if "projection" not in name]  # whose directions count rows


@pytest.mark.parametrize("name", COPYABLE)
def test_a_weight_of_n_is_n_copies(name):
    """Up to rounding, where no row is drawn or left out."""
    for factor in (1.0, 0.25):
        weighted = leaves_nothing_out(MODELS[name]()).fit(X, Y, sample_weight=factor * WEIGHT)
        copied = leaves_nothing_out(MODELS[name]()).fit(X[COPIES], Y[COPIES])
        expected = weighted.predict_proba(NEW)
        np.testing.assert_allclose(copied.predict_proba(NEW), expected, rtol=0, atol=1e-7)
        errors = weighted.history_["train_error"]
        np.testing.assert_allclose(copied.history_["train_error"], errors, atol=1e-12)


@pytest.mark.parametrize("name", COPYABLE)
def test_weights_of_categories_are_copies(name):
    """Their codes, the most frequent first, follow the weights."""
    drawn = np.random.default_rng(0)
    category, weight = drawn.choice(list("abcdef"), len(Y)), drawn.integers(0, 4, len(Y))
    weight[category == "f"] = 0
    category[weight == 0] = "f"

    def fitted(at, weight):
        table = pandas.DataFrame(X[at, :3]).assign(kind=pandas.Categorical(category[at]))
        table.columns = table.columns.astype(str)
        model = leaves_nothing_out(MODELS[name]())
        return model.fit(table, Y[at], sample_weight=weight), table

    weighted, table = fitted(np.arange(len(Y)), weight)
    copied, _ = fitted(np.repeat(np.arange(len(Y)), weight), None)
    np.testing.assert_array_equal(weighted.categories_[3], copied.categories_[3])
    expected = weighted.predict_proba(table)
    np.testing.assert_allclose(copied.predict_proba(table), expected, rtol=0, atol=1e-7)


CHECKS = [
    estimator_checks.check_sample_weight_equivalence_on_dense_data,
    estimator_checks.check_sample_weight_equivalence_on_sparse_data,
]


@pytest.mark.parametrize("check", CHECKS, ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"n_estimators": 10},
        {"n_estimators": 25},
        {"early_stopping": True},
        {"probability_scale": 2.0},
        {"weak_learner": "stump", "subsample": 1.0},
        {"weak_learner": ["stump", "tree"], "n_estimators": 10, "subsample": 1.0},
    ],
    ids=str,
)
def test_weights_are_copies_with_given_pairs_of_rows(check, params):
    """Of scikit-learn, which passes pairs of rows as `cv`: nothing is drawn then."""
    check("CWBoostClassifier", CWBoostClassifier(**params))


def test_a_common_factor_of_the_weights_is_nothing(model):
    """But for rounding; a power of two changes no bit."""
    weight = WEIGHT + rng.random(len(Y))  # whole numbers tie, and rounding then decides
    plain = probabilities(model, weight=weight)
    found = probabilities(model, weight=3e-6 * weight)
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(probabilities(model, weight=np.ldexp(weight, -900)), plain)


def test_names_of_classes_in_the_same_order_are_names(model, expected):
    np.testing.assert_array_equal(probabilities(model, y=np.char.add("class ", Y)), expected)


def test_units_of_features_are_nothing(model, expected):
    np.testing.assert_array_equal(probabilities(model, X=X * 1024, new=NEW * 1024), expected)


ORDERS = {
    "rows": lambda p: (X[p], Y[p], WEIGHT[p], NEW, LABELS),
    "features": lambda p: (X[:, ::-1], Y, WEIGHT, NEW[:, ::-1], LABELS),
    "classes": lambda p: (X, LABELS[::-1][np.searchsorted(LABELS, Y)], WEIGHT, NEW, LABELS[::-1]),
    "constant feature": lambda p: (
        np.column_stack([X, np.full(len(X), 7.0)]),
        Y,
        WEIGHT,
        np.column_stack([NEW, np.full(len(NEW), 7.0)]),
        LABELS,
    ),
}


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_decides_about_draws_alone(model, expected, order):
    X, y, weight, new, labels = ORDERS[order](rng.permutation(len(Y)))
    found = probabilities(model, X, y, weight, new)[:, np.argsort(labels)]
    assert 0.75 < log_loss(TRUE, found) / log_loss(TRUE, expected) < 1.35


HELD = slice(0, 150)
HELD_WEIGHT = rng.choice([0, 1, 1, 1, 4], 150)
HELD_TRUE = np.where(HELD_WEIGHT, TRUE[HELD], "unknown")


def held_out(at, weight):
    return {"X_val": NEW[at], "y_val": HELD_TRUE[at], "sample_weight_val": weight}


WAYS = {
    "fit": lambda clf, at, weight: clone(clf).fit(
        X, Y, eval_sets={"more": (NEW[at], HELD_TRUE[at], weight)}, **held_out(at, weight)
    ),
    "calibrate": lambda clf, at, weight: copy(clf).calibrate(NEW[at], HELD_TRUE[at], weight),
    "thin": lambda clf, at, weight: clf.thin(X, Y, C=[10, 100], **held_out(at, weight)),
    "refit": lambda clf, at, weight: clf.refit(X, Y, **held_out(at, weight)),
}


STUMPS = {"weak_learner": "stump", "n_estimators": 40}
CASES = [({}, way) for way in WAYS] + [(STUMPS, way) for way in WAYS if way != "refit"]
CASES += [(STUMPS | {"early_stopping": "loss"}, "fit")]


@pytest.mark.parametrize(("params", "way"), CASES)
def test_weights_of_held_out_examples_are_copies(params, way):
    """They choose the length, fit the scale, calibrate the prediction sets, and are measured."""
    clf = CWBoostClassifier(random_state=0, **params)
    if way != "fit":
        clf.fit(X, Y)
    copies = np.repeat(np.arange(150), HELD_WEIGHT)
    weight = np.ldexp(HELD_WEIGHT, -1073)  # a common factor is nothing
    one, other = (WAYS[way](clf, *given) for given in [(np.arange(150), weight), (copies, None)])
    for name in one.history_:
        if way in ("fit", "thin") and "seconds" not in name:
            np.testing.assert_allclose(one.history_[name], other.history_[name])
    assert one.n_iter_ == other.n_iter_
    np.testing.assert_allclose(one.predict_proba(NEW), other.predict_proba(NEW), rtol=1e-9)
    sets = [model.predict_set(NEW, alpha=0.1) for model in (one, other)]
    np.testing.assert_array_equal(*sets)
