"""The choice of landmarks among many examples, and of the weights of features."""

import numpy as np
import pytest
from cwboost.plugins.kernel import KernelInit, fitting
from cwboost.plugins.kernel.codes import FeatureCodes
from cwboost.plugins.kernel.expansion import Expansion
from cwboost.plugins.kernel.fitting import Examples, Setting, evenly_spaced, squared_slopes
from cwboost.plugins.kernel.kernel_values import TAIL
from cwboost.plugins.kernel.relevance import relevance
from sklearn.metrics import mutual_info_score

from cwboost import InitContext
from cwboost.datasets import load_vowel


def selected(codes, y, n_landmarks, monkeypatch, weight=None):
    """Return the landmarks that a regression on 30 landmarks selects."""
    monkeypatch.setattr(fitting, "FEW", 30)
    monkeypatch.setattr(fitting, "LANDMARKS_PER_ROOT", 1e9)
    weight = np.ones(len(y)) if weight is None else weight
    expansion = Expansion.of(codes, np.arange(len(y)), None, np.arange(len(y)))
    examples = Examples(codes, expansion, y, 1, weight, 1, folds=None)
    d = codes.shape[1]
    setting = Setting(FeatureCodes(np.zeros(d), np.ones(d)), 300.0, 0.01)
    first = examples.first(setting, fitting.FEW)
    return fitting._selected(examples, first, n_landmarks)


def on_a_line(n):
    """Return examples on a line, whose class changes in the middle."""
    return np.rint(np.linspace(-120, 120, n))[:, None], (np.arange(n) >= n // 2).astype(int)


def test_half_of_the_landmarks_are_where_classes_meet(monkeypatch):
    at = selected(*on_a_line(240), 40, monkeypatch)
    assert len(at) == 40 and (np.diff(at) > 0).all()
    even = evenly_spaced(240, 20)
    assert np.isin(even, at).all()
    # But for the ripples of the scores, and the end of the line.
    assert np.median(np.abs(np.setdiff1d(at, even) - 119.5)) < 20


def test_of_equal_examples_one_is_a_landmark(monkeypatch):
    codes, y = on_a_line(60)
    at = selected(np.repeat(codes, 5, axis=0), np.repeat(y, 5), 80, monkeypatch)
    np.testing.assert_array_equal(at, np.arange(0, 300, 5))


def test_heavy_examples_are_harder(monkeypatch):
    codes, y = on_a_line(240)
    shares = []
    for light in (1, 1024):
        at = selected(codes, y, 40, monkeypatch, np.where(y == 0, 1.0, 1.0 / light))
        shares.append((y[np.setdiff1d(at, evenly_spaced(240, 20))] == 0).mean())
    assert shares[1] > shares[0] + 0.3


def test_slopes_are_derivatives():
    rng = np.random.default_rng(0)
    landmarks = rng.integers(-60, 60, (30, 4)).astype(np.int8)
    coefficients, width = rng.normal(size=(30, 2)), 900.0

    def scores(codes):
        squared = np.square(codes[:, None] - landmarks.astype(float)).sum(axis=2)
        return (1 + squared / (TAIL * width)) ** -TAIL @ coefficients

    step = 1e-4 * np.eye(4)
    slopes = np.array([(scores(landmarks + e) - scores(landmarks - e)) / 2e-4 for e in step])
    expected = np.square(slopes).sum(axis=(1, 2))
    found = squared_slopes(landmarks, width, coefficients)
    np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), rtol=1e-4)


@pytest.mark.parametrize("n", [1500, 2600])
def test_features_of_an_interaction_are_found_and_weighed(n, monkeypatch):
    """Neither feature alone tells anything; with both routes, all landmarks and some."""

    def examples(n, seed):
        X = np.random.default_rng(seed).normal(size=(n, 12))
        y = (X[:, 0] * X[:, 1] > 0).astype(int)
        order = np.argsort(y, kind="stable")
        return X[order], y[order]

    (X, y), (X_test, y_test) = examples(n, 0), examples(2000, 1)
    wrong = []
    for clearly in (fitting.CLEARLY, 0.0):
        monkeypatch.setattr(fitting, "CLEARLY", clearly)
        context = InitContext(n_classes=2, weight=np.ones(n), folds=np.arange(n) % 5)
        model, _ = KernelInit().fit(X, y, context)
        scale = model.codes.scale * X.std(axis=0)
        assert (scale[:2].min() > 2 * scale[2:].max()) == (clearly > 0)
        wrong.append((model.scores(X_test).argmax(axis=1) != y_test).mean())
        squares = np.square(model.shapley_values(X_test[:200])[0]).sum(axis=(0, 2))
        assert (squares[:2].sum() > 0.9 * squares.sum()) == (clearly > 0)
    assert wrong[0] < 0.7 * wrong[1]


def test_of_few_values_it_is_the_mutual_information_less_chance():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = np.column_stack([y, (y + rng.integers(0, 2, 600)) % 3, y == 1]).astype(float)
    n_values = np.array([3, 3, 2])
    freedom = 2 * (n_values - 1)
    chance = (freedom + 2.0 * np.sqrt(2.0 * freedom)) / 1200
    expected = [mutual_info_score(x, y) for x in X.T] - chance
    np.testing.assert_allclose(relevance(X, y, np.ones(600)), expected, rtol=1e-9)


def test_rare_and_frequent_values_count_alike():
    y = np.arange(400) % 2
    is_rare = (np.arange(400) % 40 == 0).astype(float)
    found = relevance(np.column_stack([is_rare, 1 - is_rare]), y, np.ones(400))
    assert found[0] == found[1] > 0


def test_features_of_chance_and_constants_have_none():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 5, 500)
    X = np.column_stack([rng.normal(size=(500, 100)), np.ones(500)])
    found = relevance(X, y, np.ones(500))
    assert found[-1] == 0.0 and np.count_nonzero(found) < 10


def test_columns_of_noise_do_not_mislead_the_model():
    vowel = load_vowel()
    order = np.argsort(vowel.target, kind="stable")
    X, y = vowel.data[order], vowel.target[order]
    rng = np.random.default_rng(2)
    noisy = np.hstack([X, rng.normal(size=(len(X), 50))])
    context = InitContext(
        n_classes=int(y.max()) + 1, weight=np.ones(len(y)), folds=np.arange(len(y)) % 5
    )
    errors = []
    for matrix in (X, noisy):
        _, left_out = KernelInit().fit(matrix, y, context)
        errors.append((left_out.argmax(axis=1) != y).mean())
    assert errors[1] < errors[0] + 0.02
