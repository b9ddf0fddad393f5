"""Columns of categories on partitions: the model is that of local training."""

import numpy as np
import pandas as pd
import pytest
from partitions import assert_same_learners, local, split, train

from cwboost import ProjectionFamily, StumpFamily, TreeFamily

RNG = np.random.default_rng(0)
N = 300
Y = RNG.integers(0, 3, N)


def codes(n_categories, missing=0.1):
    """Return category codes that tell something of Y, some of them missing."""
    preferred = RNG.integers(0, 3, n_categories)
    found = RNG.integers(0, n_categories, N).astype(float)
    for _ in range(3):
        wrong = preferred[found.astype(int)] != Y
        found[wrong] = RNG.integers(0, n_categories, wrong.sum())
    found[RNG.random(N) < missing] = np.nan
    return found


X = np.column_stack([np.round(RNG.normal(size=N) + Y, 1), codes(4), codes(300), codes(7, 0)])
CATEGORICAL = [1, 2, 3]


@pytest.mark.parametrize("categorical", [CATEGORICAL, [0, *CATEGORICAL]])
def test_stumps_are_those_of_local_training(categorical):
    wanted = local("stump", X, Y, 12, categorical_features=categorical)
    assert wanted.ensemble_.learners.category_sets is not None
    blocks = split(X, Y, 40, 0, 130)
    one, other = (
        train(StumpFamily(), b, 12, n_workers=n, categorical=categorical)
        for n, b in ((1, [(X, Y)]), (2, blocks))
    )
    assert_same_learners(one.model.ensemble(), wanted.ensemble_)
    assert_same_learners(other.model.ensemble(), wanted.ensemble_)
    np.testing.assert_array_equal(one.model.ensemble().coef().data, wanted.ensemble_.coef().data)
    bounds = other.model.history["dual_bound"]
    np.testing.assert_allclose(bounds, wanted.history_["dual_bound"], rtol=1e-9)


def frame(**columns):
    return pd.DataFrame({"number": np.arange(4.0), "kind": pd.Categorical(list("abab")), **columns})


@pytest.mark.parametrize(
    ("categorical", "second", "message"),
    [
        (
            "from_dtype",
            frame(kind=[1.0, 2, 3, 4]),
            "partition 1: X: column 'kind' holds no categories, in partition 0 it does",
        ),
        (
            "from_dtype",
            frame(kind=pd.Categorical([1, 2, 1, 2])),
            "partition 1: X: column 'kind' holds categories of the kind numbers, those of "
            "partition 0 are of the kind text",
        ),
        (
            "from_dtype",
            frame(number=list("wxyz")),
            "partition 1 of the training data: X: column 'number' holds text",
        ),
        (
            [False],
            frame(),
            "partition 0 .*must be a mask of 2 bools.*got 1; it ends before column 'kind'",
        ),
        (["kind", "sort"], frame(), "partition 0 of the training data: .* no column 'sort'"),
        (["number"], frame(), "partition 0 of the training data: X: column 'kind' holds text"),
    ],
)
def test_errors_name_column_and_partition(categorical, second, message):
    blocks = [(frame(), [0, 1, 0, 1]), (second, [0, 1, 0, 1])]
    with pytest.raises(ValueError, match=message):
        train(StumpFamily(), blocks, 1, categorical=categorical)


def test_families_that_take_fewer_categories_or_none():
    many = np.arange(N, dtype=float)[:, None]
    with pytest.raises(ValueError, match="column 0 has 300 categories, the weak learner 'tree'"):
        train(TreeFamily(categories="subsets"), split(many, Y, 150), 1, categorical=[0])
    with pytest.raises(ValueError, match=r"max_categories is needed .*\(column 1\)"):
        train(ProjectionFamily(), split(X, Y, 150), 1, categorical=[1])
