"""The linear init model: its coefficients, its scores of examples left out, and its forms."""

import numpy as np
import pytest
from cwboost.plugins.kernel import FittedLinear, LinearInit, linear
from cwboost.plugins.kernel.logistic import LogisticRegression
from scipy import sparse
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import log_loss

from cwboost import CWBoostClassifier, InitContext
from cwboost.kernels import softmax
from cwboost.testing import parametrize_with_plugin_checks


@parametrize_with_plugin_checks([LinearInit()])
def test_it_keeps_the_contract(plugin, check):
    check(plugin)


def by_class(load):
    X, y = load(return_X_y=True)
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


def fit(X, y, **context):
    folds = np.random.default_rng(0).integers(0, 5, len(y))
    context = {"n_classes": int(y.max()) + 1, "weight": np.ones(len(y)), "folds": folds, **context}
    return LinearInit().fit(X, y, InitContext(**context))


def problem(n_classes, n=600, seed=0):
    """Return rows of whole numbers with a last one of 16, indicators of classes, and folds."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(0, n_classes, n))
    X = np.rint(16 * (rng.normal(size=(n, 6)) + 0.3 * rng.normal(size=(n_classes, 6))[y]))
    targets = (y[:, None] == np.arange(n_classes)).astype(float)
    fold = rng.integers(0, 5, n)
    folds = [np.flatnonzero(fold == k) for k in range(5)]
    return np.column_stack([X, np.full(n, 16.0)]), targets, y, folds


def regression(rows, targets, weight=None, share=1.0):
    penalty = np.append(np.full(rows.shape[1] - 1, 10.0), 1e-3) * 256 * share
    weight = np.ones(len(rows)) if weight is None else weight
    return LogisticRegression(rows, targets, weight, penalty, n_threads=1)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_the_coefficients_are_those_of_logistic_regression(n_classes):
    rows, targets, y, _ = problem(n_classes)
    found = rows @ regression(rows, targets).coefficients
    # Of two classes, scikit-learn has the difference of the coefficients, which is twice as large.
    C = 0.2 if n_classes == 2 else 0.1
    other = linear_model.LogisticRegression(C=C, tol=1e-8, max_iter=1000)
    p = other.fit(rows[:, :-1] / 16, y).predict_proba(rows[:, :-1] / 16)
    np.testing.assert_allclose(softmax(found), p, atol=0.005)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_left_out_are_nearly_those_of_regressions_without_the_fold(n_classes):
    rows, targets, y, folds = problem(n_classes)
    found, exact = np.empty_like(targets), np.empty_like(targets)
    for at, coefficients in zip(folds, regression(rows, targets).without(folds)):
        others = np.setdiff1d(np.arange(len(rows)), at)
        found[at] = rows[at] @ coefficients
        exact[at] = rows[at] @ regression(rows[others], targets[others]).coefficients
    inside = log_loss(y, softmax(rows @ regression(rows, targets).coefficients))
    optimism = log_loss(y, softmax(exact)) - inside
    assert abs(log_loss(y, softmax(found)) - log_loss(y, softmax(exact))) < 0.2 * optimism


def test_weights_are_counts():
    rows, targets, _, _ = problem(3, 200)
    counts = np.random.default_rng(1).integers(1, 4, len(rows))
    repeated = regression(np.repeat(rows, counts, axis=0), np.repeat(targets, counts, axis=0))
    # Penalties are for weights of mean one.
    weighed = regression(rows, targets, counts * 1.0, share=1 / counts.mean())
    np.testing.assert_allclose(weighed.coefficients, repeated.coefficients, atol=1e-6)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine])
def test_it_recognises_examples_left_out(load):
    X, y = by_class(load)
    fitted, scores = fit(X, y)
    assert isinstance(fitted, FittedLinear) and fitted.n_rows_kept == 0
    assert (scores.argmax(axis=1) == y).mean() > 0.9
    values, base = fitted.shapley_values(X)
    np.testing.assert_allclose(values.sum(axis=1) + base, fitted.scores(X), atol=1e-9)
    values, base = fitted.shapley_values(X, X[:20])
    np.testing.assert_allclose(base, fitted.scores(X[:20]).mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(values.sum(axis=1) + base, fitted.scores(X), atol=1e-9)


def test_gaps_and_categories_tell_the_class():
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, 400))
    X = rng.normal(size=(400, 3))
    X[:, 1] = (y + (rng.random(400) < 0.2)) % 4
    X[::3, 2] = np.where(y[::3] == 2, np.nan, X[::3, 2])
    X[5, 0] = np.inf
    fitted, scores = fit(X, y, categorical=np.array([False, True, False]))
    assert (scores.argmax(axis=1) == y).mean() > 0.75
    assert np.isfinite(fitted.scores(np.full((2, 3), np.nan))).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y, c: (X[::8], y[::8], c),
        lambda X, y, c: (sparse.csr_array(X), y, c),
        lambda X, y, c: (np.ones_like(X), y, c),
        lambda X, y, c: (X[:, :0], y, c),
        lambda X, y, c: (np.tile(X, (1, 33)), y, c),
        lambda X, y, c: (X, y, {**c, "n_classes": 31}),
    ],
)
def test_data_that_do_not_suit_are_refused(change):
    X, y = by_class(load_iris)
    X, y, context = change(X, y, {"n_classes": 3})
    assert fit(X, y, **context) == (None, None)


def test_of_many_examples_some_are_regressed_on(monkeypatch):
    X, y = by_class(load_breast_cancer)
    monkeypatch.setattr(linear, "MOST", 200)
    fitted, scores = fit(X, y)
    assert (scores.argmax(axis=1) == y).mean() > 0.93
    assert not np.array_equal(scores, fitted.scores(X))


@pytest.mark.parametrize("name", ["coefficients", "intercept", "scale", "level_column"])
def test_wrong_arrays_are_refused(name):
    X, y = by_class(load_iris)
    arrays = fit(X, y)[0].arrays()
    arrays[name] = arrays[name][:-1] if len(arrays[name]) else np.array([7])
    with pytest.raises(ValueError, match="array"):
        FittedLinear.from_arrays(arrays, 4, 3)


def test_it_enters_the_race_where_it_is_nearly_as_low_as_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 10))
    noisy = (X.sum(axis=1) + 4 * rng.normal(size=1500) > 0).astype(int)
    plan = CWBoostClassifier(random_state=0).fit(X, noisy).plan_
    *_, before, last = plan.curves.values()
    assert plan.init == "linear" and last.kept_loss < before.kept_loss
    squares = (np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2
    plan = CWBoostClassifier(random_state=0).fit(X, squares).plan_
    assert plan.init is None and "linear" not in plan.curves
