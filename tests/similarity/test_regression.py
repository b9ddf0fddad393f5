"""The regression and its scores of examples left out, against fits that leave them out."""

import numpy as np
import pytest

from cwboost.similarity.choice import choose
from cwboost.similarity.codes import BLOCK, LARGEST, FeatureCodes, products, squares
from cwboost.similarity.likeness import FEW_FEATURES, TAIL, UNIT, Landmarks, likeness
from cwboost.similarity.regression.factor import LEAF, inverse_factor
from cwboost.similarity.regression.groups import stratified_groups
from cwboost.similarity.regression.leverage import SIGNS, Squares
from cwboost.similarity.regression.ridge import (
    CHUNK,
    JITTER,
    WEIGHT_UNIT,
    WEIGHTED_CHUNK,
    Coefficients,
    LandmarkRegression,
    regress_on_all,
    targets,
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, 60))
    X = rng.normal(size=(60, 4)) + y[:, None]
    codes = FeatureCodes.standardised(X)(X)
    alike = likeness(Landmarks(codes).distances(codes), 400.0)
    weight = np.rint(rng.uniform(0.1, 1, 60) * WEIGHT_UNIT)
    return alike, targets(y, 3), weight


def test_left_out_by_regression_on_all_is_a_regression_without_the_group(data):
    alike, Y, weight = data
    groups = stratified_groups(Y.argmax(axis=1))
    _, left_out = regress_on_all(alike, Y, weight, 0.1, groups)
    K = alike.astype(float) / UNIT
    for group in groups:
        own = group[group >= 0]
        others = np.setdiff1d(np.arange(60), own)
        A = K[np.ix_(others, others)] + np.diag(0.1 * WEIGHT_UNIT / weight[others])
        expected = K[np.ix_(own, others)] @ np.linalg.solve(A, Y[others])
        np.testing.assert_allclose(left_out[own], expected, atol=1e-4)


@pytest.mark.parametrize("counts", [[20, 20, 20], [13, 40, 29], [3, 50], [1, 1], [0, 7, 5]])
def test_groups_hold_the_same_share_of_each_class(counts):
    y = np.repeat(np.arange(len(counts)), counts)
    groups = stratified_groups(y)
    assert sorted(groups[groups >= 0].tolist()) == list(range(len(y)))
    assert (np.diff(groups < 0, axis=1) >= 0).all()  # the absent are last
    n_groups = max(10, min(count for count in counts if count))
    for group in groups:
        found = np.bincount(y[group[group >= 0]], minlength=len(counts))
        assert (np.abs(found - np.array(counts) / n_groups) < 1).all()


def test_scores_do_not_tell_labels_that_nothing_else_tells():
    """Left out one by one, examples of pure noise would be told by what their class lacks."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    codes = FeatureCodes.standardised(rng.normal(size=(60, 5)))(rng.normal(size=(60, 5)))
    alike = likeness(Landmarks(codes).distances(codes), 1e6)  # so wide that all are alike
    Y, weight = targets(y, 1), np.full(60, WEIGHT_UNIT)
    apart = []
    for groups in (stratified_groups(y), np.arange(60)[:, None]):
        left_out = regress_on_all(alike, Y, weight, 1.0, groups)[1]
        apart.append(left_out[y == 0].mean() - left_out[y == 1].mean())
    assert abs(apart[0]) < 0.2 * abs(apart[1]) and apart[1] < -0.02


def test_left_out_by_regression_on_landmarks_is_a_regression_without_the_example(data):
    """Landmarks are left out as landmarks too: new examples are none either."""
    alike, Y, weight = data
    at = np.arange(0, 60, 4)
    regression = LandmarkRegression(lambda rows: alike[rows][:, at], at, Y, weight)
    coefficients, left_out = regression(0.1)
    w = weight / WEIGHT_UNIT

    def fit(rows, at):
        P, K = alike[:, at] / UNIT, alike[at][:, at] / UNIT
        Q = P[rows] * w[rows, None]
        A = Q.T @ P[rows] + 0.1 * (K + JITTER * np.eye(len(at)))
        found = np.linalg.solve(A, Q.T @ Y[rows])
        return found, P @ found

    np.testing.assert_allclose(coefficients, fit(np.arange(60), at)[0], rtol=1e-9, atol=1e-9)
    for i in [0, 4, 7, 13, 28, 35, 59]:
        others = at[at != i]
        expected = fit(np.arange(60) != i, others)[1][i]
        np.testing.assert_allclose(left_out[i], expected, atol=1e-5)
    again = regression(1.0)[0]  # another penalty, with the sums of the first
    np.testing.assert_array_equal(
        again, LandmarkRegression(lambda rows: alike[rows][:, at], at, Y, weight)(1.0)[0]
    )


def test_squares_are_estimated_if_there_are_many_landmarks():
    rng = np.random.default_rng(0)
    m = SIGNS + 50
    B = np.tril(rng.normal(size=(m, m)))
    alike = np.rint(rng.uniform(0, UNIT, (500, m)))
    exact = np.square(B @ (alike.T / UNIT)).sum(axis=0)
    squares = Squares(B)
    np.testing.assert_allclose(squares.exact(alike), exact, rtol=1e-5)
    ratio = squares(alike) / exact
    assert abs(ratio.mean() - 1) < 0.1 and 0.06 < ratio.std() < 0.2  # (2 / SIGNS)**0.5 is 0.125
    assert np.array_equal(Squares(B, n_threads=2)(alike[:3]), squares(alike)[:3])
    few = Squares(B[:SIGNS, :SIGNS])
    assert np.array_equal(few(alike[:, :SIGNS]), few.exact(alike[:, :SIGNS]))


def test_with_many_landmarks_scores_of_landmarks_are_exact_and_others_nearly():
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, 900))
    codes = FeatureCodes.standardised(X := rng.normal(size=(900, 4)) + y[:, None])(X)
    at, Y, weight = np.arange(0, 900, 5), targets(y, 3), np.full(900, WEIGHT_UNIT)
    alike = likeness(Landmarks(codes[at]).distances(codes), 400.0)
    _, left_out = LandmarkRegression(alike.__getitem__, at, Y, weight)(0.1)
    P, K = alike / UNIT, alike[at] / UNIT
    A = P.T @ P + 0.1 * (K + JITTER * np.eye(len(at)))
    h = np.einsum("ij,ij->i", P, np.linalg.solve(A, P.T).T)[:, None]
    expected = (P @ np.linalg.solve(A, P.T @ Y) - h * Y) / (1 - h)
    others = np.setdiff1d(np.arange(900), at)
    # An estimate of h has a standard deviation of h (2 / SIGNS)**(1/2).
    scores = P @ np.linalg.solve(A, P.T @ Y)
    deviation = h * np.sqrt(2 / SIGNS) * np.abs(scores - Y) / (1 - h) ** 2
    surprise = ((left_out - expected) / deviation)[others]
    assert np.sqrt(np.mean(surprise**2)) < 1.2 and np.abs(surprise).max() < 6
    for place in [0, 50, 111, 179]:
        rest = np.arange(len(at)) != place
        A_rest = A[np.ix_(rest, rest)] - np.outer(P[at[place], rest], P[at[place], rest])
        sums = P[:, rest].T @ Y - np.outer(P[at[place], rest], Y[at[place]])
        alone = P[at[place], rest] @ np.linalg.solve(A_rest, sums)
        np.testing.assert_allclose(left_out[at[place]], alone, atol=1e-4)


def test_what_remains_of_the_squares_of_landmarks():
    rng = np.random.default_rng(1)
    B = np.tril(rng.normal(size=(7, 7))) + 2 * np.eye(7)
    alike = np.rint(rng.uniform(0, UNIT, (7, 7)))
    spread = B @ (alike.T / UNIT)
    squares, pulls = Squares(B).of_landmarks(alike)
    for i in range(7):
        rest = np.linalg.lstsq(B[:, [i]], spread[:, i])[1]
        np.testing.assert_allclose(squares[i], rest.item(), rtol=1e-4, atol=1e-6)
        expected = spread[:, i] @ B[:, i] / (B[:, i] @ B[:, i])
        np.testing.assert_allclose(pulls[i], expected, rtol=1e-4)


@pytest.mark.parametrize("weight", [1.0, 0.25])
def test_equal_weights_take_the_short_way_to_the_same_result(data, weight):
    alike, Y, _ = data
    at, small = np.arange(0, 60, 4), np.full(60, weight * WEIGHT_UNIT)
    uneven = small.copy()
    uneven[0] += 1e-9  # as good as equal, but not for the comparison
    given = [
        LandmarkRegression(lambda rows: alike[rows][:, at], at, Y, w)(0.1) for w in (small, uneven)
    ]
    for one, other in zip(*given):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("size", "weight"), [(CHUNK, 1.0), (WEIGHTED_CHUNK, WEIGHT_UNIT)])
def test_the_largest_sums_are_exact(size, weight):
    """Those of examples that are all equal and of the largest weight."""
    assert size * weight * UNIT**2 <= 2**53
    largest = np.full((size, 2), UNIT)
    sums = (largest * weight).T @ largest
    assert (sums == size * int(weight) * int(UNIT) ** 2).all()


@pytest.mark.parametrize("m", [1, 5, LEAF, LEAF + 1, 3 * LEAF + 7])
def test_inverse_factor(m):
    rng = np.random.default_rng(m)
    S = rng.normal(size=(m + 3, m))
    A = S.T @ S + 0.1 * np.eye(m)
    B = inverse_factor(A)
    assert (np.triu(B, 1) == 0).all()
    np.testing.assert_allclose(B @ A @ B.T, np.eye(m), atol=1e-9)
    assert np.array_equal(B, inverse_factor(A, n_threads=2))


@pytest.mark.parametrize("m", [4, 2 * LEAF])
def test_a_matrix_that_is_not_positive_definite(m):
    A = np.eye(m)
    A[m - 1, m - 1] = -1
    with pytest.raises(ValueError, match="not positive definite"):
        inverse_factor(A)


@pytest.mark.parametrize("d", [3, BLOCK, 2 * BLOCK + 5])
def test_products_of_codes_are_exact(d):
    rng = np.random.default_rng(d)
    one, other = (rng.integers(-LARGEST, LARGEST + 1, (n, d)) for n in (7, 5))
    one[0], other[0] = LARGEST, LARGEST  # the largest sums
    expected = one @ other.T
    given = products(one.astype(np.float32), other.astype(np.float32))
    assert np.array_equal(given, expected)
    assert np.array_equal(squares(one.astype(np.float32)), np.square(one).sum(axis=1))


@pytest.mark.parametrize("d", [3, FEW_FEATURES, FEW_FEATURES + 1])
def test_distances(d):
    rng = np.random.default_rng(d)
    one, other = (rng.integers(-LARGEST, LARGEST + 1, (n, d)) for n in (7, 5))
    one[0], other[0] = LARGEST, -LARGEST  # as far apart as codes may be
    given = Landmarks(other.astype(np.float32)).distances(one.astype(np.float32))
    expected = np.square(one[:, None] - other).sum(axis=2)
    assert given.dtype == np.float32
    assert np.array_equal(given, expected.astype(np.float32))


def test_likeness_is_the_formula_in_single_precision():
    squared = np.random.default_rng(0).integers(0, 2**23, (31, 17)).astype(np.float32)
    grown = squared * np.float32(1 / (TAIL * 900.0)) + np.float32(1)
    expected = np.rint(np.float32(UNIT) / ((grown * grown) * (grown * grown)))
    given = likeness(squared, 900.0)
    assert given.dtype == np.float64 and np.array_equal(given, expected)
    room = np.empty(squared.shape)
    assert likeness(squared, 900.0, room) is room and np.array_equal(room, given)
    assert likeness(np.zeros((1, 1), dtype=np.float32), 900.0) == UNIT
    with pytest.raises(ValueError, match="same shape"):
        likeness(squared, 900.0, room[1:])


def test_codes_are_the_rounded_formula_for_every_dtype_and_order():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 200, (40, 9))
    codes = FeatureCodes(rng.uniform(0, 200, 9), rng.uniform(0, 3, 9))
    expected = np.clip(np.rint((X - codes.centre) * codes.scale), -LARGEST, LARGEST)
    for other in (X, X.astype(np.uint8), X.astype(np.float32), np.asfortranarray(X.astype(float))):
        assert np.array_equal(codes(other), expected)
    assert np.array_equal(codes(X[:0]), expected[:0])


def test_codes_of_odd_features():
    X = np.array([[1.0, 5.0, 1e200, 0.0], [2.0, 5.0, -1e200, 1e-200], [3.0, 5.0, 0.0, 0.0]])
    for codes in (FeatureCodes.standardised(X), FeatureCodes.plain(X)):
        given = codes(X)
        assert given.dtype == np.float32 and np.isfinite(given).all()
        assert np.abs(given).max() <= LARGEST and (given == np.rint(given)).all()
        assert (given[:, 1] == given[0, 1]).all()
    assert len(set(FeatureCodes.standardised(X)(X)[:, 0])) == 3
    infinite = X.copy()
    infinite[0] = np.inf
    assert np.abs(FeatureCodes.standardised(X)(infinite)).max() <= LARGEST


def test_codes_do_not_depend_on_the_order_of_sums():
    X = np.random.default_rng(0).normal(3, 5, (501, 6))
    given = FeatureCodes.standardised(X)
    for other in (np.asfortranarray(X), X[::-1], X.astype(np.longdouble).astype(float)):
        found = FeatureCodes.standardised(other)
        assert np.array_equal(found.centre, given.centre)
        assert np.array_equal(found.scale, given.scale)


def test_coefficients_lose_little_and_their_sums_are_exact():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1999, 4)) * 30
    alike = rng.integers(0, int(UNIT) + 1, (50, 1999)).astype(np.float32)
    given = Coefficients(values)
    exact = [
        [sum(int(a) * int(w) for a, w in zip(row, col)) for col in given.whole.T] for row in alike
    ]
    assert np.abs(np.array(exact, dtype=object)).max() < 2**53
    expected = np.array(exact, dtype=float) * (given.unit / UNIT)
    assert np.array_equal(given.scores(alike), expected)
    np.testing.assert_allclose(expected, alike @ values / UNIT, atol=1e-4)


def test_the_choice_prefers_a_narrow_kernel_for_islands_and_a_wide_one_for_a_noisy_direction():
    rng = np.random.default_rng(0)
    centres = rng.uniform(-1, 1, (60, 2))
    X = np.repeat(centres, 6, axis=0) + rng.normal(0, 0.01, (360, 2))
    islands = np.repeat(np.arange(60) % 2, 6)
    noisy = (X.sum(axis=1) + rng.normal(0, 0.5, 360) > 0).astype(int)
    narrow, wide = (
        choose(X, targets(y, 1), y, np.full(360, WEIGHT_UNIT)) for y in (islands, noisy)
    )
    assert narrow.width < wide.width / 16 and narrow.penalty < wide.penalty


def test_the_choice_sees_which_scale_of_the_features_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)) * [1, 1, 0.05, 0.05, 0.05, 0.05]
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    setting = choose(X, targets(y, 1), y, np.full(300, WEIGHT_UNIT))
    assert len(set(setting.codes.scale)) == 1  # noise in small features is kept small


def test_there_is_no_choice_among_equal_examples():
    y = np.array([0, 0, 1, 1])
    assert choose(np.ones((4, 2)), targets(y, 1), y, np.full(4, WEIGHT_UNIT)) is None
