"""Discriminant directions of the projection family, against the formula computed by NumPy."""

import models
import numpy as np
import pytest
from cwboost.plugins.projections import ProjectionFamily, discriminants
from cwboost.plugins.projections.standardise import centre_and_scale

from cwboost.kernels import Projector, group_sums, ridge_solve


def bind(X, n_targets, n_threads=1, **parameters):
    family = ProjectionFamily(kind="discriminant", **parameters)
    return models.bind(family, X, n_targets, 3, n_threads=n_threads)


def by_formula(X, weights, shrinkage):
    centre, scale = centre_and_scale(X)
    Z = (X - centre) * scale
    S = Z.T @ Z / len(Z) + shrinkage * np.eye(X.shape[1])
    directions = []
    for w in weights:
        positive, negative = np.maximum(w, 0), np.maximum(-w, 0)
        difference = positive @ Z / positive.sum() - negative @ Z / negative.sum()
        direction = np.linalg.solve(S, difference)
        directions.append(direction / np.abs(direction).max())
    return np.array(directions)


@pytest.mark.parametrize("kept", [discriminants.KEPT, 3])
def test_directions_are_ridge_discriminants(monkeypatch, kept):
    monkeypatch.setattr(discriminants, "KEPT", kept)
    rng = np.random.default_rng(0)
    X, weights = rng.normal(5, 2, size=(300, 9)), rng.normal(size=(4, 300))
    learners = bind(X, 4, max_features=None, shrinkage=0.3).price(weights).learners
    expected = by_formula(X, weights, 0.3)
    # A target may take the direction of another one.
    found = learners.drawn.stored.matrix().toarray()
    assert (np.abs(found[:, None] - expected).max(axis=2).min(axis=1) < 1e-4).all()


def test_a_round_draws_its_features():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(200, 12)), rng.normal(size=(3, 200))
    pricer = bind(X, 3, max_features=5)
    used = [pricer.price(weights).learners.drawn.stored.matrix().toarray() != 0 for _ in range(2)]
    for rows in used:
        assert (rows == rows[0]).all() and rows[0].sum() == 5
    assert (used[0][0] != used[1][0]).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_sums_of_groups_are_products_in_chunks(dtype):
    """Half of the rows lack weights; any number of threads gives the same bits."""
    rng = np.random.default_rng(3)
    n, features, chunk = 70_000, np.array([1, 2, 4]), 2**15
    X = (20 * rng.random((n, 5))).astype(dtype)
    weights = rng.normal(size=(5, n))
    weights[:, rng.random(n) < 0.5] = 0
    groups = np.concatenate([np.maximum(weights, 0), np.maximum(-weights, 0)])
    masses, sums = np.zeros(10), np.zeros((10, 3))
    for start in range(0, n, chunk):
        own = slice(start, start + chunk)
        masses += np.add.accumulate(groups[:, own], axis=1)[:, -1]
        columns = np.ascontiguousarray(X[own].T[features])
        sums += Projector(groups[:, own].T)(columns, 1, np.float64)
    for n_threads in (1, 3):
        found = group_sums(X, weights, features, n_threads)
        np.testing.assert_array_equal(found[0], masses)
        np.testing.assert_array_equal(found[1], sums)
    with pytest.raises(ValueError, match="X must have 70000 rows, got 2"):
        group_sums(X[:2], weights, features, 1)
    assert group_sums(X[:0], weights[:, :0], features, 2)[1].shape == (10, 3)


def test_degenerate_weights_and_features():
    X = np.zeros((20, 3))
    constant = bind(X, 2).price(np.ones((2, 20)))
    np.testing.assert_array_equal(constant.edges, [20, 20])
    X = np.column_stack([np.arange(20.0), np.arange(20.0), np.zeros(20)])
    weights = np.vstack([np.ones(20), np.zeros(20), np.repeat([-1, 1], 10)])
    found = bind(X, 3, max_features=None, shrinkage=1e-12).price(weights)
    np.testing.assert_array_equal(found.edges, [20, 0, 20])


def test_ridge_solve():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(40, 11)), rng.normal(size=(11, 3))
    S = A.T @ A
    expected = np.linalg.solve(S + 0.5 * np.eye(11), B)
    np.testing.assert_allclose(ridge_solve(S, B, 0.5), expected, rtol=1e-9)
    np.testing.assert_allclose(ridge_solve(np.triu(S), B.T.copy().T, 0.5), expected, rtol=1e-9)
    # The ridge grows until the matrix is positive definite.
    np.testing.assert_allclose(ridge_solve(-np.eye(2), np.eye(2), 0.75), 2 * np.eye(2))
    assert ridge_solve(np.eye(2), np.empty((2, 0)), 1.0).shape == (2, 0)
    with pytest.raises(ValueError, match="S and B must be finite"):
        ridge_solve(S * np.nan, B, 1.0)
    with pytest.raises(ValueError, match="ridge must be > 0, got 0"):
        ridge_solve(S, B, 0)


def test_ridge_solve_on_places_of_a_larger_matrix():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(40, 11)), rng.normal(size=(4, 3))
    S, places = A.T @ A, np.array([1, 2, 7, 10])
    own = ridge_solve(S[np.ix_(places, places)], B, 0.5)
    np.testing.assert_array_equal(ridge_solve(S, B, 0.5, places), own)
    with pytest.raises(ValueError, match=r"places must be in \[0, 11\), got 11"):
        ridge_solve(S, B, 0.5, places + 1)
    with pytest.raises(ValueError, match="B have as many rows, got 3"):
        ridge_solve(S, B[:3], 0.5, places)
