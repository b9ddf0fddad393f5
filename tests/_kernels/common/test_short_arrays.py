"""Checks and choices on short arrays agree with NumPy, on strided and empty arrays too."""

import numpy as np
import pytest
from cwboost._kernels.common.short_arrays import (
    any_above,
    ascends,
    count_set,
    covers,
    flat_places,
    largest,
    one_layer,
    places_above,
)


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 2.0, 1.0, 2.0, -np.inf]])
def test_values(values):
    values = np.repeat(np.array(values), 2)[::2]
    for bound in (-1.0, 0.5, 1.5, 3.0):
        np.testing.assert_array_equal(places_above(values, bound), np.flatnonzero(values > bound))
        assert any_above(values, bound) == (values > bound).any()
        assert largest(values, bound) == values.max(initial=bound)


def test_numbers():
    numbers = np.array([0, 1, 1, 2, 5])
    assert ascends(numbers[::2]) and ascends(numbers[:0]) and not ascends(numbers)
    assert covers(numbers[:4], 3) and covers(numbers[:0], 0)
    assert not covers(numbers[:4], 4) and not covers(numbers[1:4], 3)


def test_flat_places():
    rng = np.random.default_rng(0)
    X, rows, columns = rng.random((7, 5)), rng.integers(0, 7, (2, 9)), rng.integers(0, 5, 9)
    np.testing.assert_array_equal(X.ravel()[flat_places(rows, columns, 5, 1)], X[rows, columns])
    with pytest.raises(ValueError, match="9 rows"):
        flat_places(rows[:, 1:], columns, 5, 1)


def test_one_layer():
    classes, rows = np.array([0, 2, 3]), np.array([5, 0, 7])
    layer = one_layer(classes, rows, 5)
    np.testing.assert_array_equal(layer, [[5, -1, 0, 7, -1]])
    assert count_set(layer) == 3
    assert one_layer(classes[[0, 2, 2]], rows, 5) is None
    for n_classes in (3, 2):
        with pytest.raises(IndexError, match=f"got {n_classes}"):
            one_layer(classes, rows, n_classes)
    with pytest.raises(ValueError, match="3 rows"):
        one_layer(classes, rows[:2], 5)
