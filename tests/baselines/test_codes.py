"""The codes of AdaBoost.MO and AdaBoost.ECC."""

import itertools

import numpy as np
import pytest

from cwboost.baselines import codes


def splits(code):
    """Return the columns as splits: the set of classes with the sign of class 0."""
    return {frozenset(np.flatnonzero(column == column[0])) for column in code.T}


@pytest.mark.parametrize("n_classes", [2, 3, 5, 11])
def test_exhaustive_has_every_split_once(n_classes):
    code = codes.exhaustive(n_classes)
    assert code.shape == (n_classes, 2 ** (n_classes - 1) - 1) and code.dtype == np.int8
    assert set(np.unique(code)) == {-1, 1}
    found = splits(code)
    assert len(found) == code.shape[1] and frozenset(range(n_classes)) not in found
    # Any two classes differ in just over half of the bits.
    for a, b in itertools.combinations(range(n_classes), 2):
        assert (code[a] != code[b]).sum() == 2 ** (n_classes - 2)


@pytest.mark.parametrize(
    ("n_classes", "n_bits"), [(2, 1), (3, 3), (5, 15), (10, 34), (20, 44), (43, 55)]
)
def test_random_dense_has_distinct_splits_and_words(rng, n_classes, n_bits):
    code = codes.code_matrix("random", n_classes, None, rng)
    assert code.shape == (n_classes, n_bits) and set(np.unique(code)) == {-1, 1}
    assert len(splits(code)) == n_bits
    assert (np.abs(code.sum(axis=0)) < n_classes).all()
    distance = [(a != b).sum() for a, b in itertools.combinations(code, 2)]
    assert min(distance) >= 1
    if n_classes >= 10:
        assert min(distance) > 0.2 * n_bits


def test_random_half(rng):
    drawn = np.array([codes.random_half(7, rng) for _ in range(200)])
    assert (drawn.sum(axis=1) == -1).all()
    assert (np.abs(drawn.mean(axis=0)) < 0.5).all()


def test_refusals(rng):
    with pytest.raises(ValueError, match="at most 11 classes"):
        codes.code_matrix("exhaustive", 12, None, rng)
    with pytest.raises(ValueError, match="at most 7, the splits of 4 classes"):
        codes.code_matrix("random", 4, 8, rng)
