"""Kernel ridge regression as an init model: what its scores say, and what they depend on."""

import numpy as np
import pytest
from cwboost.plugins.kernel import FittedKernel, KernelInit, model, on_codes
from scipy import sparse
from sklearn.datasets import load_digits, load_iris

from cwboost import InitContext
from cwboost.testing import parametrize_with_plugin_checks


@parametrize_with_plugin_checks([KernelInit(), KernelInit(max_landmarks=50)])
def test_it_keeps_the_contract(plugin, check):
    check(plugin)


def by_class(load):
    X, y = load(return_X_y=True)
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


def fit(X, y, max_landmarks=2000, **context):
    folds = np.arange(len(y)) % 5
    context = {"n_classes": int(y.max()) + 1, "weight": np.ones(len(y)), "folds": folds, **context}
    return KernelInit(max_landmarks).fit(X, y, InitContext(**context))


def mixed(n=400, seed=0):
    """Return examples with gaps, infinities and two columns of categories, which tell the class."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(0, 3, n))
    X = rng.normal(size=(n, 5))
    X[:, 1] = (y + (rng.random(n) < 0.2)) % 4
    X[:, 3] = rng.integers(0, 40, n)
    X[rng.random((n, 5)) < 0.1] = np.nan
    X[5, 0], X[7, 2] = np.inf, -np.inf
    X[::3, 4] = np.where(y[::3] == 2, np.nan, X[::3, 4])
    return X, y, np.array([False, True, False, True, False])


@pytest.fixture(scope="module", params=["all", "landmarks", "some examples"])
def digits(request):
    X, y = by_class(load_digits)
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "some examples":
            patch.setattr(model, "MOST", 1200)
        fitted, scores = fit(X, y, 2000 if request.param == "all" else 400)
        assert fitted.n_rows_kept == (len(y) if request.param == "all" else 400)
        yield X, y, fitted, scores


@pytest.fixture(scope="module")
def table():
    X, y, categorical = mixed()
    return (X, y, *fit(X, y, categorical=categorical))


def test_examples_left_out_are_recognised(digits):
    X, y, fitted, scores = digits
    assert scores.shape == (len(y), 10) and scores.dtype == np.float64
    assert (scores.argmax(axis=1) == y).mean() > 0.96
    assert (fitted.scores(X).argmax(axis=1) == y).mean() > 0.98


def test_scores_of_sparse_rows_and_in_chunks(digits, monkeypatch):
    X, _, fitted, _ = digits
    whole = fitted.scores(X)
    for form in (sparse.csr_array, sparse.csc_array):
        assert np.array_equal(whole, fitted.scores(form(X)))
    assert fitted.scores(X[:0]).shape == (0, 10)
    monkeypatch.setattr(on_codes, "ENTRIES", 3000)
    assert np.array_equal(whole, fitted.scores(X))


def test_scores_of_two_classes_are_opposite():
    X, y = by_class(load_iris)
    fitted, scores = fit(X[y > 0], y[y > 0] - 1)
    for found in (scores, fitted.scores(X)):
        assert found.shape[1] == 2 and np.array_equal(found[:, 0], -found[:, 1])
    assert (scores.argmax(axis=1) == y[y > 0] - 1).mean() > 0.9


def test_gaps_and_categories_are_expanded(table):
    X, y, fitted, scores = table
    expansion = fitted.expansion
    assert expansion.numeric.tolist() == [0, 2, 4] and expansion.gaps.tolist() == [0, 1, 2]
    assert (expansion.level_column == 1).sum() == 4 and (expansion.level_column == 3).sum() == 30
    counts = np.bincount(X[np.isfinite(X[:, 3]), 3].astype(int))
    codes = expansion.level_code[expansion.level_column == 3]
    assert counts[codes].min() >= np.delete(counts, codes).max()
    known = np.isfinite(X)
    np.testing.assert_allclose(expansion.fill[0], X[known[:, 0], 0].mean())
    rows = expansion(X)
    assert rows.shape == (len(y), len(expansion)) and np.isfinite(rows).all()
    np.testing.assert_array_equal(rows[:, 3:6], ~known[:, [0, 2, 4]])
    np.testing.assert_array_equal(rows[:, 6:10], X[:, [1]] == np.arange(4))
    assert rows[5, 0] == expansion.fill[0] and rows[7, 1] == expansion.fill[1]
    # Both the category and the gaps of the last column tell the class.
    assert (scores.argmax(axis=1) == y).mean() > 0.75
    squares = np.square(fitted.shapley_values(X)[0]).sum(axis=(0, 2))
    assert squares.argmax() == 1 and squares[4] > 2 * squares[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y, c: (X[::8], y[::8], c),
        lambda X, y, c: (sparse.csr_array(X), y, c),
        lambda X, y, c: (np.ones_like(X), y, c),
        lambda X, y, c: (np.full_like(X, np.nan), y, c),
        lambda X, y, c: (X[:, :0], y, c),
        lambda X, y, c: (np.tile(X, (1, 2501)), y, c),
        lambda X, y, c: (X, y, {**c, "n_classes": 101}),
    ],
)
def test_data_that_do_not_suit_are_refused(change):
    X, y = by_class(load_iris)
    X, y, context = change(X, y, {"n_classes": 3})
    assert fit(X, y, **context) == (None, None)


@pytest.mark.parametrize("max_landmarks", [49, 2001])
def test_a_wrong_number_of_landmarks(max_landmarks):
    with pytest.raises(ValueError, match="max_landmarks must be in"):
        fit(*by_class(load_iris), max_landmarks)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("fill", [np.array([0.0, np.nan, 0.0])]),
        ("numeric", [np.array([0, 4, 2]), np.array([0, 2, 5]), np.array([-1, 2, 4])]),
        ("gaps", [np.array([0, 1, 3])]),
        ("level_column", [lambda a: a + 5]),
        ("level_code", [lambda a: a - 1]),
        ("centre", [lambda a: a * np.inf]),
        ("scale", [lambda a: a + 1e200]),
        ("landmarks", [lambda a: a[:0], lambda a: np.full_like(a, -128)]),
        ("coefficients", [lambda a: a[1:], lambda a: a[:, :2], lambda a: a + np.inf]),
        ("width", [np.zeros(1), np.array([1e-300]), np.array([np.nan]), np.array(1.0)]),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_wrong_arrays_are_refused(table, name, values):
    for value in values:
        arrays = table[2].arrays()
        arrays[name] = value(arrays[name]) if callable(value) else value
        with pytest.raises(ValueError, match="array"):
            FittedKernel.from_arrays(arrays, 5, 3)
