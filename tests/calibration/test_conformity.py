"""Prediction sets: coverage on new examples, files, and models that have none."""

import numpy as np
import pytest
from models import paper
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier
from cwboost.calibration.calibration import LeftOut
from cwboost.conformity import MOST_KEPT, Conformity
from cwboost.datasets import load_pendigits


def noisy(X, y, share=0.25):
    """Return labels of which some are drawn at random, so that sets have to be large."""
    rng = np.random.default_rng(0)
    changed = rng.random(len(y)) < share
    return X, np.where(changed, rng.permutation(y), y)


@pytest.mark.parametrize("load", [load_digits, load_wine, load_breast_cancer, load_pendigits])
@pytest.mark.parametrize("given", [True, False], ids=["X_val", "holdout run"])
def test_sets_lack_the_true_class_as_seldom_as_asked(load, given):
    X, y = noisy(*load(return_X_y=True))
    X, y = X[:1500], y[:1500]
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, random_state=1, stratify=y)
    X, X_val, y, y_val = train_test_split(X, y, test_size=0.4, random_state=1, stratify=y)
    held_out = {"X_val": X_val, "y_val": y_val} if given else {}
    clf = CWBoostClassifier("tree", init=None, n_estimators=20, random_state=0).fit(
        X, y, **held_out
    )
    for alpha in (0.05, 0.2, 0.5):
        sets = clf.predict_set(X_test, alpha)
        assert sets.shape == (len(X_test), len(clf.classes_)) and sets.dtype == bool
        own = np.searchsorted(clf.classes_, y_test)
        missed = np.count_nonzero(~sets[np.arange(len(own)), own])
        # Both samples are random: of as many examples as the smaller one has, three deviations.
        n = min(len(y_test), len(clf.model_.conformity.label))
        assert missed / len(own) <= (binom.ppf(0.999, n, alpha) + 1) / n


def test_every_class_keeps_its_own_share():
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.1).astype(int)
    X = rng.normal(size=(4000, 2)) + 1.2 * y[:, None]
    clf = CWBoostClassifier("tree", init=None, n_estimators=20, random_state=0)
    clf.fit(X[:1500], y[:1500], X_val=X[1500:2700], y_val=y[1500:2700])
    own = y[2700:]
    sets = [clf.predict_set(X[2700:], 0.2, by_class=by) for by in (False, True)]
    lacks = [~found[np.arange(1300), own][own == 1] for found in sets]
    assert lacks[0].mean() > 0.4 and lacks[1].mean() < 0.35


def test_no_set_is_empty_if_none_may_be():
    X, y = load_wine(return_X_y=True)
    clf = CWBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    sets, filled = (clf.predict_set(X, 0.5, allow_empty=empty) for empty in (True, False))
    assert not sets.any(axis=1).all() and filled.any(axis=1).all()
    best = np.eye(3, dtype=bool)[clf.predict_proba(X).argmax(axis=1)]
    np.testing.assert_array_equal(filled, sets | best)


RARE = {2: 20, 3: 20}


@pytest.mark.parametrize(
    "params",
    [
        {"class_weight": "balanced"},
        {"class_weight": RARE, "n_estimators": 40},
        {"class_weight": "balanced", "early_stopping": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("way", ["fit", "refit"])
def test_sets_follow_the_rows_and_not_the_class_weights(params, way):
    """Two classes overlap; two rare ones, of much weight, are easy."""

    def sample(n, seed):
        rng = np.random.default_rng(seed)
        y = rng.choice(4, size=n, p=[0.48, 0.48, 0.02, 0.02])
        X = rng.normal(size=(n, 3))
        X[np.arange(n), np.maximum(y - 1, 0)] += np.array([0.0, 1.2, 8.0, 8.0])[y]
        return X, y

    X, y = sample(4000, 9)
    missed = []
    for seed in range(3):
        clf = CWBoostClassifier(init=None, random_state=seed, **params).fit(*sample(1500, seed))
        clf = clf if way == "fit" else clf.refit(*sample(1500, 10 + seed))
        missed.append(1 - clf.predict_set(X, 0.1)[np.arange(len(y)), y].mean())
    assert np.mean(missed) < 0.14


def test_too_few_examples_give_every_class():
    known = Conformity(np.array([0, 0, 1]), np.array([0.2, 0.9, 0.7]), np.ones(3))
    np.testing.assert_array_equal(known.thresholds(0.2, 3, False), [0, 0, 0])
    np.testing.assert_allclose(known.thresholds(0.5, 3, False), [0.45] * 3)
    np.testing.assert_allclose(known.thresholds(0.5, 3, True), [0.1, 0.35, 0])


@pytest.mark.parametrize("seed", range(3))
def test_sets_of_a_model_of_few_probabilities_are_not_all_empty(seed):
    """The holdout run and the model give its commonest probability other digits."""
    rng = np.random.default_rng(seed)
    y = (np.arange(60) < 12).astype(int)
    clf = CWBoostClassifier("stump", correction="classwise", random_state=seed)
    clf.fit(rng.integers(0, 2, size=(60, 1)), y)
    sets = clf.predict_set([[0], [1]], alpha=0.25)
    assert sets[:, 0].all()


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("alpha", [0.05, 0.3, 1.0])
def test_a_weight_is_a_number_of_copies(alpha, by_class):
    rng = np.random.default_rng(0)
    logits, y, weight = rng.normal(size=(60, 3)), rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    weight[::7] = 5  # the ordinary weight, the median, is 1
    rows = np.repeat(np.arange(60), weight)
    copies = Conformity.of(logits[rows], y[rows], np.ones(len(rows)))
    for factor in (1.0, 3.0):
        weighted = Conformity.of(logits, y, LeftOut.weighed(y, factor * weight).weight)
        np.testing.assert_array_equal(
            weighted.thresholds(alpha, 3, by_class), copies.thresholds(alpha, 3, by_class)
        )


def test_the_order_of_the_rows_is_nothing():
    """Of more rows than are kept, too: an order may be periodic."""
    rng, n = np.random.default_rng(0), 2 * MOST_KEPT
    logits, y = rng.normal(size=(n, 2)), np.arange(n) % 2
    shuffled = rng.permutation(n)
    pairs = (logits, y), (logits[shuffled], y[shuffled])
    one, other = (Conformity.of(*own, np.ones(n)) for own in pairs)
    np.testing.assert_equal(vars(one), vars(other))
    np.testing.assert_array_equal(np.bincount(one.label), [MOST_KEPT / 2] * 2)


def test_a_model_without_examples_left_out_says_what_to_do():
    X, y = load_wine(return_X_y=True)
    clf = paper(n_estimators=5).fit(X[::2], y[::2])
    with pytest.raises(ValueError, match="predict_set needs examples that training left out"):
        clf.predict_set(X)
    clf.calibrate(X[1::2], y[1::2])
    assert clf.predict_set(X).any()
    for alpha in (0.0, 1.1):
        with pytest.raises(ValueError, match="alpha must be > 0"):
            clf.predict_set(X, alpha)


@pytest.mark.parametrize(
    ("label", "probability", "dtype", "message"),
    [
        ([0, 3], [0.5, 0.5], int, r"conformity: label must lie in \[0, 3\)"),
        ([0, -1], [0.5, 0.5], int, r"conformity: label must lie in \[0, 3\)"),
        ([0, 1], [0.5, np.nan], int, r"conformity: probability must lie in \[0, 1\]"),
        ([0, 1], [0.5], int, r"array 'conformity\.probability' must have shape \(2,\), got"),
        ([], [], int, "conformity: label must have 1 to 5000 entries, got 0"),
        ([0, 1], [0.5, 0.5], float, r"'conformity\.label' must have dtype int64, got float64"),
    ],
)
def test_arrays_of_a_file_are_checked(label, probability, dtype, message):
    with pytest.raises(ValueError, match=message):
        weight = np.ones(len(probability))
        Conformity(np.array(label, dtype=dtype), np.array(probability), weight).check(3)
