"""Target statistics: what a category says of the classes, without the row that asks."""

import numpy as np
import pandas as pd
import pytest

from cwboost import CWBoostClassifier
from cwboost.target_statistics import (
    MOST_SHARES,
    PRIOR_ROWS,
    TargetStatistics,
    class_groups,
    cross_fitted,
)

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 12, 400)
CHANCES = np.random.default_rng(1).dirichlet([0.3, 0.3, 0.3], 12)
Y = np.array([RNG.choice(3, p=CHANCES[code]) for code in CODES])
X = np.column_stack([CODES, RNG.normal(size=400), RNG.integers(0, 2, 400)]).astype(float)
N_CATEGORIES = np.array([12, 0, 2])
FOLDS = np.arange(400) % 5
NOTHING = np.zeros(400, dtype=bool)


def cross(y=Y, weight=None, left_out=NOTHING, X=X, folds=FOLDS):
    weight = np.ones(len(y)) if weight is None else weight
    return cross_fitted(X, y, weight, weight, folds, left_out, 3, N_CATEGORIES)


def test_shares_are_shrunk_to_those_of_all_rows_and_unknown_categories_have_these():
    statistics, _ = cross()
    own, of_all = Y[CODES == 4], np.bincount(Y) / 400
    shares = (np.bincount(own, minlength=3) + PRIOR_ROWS * of_all) / (len(own) + PRIOR_ROWS)
    found = statistics.features(np.array([[4.0, 7.0, 1.0], [np.nan, 8.0, 0.0]]))
    np.testing.assert_allclose(found, [[*shares, 7.0, 1.0], [*of_all, 8.0, 0.0]], rtol=1e-6)


def test_no_row_knows_the_labels_of_its_fold_nor_any_those_left_out():
    left_out = RNG.random(400) < 0.2
    statistics, features = cross(left_out=left_out)
    for fold in range(5):
        own = (fold == FOLDS) & ~left_out
        changed = Y.copy()  # the shares of all stay
        changed[own], changed[left_out] = RNG.permutation(Y[own]), 0
        np.testing.assert_array_equal(cross(changed, left_out=left_out)[1][own], features[own])
    np.testing.assert_array_equal(features[left_out], statistics.features(X[left_out]))


def test_a_weight_is_a_count_and_a_common_factor_is_nothing():
    weight = 1 + (RNG.random(400) < 0.3)  # half of all or more have the ordinary weight
    rows = np.repeat(np.arange(400), weight)
    by_weight = cross(weight=weight.astype(float))[0].shares
    by_copies = cross(Y[rows], X=X[rows], folds=FOLDS[rows], left_out=NOTHING[rows])[0].shares
    np.testing.assert_allclose(by_weight, by_copies, rtol=1e-6)
    np.testing.assert_allclose(cross(weight=np.full(400, 8.0))[0].shares, cross()[0].shares)


@pytest.mark.parametrize("n_classes", [2, 3, 8, 9, 50])
def test_shares_per_column_are_few(n_classes):
    groups = class_groups(n_classes)
    assert groups.shape[1] <= MOST_SHARES
    assert len(np.unique(groups, axis=0)) == n_classes or n_classes > 20


@pytest.mark.parametrize("fault", ["places", "start", "shares"])
def test_statistics_of_a_damaged_file_are_refused(fault):
    arrays = cross()[0].arrays()
    arrays[fault] = arrays[fault] - 1
    with pytest.raises(ValueError, match="must"):
        TargetStatistics.from_arrays(arrays, 3, 3)


def many_levels(n=1500, seed=0):
    """Levels in random order whose class is fixed, and noise."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 150, n)
    y = np.random.default_rng(99).integers(0, 4, 150)[codes]
    frame = pd.DataFrame({"city": [f"c{code}" for code in codes], "noise": rng.normal(size=n)})
    return frame.astype({"city": "category"}), np.where(rng.random(n) < 0.1, 0, y)


def test_many_levels_are_learned():
    (frame, y), (new, y_new) = many_levels(), many_levels(seed=1)
    scores = {
        encoding: CWBoostClassifier(random_state=0, category_encoding=encoding)
        .fit(frame, y)
        .score(new, y_new)
        for encoding in ("rank", "target")
    }
    assert scores["target"] > scores["rank"] + 0.05


def test_one_stump_has_the_best_subset():
    codes = np.random.default_rng(0).integers(0, 20, 1000)
    frame = pd.DataFrame(
        {"level": codes.astype(str), "noise": np.random.default_rng(1).random(1000)}
    )
    frame = frame.astype({"level": "category"})
    clf = CWBoostClassifier(
        "stump", init=None, n_estimators=1, learning_rate=1.0, category_encoding="target"
    ).fit(frame, codes % 2)
    assert clf.score(frame, codes % 2) == 1.0
    node = clf.to_frame().iloc[0]
    assert {int(level) % 2 for level in node["categories"]} == {1}


def test_a_training_that_goes_on_equals_one_without_a_break():
    frame, y = many_levels()
    params = {"init": None, "random_state": 0, "category_encoding": "target", "warm_start": True}
    whole = CWBoostClassifier(n_estimators=12, **params).fit(frame, y)
    parts = CWBoostClassifier(n_estimators=5, **params).fit(frame, y)
    parts.set_params(n_estimators=12).fit(frame, y)
    np.testing.assert_array_equal(parts.decision_function(frame), whole.decision_function(frame))


def test_groups_stay_together():
    """Rows of a group have its label: statistics that knew it would be taken for knowledge."""
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(100), 8)
    frame = pd.DataFrame({"unit": unit.astype(str), "noise": rng.normal(size=800)})
    frame, y = frame.astype({"unit": "category"}), rng.integers(0, 2, 100)[unit]
    clf = CWBoostClassifier(random_state=0, category_encoding="target").fit(frame, y, groups=unit)
    new = frame.assign(unit=pd.Categorical(["new"] * 800))
    assert clf.predict_proba(new).max() < 0.75


def test_categories_keep_no_order_that_constraints_could_ask_for():
    frame, y = many_levels()
    clf = CWBoostClassifier(category_encoding="target", monotonic_cst={"city": 1})
    with pytest.raises(ValueError, match="must be 0 for categories"):
        clf.fit(frame, y > 1)
    clf.set_params(monotonic_cst={"noise": 1}, n_estimators=5).fit(frame, y > 1)
    ordered = frame.iloc[:1].loc[[0] * 50].assign(noise=np.linspace(-3, 3, 50))
    assert (np.diff(clf.decision_function(ordered)) >= 0).all()
