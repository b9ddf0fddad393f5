"""exp and log: two units in the last place, the values at the ends, any shape and layout."""

import numpy as np
import pytest
from cwboost._kernels.common.arrays import any_above, ascends_within, largest

from cwboost.kernels import exp, log, log_softmax, softmax

ULPS = 2 * np.finfo(np.float64).eps


def test_exp_and_log_to_two_units_in_the_last_place():
    rng = np.random.default_rng(0)
    small = rng.normal(size=20_000) * 1e-3
    x = np.concatenate([rng.uniform(-700, 700, 20_001), small, [0.0, -0.0]])
    np.testing.assert_allclose(exp(x), np.exp(x.astype(np.longdouble)).astype(float), rtol=ULPS)
    y = np.concatenate([exp(x), 1 + small, [5e-324, 1e-310, 1.7e308]])
    np.testing.assert_allclose(log(y), np.log(y.astype(np.longdouble)).astype(float), rtol=ULPS)


@pytest.mark.parametrize("function, reference", [(exp, np.exp), (log, np.log)])
def test_ends_numbers_and_layouts(function, reference):
    odd = np.array([-np.inf, -1e5, -701.0, 0.0, 1.0, 701.0, 1e5, np.inf, np.nan, -0.0, -5e-324])
    with np.errstate(all="ignore"):
        expected = reference(odd)
    if function is exp:
        expected[[2, 5]] = 0.0, np.inf
    np.testing.assert_allclose(function(odd), expected, rtol=ULPS)
    for number, value in zip(odd, function(odd)):
        for one in (float(number), np.float64(number), np.array(number)):
            assert np.ndim(function(one)) == 0
            np.testing.assert_array_equal(function(one), value)
    table = np.arange(1.0, 36.0).reshape(5, 7)
    for layout in (table.T, table[::2, ::3], table.astype(np.float32), table.tolist()):
        np.testing.assert_array_equal(function(layout), function(np.array(layout, dtype=float)))
    assert function(np.zeros((0, 3))).shape == (0, 3)


def test_probabilities_of_extreme_logits():
    logits = np.array([[8e307, -8e307], [0.0, 0.0], [-1e5, -1e5 + 1], [3.0, np.log(0.5)]])
    p, log_p = softmax(logits), log_softmax(logits)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_array_equal(p[:2], [[1, 0], [0.5, 0.5]])
    assert np.isfinite(log_p[1:]).all()
    np.testing.assert_allclose(exp(log_p[1:]), p[1:], rtol=1e-14)


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 2.0, 1.0, 2.0, -np.inf]])
def test_choices_on_short_arrays(values):
    """Strided and empty ones too."""
    values = np.repeat(np.array(values), 2)[::2]
    for bound in (-1.0, 0.5, 1.5, 3.0):
        assert any_above(values, bound) == (values > bound).any()
        assert largest(values, bound) == values.max(initial=bound)
    numbers = np.array([0, 1, 1, 2, 5])
    assert ascends_within(numbers[::2], 6) and ascends_within(numbers[:0], 0)
    assert not ascends_within(numbers[::2], 5) and not ascends_within(numbers, 9)
    assert not ascends_within(numbers[::2] - 1, 6)
