"""Which examples are left out of training: for early stopping, and for holdout runs."""

from __future__ import annotations

import math

import numpy as np
from sklearn.model_selection import train_test_split

from cwboost.estimator.examples import HeldOut
from cwboost.estimator.problem import Problem

__all__ = ["NEGLIGIBLE", "holdout_splits", "split_off"]

SHARE_LEFT_OUT = 0.2
"""Share of the examples on which a holdout run is measured."""

MOST_LEFT_OUT = 20_000
"""Largest number of these: their log loss is then known within 1%."""

ENOUGH_LEFT_OUT, MOST_SPLITS = 500, 3
"""Small data are split again, until the first number of examples has been left out, or the second
number of times: the log loss of few examples is noise."""

NEGLIGIBLE = 2.0**-100
"""Factor of the weights of examples that a holdout run leaves out: they count nothing, but their
scores are followed."""


def split_off(problem: Problem, classes, fraction: float, random_state) -> tuple[Problem, HeldOut]:
    """Hold out a stratified part of the training examples for early stopping.

    Return the problem of those that stay, and the others, without weights if all are equal.
    """
    if (alone := classes[problem.counts == 1]).size:
        raise ValueError(
            "early_stopping holds out examples of every class, but of class "
            f"{alone[0]!s} there is only one; pass X_val and y_val"
        )
    n_samples = len(problem.y)
    n_held = math.ceil(fraction * n_samples)
    if min(n_held, n_samples - n_held) < len(classes):
        raise ValueError(
            f"validation_fraction must hold out and leave one example of each of {len(classes)} "
            f"classes; {fraction} of {n_samples} examples are {n_held}: change it, or pass X_val "
            "and y_val"
        )
    kept, held = train_test_split(
        np.arange(n_samples), test_size=fraction, stratify=problem.y, random_state=random_state
    )
    kept.sort()
    weight = None if (problem.weight == problem.weight[0]).all() else problem.weight[held]
    return problem.take(kept), HeldOut(problem.X(held), problem.y[held], weight)


def holdout_splits(counts, rng) -> tuple[list[np.ndarray], int]:
    """Return the examples that holdout runs leave out, and the seed of these runs.

    Examples are drawn by class and ascend. There is one array per training of a run: several if the
    data are small, none if no class has an example to spare.
    """
    n_samples = counts.sum()
    share = min(SHARE_LEFT_OUT, MOST_LEFT_OUT / n_samples)
    sizes = np.rint(share * counts).astype(int)
    if not sizes.any():
        return [], 0
    starts = np.cumsum(counts) - counts
    left_out = [
        np.sort(
            np.concatenate(
                [
                    start + rng.permutation(count)[:size]
                    for start, count, size in zip(starts, counts, sizes)
                ]
            )
        )
        for _ in range(min(MOST_SPLITS, math.ceil(ENOUGH_LEFT_OUT / sizes.sum())))
    ]
    return left_out, int(rng.integers(2**63))
