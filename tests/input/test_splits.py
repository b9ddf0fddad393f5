"""Groups and copies stay together in everything that leaves examples out of training."""

import ast
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedGroupKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB

import cwboost
from cwboost import CWBoostClassifier
from cwboost.input import splits
from cwboost.input.groups import keys_of_groups, keys_of_rows
from cwboost.input.problem import sort_by_class
from cwboost.training import one_machine, refitting

N_GROUPS, OF_GROUP = 40, 6


@pytest.fixture
def grouped():
    """Rows of 40 groups: the first feature is the group, the others say little of the class."""
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(N_GROUPS), OF_GROUP))
    y = rng.integers(0, 3, N_GROUPS)[groups]
    X = np.column_stack(
        [groups, y + rng.normal(size=(3, len(y))).T.T[0], *rng.normal(size=(2, len(y)))]
    )
    return X, y, groups


@pytest.fixture
def seen(monkeypatch):
    """Pairs of feature 0 of the rows that something trains on, and of those that it leaves out."""
    pairs = []

    def drawn(problem, *arguments):
        X = problem.X()[:, 0]
        found, seed = splits.holdout_splits(problem, *arguments)
        pairs.extend((np.delete(X, one.left_out), X[one.measured]) for one in found)
        return found, seed

    def off(problem, *arguments):
        kept, held = splits.split_off(problem, *arguments)
        pairs.append((kept.X()[:, 0], held.X[:, 0]))
        return kept, held

    monkeypatch.setattr(one_machine, "holdout_splits", drawn)
    monkeypatch.setattr(refitting, "holdout_splits", drawn)
    monkeypatch.setattr(one_machine, "split_off", off)
    Recorder.pairs = pairs
    return pairs


class Recorder(GaussianNB):
    """Notes the first feature of its training rows, and of those that it scores."""

    pairs: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        self.own_ = X[:, 0]
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        if len(X) + len(self.own_) == N_GROUPS * OF_GROUP:
            self.pairs.append((self.own_, X[:, 0]))
        return super().predict_proba(X)


SMALL = {"n_estimators": 20, "random_state": 0}
ROADS = {
    "holdout run": lambda *data: CWBoostClassifier(**SMALL).fit(*data),
    "holdout run of columns": lambda *data: CWBoostClassifier("stump", **SMALL).fit(*data),
    "early stopping": lambda *data: CWBoostClassifier(early_stopping=True, **SMALL).fit(*data),
    "cross-fitting": lambda *data: CWBoostClassifier(init=Recorder(), **SMALL).fit(*data),
    "thin": lambda *data: CWBoostClassifier(init=Recorder(), **SMALL).fit(*data).thin(*data, C=1e3),
    "refit": lambda *data: CWBoostClassifier(**SMALL).fit(*data).refit(*data),
}


@pytest.mark.parametrize("road", ROADS)
def test_groups_are_never_on_both_sides(grouped, seen, road):
    X, y, groups = grouped
    ROADS[road](X, y, None, groups)
    assert seen
    for kept, left_out in seen:
        assert not np.isin(left_out, kept).any()


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("form", [np.asarray, np.float32], ids=["float64", "float32"])
def test_copies_are_never_on_both_sides(grouped, seen, road, form):
    X, y, _ = grouped
    X[:, 0] = np.arange(len(X))
    Recorder.pairs = seen
    X, y = form(np.repeat(X[:120], 2, axis=0)), np.repeat(y[:120], 2)
    ROADS[road](X, y)
    assert seen
    for kept, left_out in seen:
        assert not np.isin(left_out, kept).any()


def test_nothing_else_divides_examples():
    """Splitters of scikit-learn are used by `splits` alone, but for experiments on data sets."""
    root = Path(cwboost.__file__).parent
    allowed = {
        "cwboost/commands/fit.py": {"TimeSeriesSplit"},  # as the parameter `cv`
        # By folds that `splits` has drawn.
        "cwboost/families/init_models.py": {"PredefinedSplit", "cross_val_predict"},
        # To make features in front of a classifier.
        "plugins/text/src/cwboost_text.py": {"StratifiedKFold"},
    }
    for path in [*root.rglob("*.py"), *(root.parent / "plugins").rglob("*.py")]:
        name = path.relative_to(root.parent).as_posix()
        if name == "cwboost/input/splits.py" or name.startswith("cwboost/experiments/"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "sklearn.model_selection":
                names = {one.name for one in node.names if not one.name.endswith("SearchCV")}
                assert names <= allowed.get(name, set()), name


def test_copies_in_a_group_are_weights(grouped):
    X, y, groups = grouped
    count = np.arange(len(y)) % 3 + 1
    copies = np.repeat(np.arange(len(y)), count)
    one = CWBoostClassifier(**SMALL).fit(X, y, 1.0 * count, groups=groups)
    other = CWBoostClassifier(**SMALL).fit(X[copies], y[copies], groups=groups[copies])
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_copies_in_two_groups_are_two_examples(grouped):
    """Groups state what is independent: equal rows do not join them."""
    X, y, groups = grouped
    twice = np.r_[groups, groups + groups.max() + 1]
    problem = sort_by_class(np.r_[X, X], np.r_[y, y], None, None, twice)
    assert len(problem.y) == 2 * len(y)
    assert len(np.unique(problem.groups)) == 2 * len(np.unique(groups))


def test_rows_that_repeat_few_are_examples_of_their_own():
    """The probabilities of four distinct rows are their shares, of the rare ones too."""
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [1000, 40, 900, 60], axis=0)
    y = np.concatenate(
        [np.arange(n) < p * n for n, p in [(1000, 0.2), (40, 0), (900, 0.8), (60, 0)]]
    )
    found = (
        CWBoostClassifier(random_state=0).fit(X, y).predict_proba([[0, 0], [0, 1], [1, 0], [1, 1]])
    )
    np.testing.assert_allclose(found[:, 1], [0.2, 0.0, 0.8, 0.0], atol=0.03)


def test_copies_of_few_rows_with_one_label_each_are_one_example(grouped):
    X, y, _ = grouped
    X, y = X[:60], y[:60]
    problem = sort_by_class(np.tile(X, (12, 1)), np.tile(y, 12), None, None)
    assert len(problem.y) == len(np.unique(X, axis=0))


def test_names_of_groups_change_nothing(grouped):
    _, y, groups = grouped
    renamed = groups.astype("datetime64[D]"), np.array([f"group {k}" for k in groups], dtype=object)
    for names in (groups, *renamed):
        parts = splits._parts(y, keys_of_groups(names, len(y)), 0.2, seed=0)
        inside = np.isin(groups, groups[parts[0]])
        np.testing.assert_array_equal(np.flatnonzero(inside), parts[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_equal_rows_have_equal_keys_in_every_form(dtype):
    X = np.random.default_rng(0).integers(0, 3, (500, 5)).astype(dtype)
    if dtype != np.uint8:
        X[X == 2] = np.nan
        X[:9][X[:9] == 0] = -0.0
    keys = keys_of_rows(X)
    forms = [np.asfortranarray(X), sparse.csr_array(X), sparse.csc_array(X), X.astype(np.float64)]
    for form in forms:
        np.testing.assert_array_equal(keys_of_rows(form), keys)
    kinds = np.unique(np.nan_to_num(X.astype(float), nan=9), axis=0)
    assert len(np.unique(keys)) == len(kinds)


def test_parts_hold_a_share_of_each_class_and_leave_some(grouped):
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 3_000, 10_000).astype(np.uint64) + np.uint64(1)
    y = np.minimum(rng.integers(0, 4, 3_001)[groups.astype(np.int64)], rng.integers(0, 40, 10_000))
    for part in splits._parts(y, groups, 0.2, seed=3)[:3]:
        np.testing.assert_allclose(np.bincount(y[part]) / np.bincount(y), 0.2, atol=0.03)


def test_a_class_of_one_group_stays_in_training():
    groups = np.repeat([1, 2, 3, 4, 5], 10).astype(np.uint64)
    y = np.where(groups == 3, 1, 0)
    for part in splits._parts(y, groups, 0.2, seed=0):
        assert not y[part].any()


@pytest.mark.parametrize("params", [{}, {"init": "kernel"}, {"early_stopping": True}])
def test_groups_of_different_main_classes_are_divided(seen, params):
    rng = np.random.default_rng(0)
    groups = np.arange(120) // 40
    X, y = (
        rng.normal(size=(120, 2)),
        np.where(rng.random(120) < 0.7, groups, rng.integers(3, size=120)),
    )
    model = CWBoostClassifier(**{**SMALL, **params}).fit(X, y, groups=groups)
    assert len(seen[-1][1]) == 40
    assert (model.init_ is None) == ("init" not in params)
    with pytest.raises(ValueError, match="no class has a group to spare"):
        CWBoostClassifier(early_stopping=True).fit(X, groups, groups=groups)


# -------------------------------------------------------------------- splitters


@pytest.mark.parametrize(
    "cv",
    [GroupKFold(4), StratifiedGroupKFold(4), TimeSeriesSplit(4)],
    ids=lambda cv: type(cv).__name__,
)
@pytest.mark.parametrize("early_stopping", [False, True])
def test_the_last_split_is_left_out(grouped, seen, cv, early_stopping):
    X, y, groups = grouped
    X[:, 0] = np.arange(len(y))
    model = CWBoostClassifier(cv=cv, early_stopping=early_stopping, **SMALL)
    model.fit(X, y, groups=groups)
    own = None if isinstance(cv, TimeSeriesSplit) else groups  # which warns of groups
    train, test = list(cv.split(X, y, own))[-1]
    kept, left_out = seen[-1]
    assert set(kept) == set(train)
    assert set(left_out) == set(test)


def test_rows_of_a_gap_are_neither_trained_on_nor_measured(grouped, seen):
    X, y, _ = grouped
    X[:, 0] = np.arange(len(y))
    model = CWBoostClassifier(cv=[(np.arange(100), np.arange(150, 200))], **SMALL)
    weight = np.ones(len(y))
    weight[[0, 199]] = 0
    model.fit(X, y, weight)
    kept, left_out = seen[-1]
    assert set(kept) == set(range(1, 100))
    assert set(left_out) == set(range(150, 199))


def test_groups_are_routed_as_metadata(grouped):
    import sklearn

    X, y, groups = grouped
    with sklearn.config_context(enable_metadata_routing=True):
        model = CWBoostClassifier(**SMALL).set_fit_request(groups=True)
        search = GridSearchCV(model, {"n_estimators": [20, 25]}, cv=GroupKFold(2))
        search.fit(X, y, groups=groups)
    assert search.best_estimator_.n_iter_ in (20, 25)
