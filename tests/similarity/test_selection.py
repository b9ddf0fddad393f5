"""The choice of landmarks among many examples."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import cwboost.similarity.fitting as fitting
from cwboost.similarity import SimilarityScores
from cwboost.similarity.choice import Setting
from cwboost.similarity.codes import FeatureCodes, class_scores
from cwboost.similarity.equal import first_of_equals
from cwboost.similarity.regression import WEIGHT_UNIT
from cwboost.similarity.selection import evenly_spaced, select

WIDTH = 300.0


def on_a_line(n=400):
    """Return codes of examples on a line, whose class changes in the middle, and the classes."""
    codes = np.rint(np.linspace(-120, 120, n))[:, None].astype(np.int8)
    return codes, (np.arange(n) >= n // 2).astype(int)


def selected(codes, y, n_landmarks, weight=None, penalty=0.1):
    """Return the landmarks that a first regression selects, and its penalty."""
    weight = np.full(len(y), WEIGHT_UNIT) if weight is None else weight
    d = codes.shape[1]
    as_they_are = FeatureCodes(np.zeros(d), np.ones(d))
    examples = fitting.Examples(codes.astype(float), y, 1, weight, 1)
    first, _ = fitting._first(examples, Setting(as_they_are, WIDTH, penalty), fitting.FACTORS)
    assert np.array_equal(first.codes, codes)
    at = select(first_of_equals(codes), first.left_out, y, examples.weight, n_landmarks)
    return at, first.setting.penalty


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(fitting, "FIRST", 30)


def test_half_of_the_landmarks_are_where_classes_meet(few):
    codes, y = on_a_line(240)
    at, _ = selected(codes, y, 40)
    assert len(at) == 40 and (np.diff(at) > 0).all()
    even = evenly_spaced(240, 20)
    assert np.isin(even, at).all()
    hard = np.setdiff1d(at, even)
    # But for the ripples of the scores, and the end of the line.
    assert len(hard) == 20 and np.median(np.abs(hard - 119.5)) < 20
    assert (np.abs(hard - 119.5) < 23).sum() >= 18


def test_of_equal_examples_one_is_a_landmark(few):
    codes, y = on_a_line(60)
    repeated = np.repeat(codes, 5, axis=0)
    at, _ = selected(repeated, np.repeat(y, 5), 80)
    assert len(np.unique(codes)) == 60  # fewer than landmarks
    np.testing.assert_array_equal(at, np.arange(0, 300, 5))
    at, _ = selected(repeated, np.repeat(y, 5), 40)
    assert len(np.unique(repeated[at])) == len(at) == 40


def test_heavy_examples_are_harder(few):
    codes, y = on_a_line(240)
    shares = []
    for light in (1, 1024):
        weight = np.where(y == 0, WEIGHT_UNIT, WEIGHT_UNIT / light)
        at, _ = selected(codes, y, 40, weight)
        hard = np.setdiff1d(at, evenly_spaced(240, 20))
        shares.append((y[hard] == 0).mean())
    assert shares[1] > shares[0] + 0.3


def test_the_penalty_falls_where_that_lowers_the_loss(few):
    codes, y = on_a_line(240)
    assert selected(codes, y, 40)[1] == pytest.approx(0.01)
    rng = np.random.default_rng(0)
    noise = np.sort(rng.integers(-100, 100, (240, 3)).astype(np.int8), axis=0)
    assert selected(rng.permutation(noise), y, 40, penalty=1.0)[1] == 1.0


def test_hard_landmarks_are_worth_more_than_as_many_others(monkeypatch):
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(y))
    train, test = np.sort(rows[:1200]), rows[1200:]
    train = train[np.argsort(y[train], kind="stable")]
    monkeypatch.setattr(fitting, "FEW", 100)
    monkeypatch.setattr(fitting, "_n_landmarks", lambda *_: 150)
    wrong = []
    for chosen in (select, _evenly):
        monkeypatch.setattr(fitting, "select", chosen)
        fitted, levels = SimilarityScores.fit(X[train], y[train], 10, np.ones(1200))
        assert len(fitted.landmarks) == 150
        wrong.append((class_scores(fitted(X[test])).argmax(axis=1) != y[test]).mean())
        # What training sees is like what new examples get, of landmarks too.
        left_out = (class_scores(levels).argmax(axis=1) != y[train]).mean()
        assert abs(left_out - wrong[-1]) < 0.015
    assert wrong[0] < 0.8 * wrong[1]


def _evenly(candidates, left_out, y, weight, n_landmarks):
    return evenly_spaced(len(y), n_landmarks)
