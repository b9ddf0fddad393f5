"""How many examples weights stand for."""

import numpy as np
import pytest

from cwboost.support.weights import effective_size, parts_of_size, share_of_size, size_of


@pytest.mark.parametrize("factor", [1.0, 0.3, 7.0])
def test_multiples_of_one_number_are_counts(factor):
    for counts in ([1, 1, 5], [2, 3, 3], [4, 6, 10], [3, 7, 10]):
        weight = factor * np.repeat(counts, 40)
        unit = np.gcd.reduce(counts)
        assert effective_size(weight) == pytest.approx(40 * sum(counts) / unit)
        parts = [parts_of_size(part) for part in np.split(weight, [10, 50])]
        assert size_of(parts) == pytest.approx(effective_size(weight))


@pytest.mark.parametrize("weights", [(280, 281), (36, 35), (0.812, 0.905), (np.pi, np.e)])
def test_numbers_that_have_little_in_common_are_no_counts(weights):
    weight = np.repeat(weights, 100)
    kish = weight.sum() ** 2 / (weight**2).sum()
    assert effective_size(weight) == pytest.approx(kish) and kish <= 200


def test_factors_count_nothing():
    weight, y = np.array([1.0, 1.0, 3.0, 1.0]), np.array([0, 0, 1, 1])
    assert share_of_size(weight, np.full(4, 5.0)) == pytest.approx(1.0)
    copies, factor = np.repeat(np.arange(4), [1, 1, 3, 1]), np.array([1.0, 4.0])
    own = factor[y[copies]]
    share = own.sum() ** 2 / (own**2).sum() / 6
    assert share_of_size(weight, factor[y]) == pytest.approx(share)
