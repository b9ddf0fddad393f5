"""What fits can be saved, and what was saved loads: labels, categories, parameters, counts."""

import warnings
from collections import UserDict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from cwboost import CWBoostClassifier, MixedFamily, SklearnFamily, load_model

pd = pytest.importorskip("pandas")
N = 24
X = np.random.default_rng(0).integers(0, 3, (N, 3)).astype(np.float64)
LABELS = np.array(["no", "yes"])[np.arange(N) % 2]
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("closure") / "model.cwb"


def small(**parameters):
    few = {
        "weak_learner": "stump",
        "init": None,
        "n_estimators": 2,
        "random_state": 0,
        "probability_scale": 2.0,
    }
    return CWBoostClassifier(**few | parameters)


def saved_and_loaded(model, path, X=X):
    """Save and load a fitted model; what it predicts and what it learned is the same."""
    model.save(path)
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.classes_, model.classes_)
    return loaded


def spread(labels):
    """Every label for some example, in an array of the dtype of `labels`."""
    return np.resize(labels, max(N, len(labels)))


# ---------------------------------------------------------------------------- labels


@settings(max_examples=20, deadline=None)
@given(labels=st.lists(TEXT, min_size=2, max_size=9, unique=True), dtype=st.sampled_from("UO"))
@example(labels=["x" * 70_000, "y"], dtype="U")
def test_labels_of_text(path, labels, dtype):
    model = small().fit(X, spread(np.array(labels, dtype=object).astype(dtype)))
    loaded = saved_and_loaded(model, path)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.predict(X).dtype == model.predict(X).dtype


# ---------------------------------------------------------------------------- categories

CATEGORIES = st.one_of(
    st.lists(TEXT, min_size=1, max_size=5),
    st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=5),
    st.lists(st.floats(-(2.0**53), 2.0**53), min_size=1, max_size=5),
    st.lists(st.booleans(), min_size=1, max_size=2),
)


@pytest.mark.filterwarnings("ignore:no weak learner lowers")  # of a column of one category
@settings(max_examples=20, deadline=None)
@given(st.lists(CATEGORIES, min_size=1, max_size=4))
def test_categories(path, columns):
    table = np.empty((N, len(columns)), dtype=object)
    for place, values in enumerate(columns):
        table[:, place] = np.resize(np.array(values, dtype=object), N)
    model = small(categorical_features=range(len(columns))).fit(table, LABELS)
    loaded = saved_and_loaded(model, path, table)
    assert loaded.categories_.keys() == model.categories_.keys()
    for place, known in model.categories_.items():
        np.testing.assert_array_equal(loaded.categories_[place], known)


# ---------------------------------------------------------------------------- parameters

CONSTRAINTS = [1, 0, -1]
FORMS = st.sampled_from(
    [list, tuple, np.array, pd.Series, pd.Index, lambda v: np.array(v, dtype=object)]
)
TABLE = [[1, 0, 0], [-1, 0, 1]]
PARAMETERS = {
    "n_jobs": st.integers(-(2**70), 2**70).filter(bool) | st.just(np.int64(5000)) | st.none(),
    "C": st.sampled_from(
        [3, 2.5, np.float32(1.5), np.float16(9), np.longdouble(7), Fraction(9, 2)]
    ),
    "n_estimators": st.sampled_from([2, np.int8(2), np.uint64(1)]),
    "random_state": st.sampled_from([0, None, np.int32(3), np.random.RandomState(0)]),
    "tol": st.sampled_from([0, np.inf, 1e-3]),
    "class_weight": st.sampled_from(
        ["balanced", None, {"no": 1, "yes": np.float32(2)}, {np.str_("no"): 3.0, "yes": 1}]
    ),
    "categorical_features": st.one_of(
        st.just("from_dtype"),
        st.sampled_from([None, [], range(1), range(0)]),
        FORMS.map(lambda form: form([False, True, False])),
        FORMS.map(lambda form: form([1])),
    ),
    "monotonic_cst": st.one_of(
        FORMS.map(lambda form: form([1, 0, -1])),
        FORMS.map(lambda form: form([1.0, 0.0, 0.0])),
        st.sampled_from(
            [
                None,
                TABLE,
                tuple(map(tuple, TABLE)),
                np.array(TABLE),
                np.array(TABLE, dtype=object),
                pd.DataFrame(TABLE),
                {0: 1, np.int64(2): -1},
                UserDict({0: np.int8(1)}),
                {"yes": {0: 1}, np.str_("no"): {2: 1}},
            ]
        ),
    ),
    "interaction_cst": st.sampled_from(
        [None, "pairwise", [{0, 1}], ((0,), frozenset({1, 2})), [range(2)], np.array([[0, 1]])]
    ),
    "weak_learner": st.sampled_from(
        ["stump", ["stump", "tree"], ("tree", "stump"), MixedFamily(("stump",)), "tree"]
    ),
}


@settings(max_examples=20, deadline=None)
@given(st.fixed_dictionaries({}, optional=PARAMETERS))
@example({"n_jobs": 5000})
@example({"monotonic_cst": pd.Series(CONSTRAINTS)})
@example({"categorical_features": pd.Index([0])})
def test_parameters(path, parameters):
    """What fits is saved; the loaded parameters mean the same to another fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads beyond the cores, generators
        try:
            model = small(**parameters).fit(X, LABELS)
        except (TypeError, ValueError):
            return  # such as a constraint on a column of categories
        loaded = saved_and_loaded(model, path)
        if isinstance(parameters.get("random_state", 0), (int, np.integer)):
            again = clone(loaded).fit(X, LABELS)
            np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_generators_of_estimators_inside_are_left_out_with_a_warning(path):
    tree = DecisionTreeClassifier(max_depth=1, random_state=np.random.RandomState(0))
    model = small(weak_learner=SklearnFamily(tree)).fit(X, LABELS)
    with pytest.warns(UserWarning, match=r"random_state is a generator object and is not stored"):
        loaded = saved_and_loaded(model, path)
    assert loaded.weak_learner.get_params(deep=True)["estimator__random_state"] is None
