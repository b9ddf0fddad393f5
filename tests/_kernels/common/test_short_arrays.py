"""Checks and choices on short arrays agree with NumPy, on strided and empty arrays too."""

import numpy as np
import pytest
from cwboost._kernels.common.short_arrays import (
    any_above,
    ascends_within,
    covers,
    largest,
)


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 2.0, 1.0, 2.0, -np.inf]])
def test_values(values):
    values = np.repeat(np.array(values), 2)[::2]
    for bound in (-1.0, 0.5, 1.5, 3.0):
        assert any_above(values, bound) == (values > bound).any()
        assert largest(values, bound) == values.max(initial=bound)


def test_numbers():
    numbers = np.array([0, 1, 1, 2, 5])
    assert ascends_within(numbers[::2], 6) and ascends_within(numbers[:0], 0)
    assert not ascends_within(numbers[::2], 5) and not ascends_within(numbers, 9)
    assert not ascends_within(numbers[::2] - 1, 6)
    assert covers(numbers[:4], 3) and covers(numbers[:0], 0)
    assert not covers(numbers[:4], 4) and not covers(numbers[1:4], 3)
