"""What fitted models are made of serves threads of Python that bring its first rows together."""

import numpy as np
import pytest
from models import at_once
from random_trees import random_trees
from scipy import sparse

from cwboost.kernels import AdditiveScores, Projector, TreeScores

N_FEATURES, N_LEARNERS = 300, 96


def projector(rng):
    return Projector, (rng.normal(size=(N_FEATURES, 64)),)


def trees(rng):
    nodes = random_trees(rng, np.full(N_LEARNERS, 60), 40, rng.normal(size=500))
    return TreeScores, (nodes, sparse.csr_array(rng.normal(size=(N_LEARNERS, 3))))


def stumps(rng):
    feature = rng.integers(0, N_FEATURES, N_LEARNERS).astype(np.int32)
    signs = rng.choice(np.array([-1, 1], np.int8), size=(2, N_LEARNERS))
    coef = rng.normal(size=(N_LEARNERS, 3))
    return AdditiveScores, (feature, rng.normal(size=N_LEARNERS), *signs, coef)


@pytest.mark.parametrize("parts", [projector, trees, stumps])
def test_first_rows_at_once(parts):
    """Each object makes tables for its first rows; an interpreter without a lock runs all calls."""
    rng = np.random.default_rng(0)
    make, given = parts(rng)
    X = rng.normal(size=(500, N_FEATURES))
    few, many = X[:40], X  # few rows of trees are searched by values, many by codes
    expected = [make(*given)(rows) for rows in (few, many, few, many)]
    for _ in range(20):
        scores = make(*given)
        found = at_once(lambda k, scores=scores: scores((few, many)[k % 2]))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
