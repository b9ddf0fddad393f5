"""Columns of categories on partitions: what is refused, and in which words."""

import numpy as np
import pandas as pd
import pytest
from partitions import split, train

from cwboost import ProjectionFamily, StumpFamily, TreeFamily

RNG = np.random.default_rng(0)
N = 300
Y = RNG.integers(0, 3, N)
X = np.column_stack([RNG.normal(size=N), RNG.integers(0, 4, N)])


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
            "partition 1 of the training data: X must hold .* got text in column 'number'",
        ),
        (
            [False],
            frame(),
            "partition 0 .*must be a mask of 2 bools.*got 1",
        ),
        (["kind", "sort"], frame(), "partition 0 of the training data:.* got 'sort'; X has"),
        (
            ["number"],
            frame(),
            "partition 0 of the training data: X must hold .* got text in column 'kind'",
        ),
    ],
)
def test_errors_name_column_and_partition(categorical, second, message):
    blocks = [(frame(), [0, 1, 0, 1]), (second, [0, 1, 0, 1])]
    with pytest.raises(ValueError, match=message):
        train(StumpFamily(), blocks, 1, categorical=categorical)


def test_families_that_take_fewer_categories_or_none():
    many = np.arange(N, dtype=float)[:, None]
    with pytest.raises(ValueError, match=r"at most .* 'tree', got 300 in column 0"):
        train(TreeFamily(categories="subsets"), split(many, Y, 150), 1, categorical=[0])
    with pytest.raises(ValueError, match=r"categories than max_bins=256 .*got 300 in column 0"):
        train(StumpFamily(), split(many, Y, 150), 1, categorical=[0])
    with pytest.raises(ValueError, match=r"max_categories is needed .*\(column 1\)"):
        train(ProjectionFamily(), split(X, Y, 150), 1, categorical=[1])
