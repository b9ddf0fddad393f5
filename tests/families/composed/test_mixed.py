"""Families mixed in one model: what is priced, and the whole life of a classifier."""

from typing import ClassVar

import numpy as np
import pytest
from attack_plugins import PRICED, family, result
from models import bind, paper
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.tree import DecisionTreeClassifier

import cwboost
from cwboost import CWBoostClassifier, MixedFamily, SklearnFamily, StumpFamily, TreeFamily
from cwboost.datasets import load_vowel


class Rows(cwboost.DerivedFeatureFamily):
    """Distances from means of some of the training rows, a number that is a hyper-parameter."""

    name = "rows"
    api_version = 1
    layout: ClassVar = {"rows": ("float64", ("n_rows", "n_features"))}

    def __init__(self, n_rows=2):
        self.n_rows = n_rows

    def draw(self, context):
        rows = context.random_state.integers(len(context.X), size=(9, self.n_rows))
        return {"rows": context.X[rows]}

    @staticmethod
    def transform(X, rows):
        return ((X[:, None] - rows.mean(axis=1)) ** 2).sum(axis=2)


MIXTURES = {
    "two": ["stump", "projection"],
    "twice": MixedFamily([TreeFamily(1, max_features=1), TreeFamily(2, max_features=1), "stump"]),
}


@pytest.fixture(scope="module")
def data():
    X, y = load_vowel(return_X_y=True)
    return train_test_split(X, y, test_size=0.5, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    X, _, y, _ = data
    return {name: paper(mixture, n_estimators=12).fit(X, y) for name, mixture in MIXTURES.items()}


@pytest.fixture(params=MIXTURES)
def model(request, fitted):
    return fitted[request.param]


def test_all_members_are_used(model):
    parts = model.ensemble_.learners.parts
    assert set(parts) in ({"stump", "projection"}, {"stump", "tree 1", "tree 2"})
    assert sum(map(len, parts.values())) == len(model.ensemble_.learners)


@pytest.mark.parametrize(
    "members",
    [
        [SklearnFamily(RidgeClassifier()), SklearnFamily(DecisionTreeClassifier(max_depth=1))],
        [Rows(2), Rows(3), "stump"],
    ],
    ids=["forms", "lengths"],
)
def test_a_family_may_occur_again_with_other_parameters(members, data, tmp_path, register):
    register(Rows)
    X, X_test, y, _ = data
    clf = paper(members, n_estimators=6, random_state=0).fit(X, y)
    assert len(clf.ensemble_.learners.parts) == len(members)
    clf.save(tmp_path / "model.cwb")
    expected = clf.decision_function(X_test)
    loaded = cwboost.load_model(tmp_path / "model.cwb")
    np.testing.assert_array_equal(loaded.decision_function(X_test), expected)
    clf.set_params(warm_start=True, n_estimators=9).fit(X, y)
    assert clf.n_iter_ == 9


@pytest.mark.parametrize("correction", ["total", "stagewise"])
@pytest.mark.parametrize(
    "members", [["stump"], ["tree"], ["tree", TreeFamily(2)], ["stump", "tree"]]
)
def test_any_families_can_be_mixed(members, correction, data):
    X, X_test, y, y_test = data
    clf = CWBoostClassifier(members, init=None, correction=correction, C=1e4, n_estimators=20)
    assert clf.fit(X, y).score(X_test, y_test) > 0.4
    assert not clf.ensemble_.learners.is_graded


@pytest.mark.parametrize("classifier", [CWBoostClassifier, cwboost.MultiBoostClassifier])
def test_one_family_mixed_with_itself_is_that_family(data, classifier):
    X, X_test, y, _ = data
    options = {"correction": "total", "C": 1e4} if classifier is CWBoostClassifier else {}
    options |= {"n_estimators": 8, "random_state": 0}
    one = classifier("stump", **options).fit(X, y)
    two = classifier(["stump", StumpFamily()], **options).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X_test), two.decision_function(X_test))
    np.testing.assert_array_equal(one.history_["objective"], two.history_["objective"])


def test_the_certificate_holds_if_all_are_exact(data):
    X, _, y, _ = data
    exact_tree = TreeFamily(max_depth=1, max_features=None, criterion="edge")
    for members, certified in ((["stump", StumpFamily()], True), (["stump", "projection"], False)):
        family = MixedFamily(members)
        clf = paper(family, n_estimators=3).fit(X, y)
        assert bind(family, X).exact is certified
        assert np.isfinite(clf.history_["dual_bound"]).all() == certified
    assert bind(exact_tree, X).exact is bind(MixedFamily([exact_tree, "stump"]), X).exact


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda part: {"nobody/x": np.zeros(0)}, "unknown weak learner 'nobody'"),
        (lambda part: {"mixed/part": np.zeros(0, np.int32)}, "cannot be mixed itself"),
        (lambda part: {"part": part + 1}, "'part' must name"),
        (lambda part: {"part": np.zeros_like(part)}, "'part' must name"),
        (lambda part: {"part": part - 1}, "'part' must name"),
    ],
)
def test_damaged_arrays_are_refused(fitted, change, message):
    arrays = fitted["two"].ensemble_.learners.arrays()
    arrays |= change(arrays["part"])
    with pytest.raises(ValueError, match=message):
        MixedFamily.learners_type.from_arrays(arrays, 10)


def test_parameters_are_nested_under_the_names(data):
    clf = paper(["stump", "tree"], n_estimators=2)
    clf.set_params(weak_learner__tree__max_depth=3)
    assert clf.weak_learner.families[1].max_depth == 3
    assert clone(clf).get_params()["weak_learner__tree__max_depth"] == 3
    twice = MixedFamily([TreeFamily(max_depth=1), "tree"]).set_params(**{"tree-2__max_depth": 5})
    assert [member.max_depth for member in twice.families] == [1, 5]
    tree = DecisionTreeClassifier()
    MixedFamily([SklearnFamily(tree)]).set_params(sklearn__estimator__max_depth=3)
    assert tree.max_depth == 3
    search = GridSearchCV(
        paper(["stump", "tree"], n_estimators=2), {"weak_learner__tree__max_depth": [1, 3]}, cv=2
    )
    assert search.fit(data[0], data[2]).best_score_ > 0
    with pytest.raises(ValueError, match=r"Invalid parameter 'bush'.*'stump', 'tree'"):
        MixedFamily().set_params(bush__max_depth=1)


@pytest.mark.parametrize(
    "family, message",
    [
        (MixedFamily([]), "at least one family"),
        (MixedFamily("stump"), "families must be a list"),
        (MixedFamily(["stump", "mixed"]), "must not hold a mixed family"),
        (MixedFamily(["stump", "no_such"]), "unknown weak learner 'no_such'"),
    ],
)
def test_parameters_are_checked(family, message):
    with pytest.raises(ValueError, match=message):
        bind(family, np.eye(4))


def test_a_fault_names_the_member(data):
    faulty = family((PRICED, result("edges *= np.nan")))
    message = r"weak learner 'reference_stump' .*edges must be finite"
    with pytest.raises(cwboost.FamilyFault, match=message):
        paper(["tree", faulty]).fit(data[0], data[2])


def test_missing_values_need_families_that_all_take_them():
    linear = SklearnFamily(RidgeClassifier())
    assert not MixedFamily(["stump", linear]).capabilities.missing_values
    assert MixedFamily(["stump", "tree", "projection"]).capabilities.missing_values
