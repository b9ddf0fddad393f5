"""The relevance of features, and what useless ones cost the kernel model."""

import numpy as np
from cwboost.plugins.kernel import KernelInit
from cwboost.plugins.kernel.relevance import relevance
from sklearn.metrics import mutual_info_score

from cwboost import InitContext
from cwboost.datasets import load_vowel


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
