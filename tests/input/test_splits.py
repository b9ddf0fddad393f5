"""Groups stay together in everything that leaves examples out of training; values do not decide."""

import ast
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    PredefinedSplit,
    StratifiedGroupKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB

import cwboost
from cwboost import CWBoostClassifier
from cwboost.input import splits
from cwboost.input.examples import sort_by_class
from cwboost.input.groups import keys_of_groups
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

    def drawn(examples, *arguments):
        X = examples.X()[:, 0]
        found, seed = splits.holdout_splits(examples, *arguments)
        pairs.extend((np.delete(X, one.left_out), X[one.measured]) for one in found)
        return found, seed

    def off(examples, *arguments):
        kept = splits.split_off(examples, *arguments)
        pairs.append((kept.X()[:, 0], kept.held_out["valid"].X[:, 0]))
        return kept

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
def test_values_do_not_decide_who_is_left_out(grouped, seen, road):
    """Equal rows are different examples: a table of one row, many times, is left out by row."""
    X, y, _ = grouped
    number = np.arange(len(y)) * 1.0
    for others in (X[:, 1:], np.zeros((len(y), 3))):
        ROADS[road](np.column_stack([number, others]), y)
    distinct, equal = seen[: len(seen) // 2], seen[len(seen) // 2 :]
    assert distinct
    for one, other in zip(distinct, equal, strict=True):
        for rows, again in zip(one, other, strict=True):
            np.testing.assert_array_equal(rows, again)


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


def test_names_of_groups_change_nothing(grouped):
    _, y, groups = grouped
    renamed = groups.astype("datetime64[D]"), np.array([f"group {k}" for k in groups], dtype=object)
    for names in (groups, *renamed):
        parts = splits._parts(y, keys_of_groups(names, len(y)), 0.2, seed=0)
        inside = np.isin(groups, groups[parts[0]])
        np.testing.assert_array_equal(np.flatnonzero(inside), parts[0])


@pytest.mark.parametrize("counts", [[60, 1], [40, 7, 2], [9, 1, 1, 1]])
def test_folds_have_equal_parts_of_every_class_however_few_its_rows(counts):
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    examples = sort_by_class(np.zeros((len(y), 1)), y, None, None)
    folds, is_alone = splits.cross_fitting(examples, seed=0)
    sizes = [
        np.bincount(folds[at], minlength=5) for at in (examples.y == c for c in range(len(counts)))
    ]
    assert is_alone and np.ptp([*sizes, sum(sizes)], axis=1).max() <= 1
    assert not np.array_equal(folds, splits.cross_fitting(examples, seed=1)[0])


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


class UntilDate:
    """A splitter that knows the dates of all rows."""

    def __init__(self, dates):
        self.dates = dates

    def get_n_splits(self, X=None, y=None, groups=None):
        return 1

    def split(self, X=None, y=None, groups=None):
        yield np.flatnonzero(self.dates < 180), np.flatnonzero(self.dates >= 180)


KNOWING = {
    "predefined": lambda n: PredefinedSplit(np.where(np.arange(n) < 180, -1, 0)),
    "dates": lambda n: UntilDate(np.arange(n)),
    "pairs": lambda n: [(np.arange(180), np.arange(180, n))],
}


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("cv", KNOWING)
def test_a_splitter_gets_the_rows_of_the_user(grouped, seen, cv, early_stopping):
    """All rows in their order: copies and rows of weight zero move none of them."""
    X, y, _ = grouped
    X[:] = 0.0
    X[:, 0] = np.arange(len(y))
    X[100:120], y[100:120] = X[:20], y[:20]
    weight = np.ones(len(y))
    weight[[5, 200]] = 0
    CWBoostClassifier(cv=KNOWING[cv](len(y)), early_stopping=early_stopping, **SMALL).fit(
        X, y, weight
    )
    kept, left_out = seen[-1]
    np.testing.assert_array_equal(np.sort(left_out), np.delete(np.arange(180, len(y)), 20))
    np.testing.assert_array_equal(np.sort(kept), np.sort(np.delete(X[:180, 0], 5)))


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
