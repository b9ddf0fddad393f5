"""The regression and its scores of examples left out, against fits that leave them out."""

import numpy as np
import pytest
from cwboost.plugins.kernel.codes import LARGEST, FeatureCodes
from cwboost.plugins.kernel.kernel_values import BLOCK, TAIL, UNIT, Landmarks, kernel_values
from cwboost.plugins.kernel.regression import (
    CHUNK,
    JITTER,
    SIGNS,
    WEIGHT_UNIT,
    WEIGHTED_CHUNK,
    Coefficients,
    Leverages,
    cross_fit_on_landmarks,
    regress_on_all,
    regress_on_landmarks,
    targets,
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, 60))
    X = rng.normal(size=(60, 4)) + y[:, None]
    codes = FeatureCodes.standardised(X, 4)(X)
    values = kernel_values(Landmarks(codes).distances(codes), 400.0)
    weight = np.rint(rng.uniform(0.1, 1, 60) * WEIGHT_UNIT)
    return values, targets(y, 3), weight


def test_left_out_by_regression_on_all_is_a_regression_without_the_example(data):
    values, Y, weight = data
    _, left_out = regress_on_all(values, Y, weight, 0.1)
    K = values / UNIT
    for i in range(60):
        others = np.delete(np.arange(60), i)
        A = K[np.ix_(others, others)] + np.diag(0.1 * WEIGHT_UNIT / weight[others])
        np.testing.assert_allclose(left_out[i], K[i, others] @ np.linalg.solve(A, Y[others]))


def test_left_out_by_regression_on_landmarks_is_a_regression_without_the_example(data):
    """Landmarks are left out as landmarks too: new examples are none either."""
    values, Y, weight = data
    at, w = np.arange(0, 60, 4), weight / WEIGHT_UNIT
    coefficients, left_out = regress_on_landmarks(
        lambda rows: values[rows][:, at], at, Y, weight, 0.1
    )

    def fit(rows, at):
        P, K = values[:, at] / UNIT, values[at][:, at] / UNIT
        Q = P[rows] * w[rows, None]
        A = Q.T @ P[rows] + 0.1 * (K + JITTER * np.eye(len(at)))
        found = np.linalg.solve(A, Q.T @ Y[rows])
        return found, P @ found

    np.testing.assert_allclose(coefficients, fit(np.arange(60), at)[0], rtol=1e-9, atol=1e-9)
    for i in [0, 4, 7, 13, 28, 35, 59]:
        expected = fit(np.arange(60) != i, at[at != i])[1][i]
        np.testing.assert_allclose(left_out[i], expected, atol=1e-5)


def test_equal_weights_take_the_short_way_to_the_same_result(data):
    values, Y, _ = data
    at, equal = np.arange(0, 60, 4), np.full(60, 0.25 * WEIGHT_UNIT)
    uneven = equal + 1e-9 * (np.arange(60) == 0)  # as good as equal, but not for the comparison
    one, other = (
        regress_on_landmarks(lambda rows: values[rows][:, at], at, Y, w, 0.1)
        for w in (equal, uneven)
    )
    np.testing.assert_allclose(one[0], other[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(one[1], other[1], rtol=1e-6, atol=1e-6)


def test_leverages_are_estimated_if_there_are_many_landmarks():
    rng = np.random.default_rng(0)
    m = SIGNS + 50
    B = np.tril(rng.normal(size=(m, m)))
    values = np.rint(rng.uniform(0, UNIT, (500, m)))
    exact = np.square(B @ (values.T / UNIT)).sum(axis=0)
    found = Leverages(B)(values)
    ratio = found / exact
    assert abs(ratio.mean() - 1) < 0.1 and 0.06 < ratio.std() < 0.2  # (2 / SIGNS)**0.5 is 0.125
    assert np.array_equal(Leverages(B, n_threads=2)(values[:3]), found[:3])
    few = np.square(B[:SIGNS, :SIGNS] @ (values[:, :SIGNS].T / UNIT)).sum(axis=0)
    np.testing.assert_allclose(Leverages(B[:SIGNS, :SIGNS])(values[:, :SIGNS]), few, rtol=1e-5)


@pytest.mark.parametrize(("size", "weight"), [(CHUNK, 1.0), (WEIGHTED_CHUNK, WEIGHT_UNIT)])
def test_the_largest_sums_are_exact(size, weight):
    """Those of examples that are all equal and of the largest weight."""
    assert size * weight * UNIT**2 <= 2**53
    largest = np.full((size, 2), UNIT)
    assert ((largest * weight).T @ largest == size * int(weight) * int(UNIT) ** 2).all()


def test_coefficients_give_exact_sums_whatever_their_signs():
    values = np.random.default_rng(0).normal(size=(500, 2)) * [1e-30, 1e30]
    whole = np.abs(Coefficients(values).whole).sum(axis=0)
    assert (whole * UNIT < 2**53).all() and whole[1] * UNIT > 2**51


@pytest.mark.parametrize("d", [3, BLOCK, 2 * BLOCK + 5])
def test_distances(d):
    rng = np.random.default_rng(d)
    one, other = (rng.integers(-LARGEST, LARGEST + 1, (n, d)) for n in (7, 5))
    one[0], other[0] = LARGEST, -LARGEST  # as far apart as codes may be
    room = np.empty((7, 5), dtype=np.float32)
    given = Landmarks(other.astype(np.int8)).distances(one.astype(np.float32), room)
    expected = np.square(one[:, None] - other).sum(axis=2)
    assert given is room
    np.testing.assert_allclose(given, expected, rtol=0 if d <= BLOCK else 1e-7)


def test_kernel_values_are_the_formula_in_single_precision():
    squared = np.random.default_rng(0).integers(0, 2**23, (31, 17)).astype(np.float32)
    grown = squared * np.float32(1 / (TAIL * 900.0)) + np.float32(1)
    expected = np.rint(np.float32(UNIT) / ((grown * grown) * (grown * grown)))
    room = np.empty(squared.shape)
    assert kernel_values(squared, 900.0, room) is room and np.array_equal(room, expected)
    assert kernel_values(np.zeros((1, 1), dtype=np.float32), 900.0) == UNIT
    with pytest.raises(ValueError, match="same shape"):
        kernel_values(squared, 900.0, room[1:])


def test_codes_are_the_rounded_formula_for_every_dtype_and_order():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 200, (40, 9))
    codes = FeatureCodes(rng.uniform(0, 200, 9), rng.uniform(0, 3, 9))
    expected = np.clip(np.rint((X - codes.centre) * codes.scale), -LARGEST, LARGEST)
    for other in (X, X.astype(np.uint8), X.astype(np.float32), np.asfortranarray(X.astype(float))):
        assert np.array_equal(codes(other), expected)
    assert np.array_equal(codes(X[:0]), expected[:0])


def test_codes_of_odd_features():
    X = np.array([[1.0, 0.1, 1e36, 0.0], [2.0, 0.1, -1e36, 1e-200], [3.0, 0.1, 0.0, 0.0]])
    for codes in (FeatureCodes.standardised(X, 4), FeatureCodes.plain(X)):
        assert codes.scale[1] == codes.scale[3] == 0
        assert np.isfinite(codes(X)).all() and (codes(X)[:, [1, 3]] == 0).all()
    assert (np.diff(FeatureCodes.standardised(X, 4)(X)[:, 0]) > 10).all()
    rare = np.zeros((100, 2))
    rare[0] = 1.0
    scale = FeatureCodes.standardised(rare, 1).scale
    assert scale[0] > 4 * scale[1] == 4 * 32.0  # the second one is an indicator


def test_left_out_folds_are_regressions_without_them(data):
    values, Y, weight = data
    at, K, folds = np.arange(0, 60, 4), values / UNIT, np.arange(60) % 3
    _, left_out = regress_on_all(values, Y, weight, 0.1, folds=folds)
    P = values[:, at]
    _, of_landmarks, coefficients = cross_fit_on_landmarks(
        lambda rows: P[rows], at, Y, weight, 0.1, folds
    )
    for k in range(3):
        inside, outside = folds == k, np.flatnonzero(folds != k)
        A = K[np.ix_(outside, outside)] + 0.1 * np.diag(WEIGHT_UNIT / weight[outside])
        expected = K[np.ix_(inside, outside)] @ np.linalg.solve(A, Y[outside])
        np.testing.assert_allclose(left_out[inside], expected, atol=1e-9)
        assert not coefficients[k][folds[at] == k].any()
        np.testing.assert_allclose(
            of_landmarks[inside], P[inside] / UNIT @ coefficients[k], atol=1e-6
        )
