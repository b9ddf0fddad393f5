"""The check of exact pricing against enumeration and against known optima."""

from collections.abc import Iterator

import numpy as np

from cwboost.families.contract import WeakLearners
from cwboost.testing.material import (
    WHOLE,
    bind,
    boosting_weights,
    integer_weights,
    levels,
    reals,
    tolerance,
    with_missing,
)

N_SAMPLED = 96


def check_exact_pricing(family, brute_force=None):
    """Check that no learner of the family has a larger edge than the one price() returns.

    On small matrices and weights of several kinds, pricing is compared with all learners that
    `brute_force` enumerates, and with many learners that the family finds for other weights. Then
    optima are planted: if the signs of the weights equal the outputs of a learner of the family,
    its edge is the sum of the absolute weights, the largest possible, and pricing must reach it.
    """
    for what, X in _matrices(family):
        sampled = _sampled_outputs(family, X)
        candidates = sampled
        if brute_force is not None:
            candidates = np.hstack([sampled, _enumerated(brute_force, family, X)])
        for kind, weights in _weights(sampled):
            pricer = bind(family, X, n_targets=len(weights))
            assert pricer.exact, f"{what}: the pricer is exact on some matrices only"
            edges = pricer.price(weights, WHOLE).edges
            best = (weights @ candidates).max(axis=1)
            short = best - edges - tolerance(weights)
            worst = int(np.argmax(short))
            assert short[worst] <= 0, (
                f"{what}, {kind}: pricing found an edge of {edges[worst]}, but another learner of "
                f"the family has {best[worst]}"
            )
            if kind == "planted":
                assert np.array_equal(edges, np.abs(weights).sum(axis=1)), (
                    f"{what}: pricing missed a learner that agrees with the sign of every weight"
                )


def check_exact_at_scale(family):
    """Check that exact pricing stays exact with thousands of rows and many columns.

    A small problem is hidden in a large one: each of its rows occurs many times, with weights that
    add up to the small one's, and its columns stand among others that carry no information. The
    best edge of the large problem is at least that of the small one.
    """
    for seed in range(3):
        rng = np.random.default_rng(seed)
        small = rng.integers(0, 6, size=(30, 3)).astype(np.float64)
        row = rng.permutation(np.arange(2_400) % 30)
        large = rng.integers(0, 6, size=(2_400, 40)).astype(np.float64)
        large[:, 1 + np.sort(rng.choice(39, 3, replace=False))] = small[row]
        labels = np.where(small > rng.integers(1, 5, size=3), 1.0, -1.0).T
        weights = 2.0 * labels[:, row] + 2.0 * rng.integers(-30, 31, size=(3, 2_400))
        summed = np.stack([np.bincount(row, w, minlength=30) for w in weights])
        expected = bind(family, small).price(summed, WHOLE).edges
        edges = bind(family, large).price(weights, WHOLE).edges
        short = np.flatnonzero(edges < expected - tolerance(weights))
        assert not len(short), (
            f"{large.shape[0]} rows, {large.shape[1]} columns: pricing found an edge of "
            f"{edges[short[0]]}, the same problem on 30 distinct rows and 3 columns has "
            f"{expected[short[0]]}"
        )


def _matrices(family) -> Iterator[tuple[str, np.ndarray]]:
    """Yield named matrices small enough to enumerate: at most 24 rows and 3 columns."""
    constant = levels(20, 3, seed=13)
    constant[:, 1:2] = constant[0, 1:2]
    matrices = {
        "few levels": levels(),
        "no ties": reals(19, 3),
        "a constant feature": constant,
        "one feature": reals(12, 1, seed=14),
        "two levels": levels(24, 3, n_levels=2, seed=15),
        "one example": reals(1, 2, seed=16),
    }
    if family.capabilities.missing_values:
        matrices["missing values"] = with_missing(levels(24, 3, seed=17))
        matrices["missing values, no ties"] = with_missing(reals(21, 2, seed=18))
    yield from matrices.items()


def _sampled_outputs(family, X) -> np.ndarray:
    """Return outputs of learners that the family finds for random weights, and of constants."""
    n_samples = len(X)
    weights = np.vstack(
        [
            boosting_weights(n_samples, N_SAMPLED // 2, seed=19),
            integer_weights(n_samples, N_SAMPLED // 2, seed=20),
        ]
    )
    learners = bind(family, X, n_targets=len(weights), seed=1).price(weights, WHOLE).learners
    outputs = np.unique(learners.outputs(X), axis=1)
    ones = np.ones((n_samples, 1), dtype=np.int8)
    return np.hstack([outputs, ones, -ones]).astype(np.float64)


def _enumerated(brute_force, family, X) -> np.ndarray:
    found = brute_force(family, X)
    outputs = np.asarray(found.outputs(X) if isinstance(found, WeakLearners) else found)
    if outputs.ndim != 2 or len(outputs) != len(X) or not np.isin(outputs, (-1, 1)).all():
        raise ValueError(
            "brute_force must return WeakLearners or their outputs, an array of -1 and +1 with "
            f"one row for each of {len(X)} examples, got shape {outputs.shape}"
        )
    return outputs.astype(np.float64)


def _weights(sampled) -> Iterator[tuple[str, np.ndarray]]:
    n_samples = len(sampled)
    yield "whole weights", integer_weights(n_samples, 8, seed=21)
    yield "boosting weights", boosting_weights(n_samples, 8, seed=22)
    rng = np.random.default_rng(23)
    few = integer_weights(n_samples, 8, seed=24)
    few[rng.random(few.shape) < 0.6] = 0.0
    yield "mostly zero weights", few
    magnitude = np.abs(integer_weights(n_samples, sampled.shape[1], seed=25))
    yield "planted", magnitude * sampled.T
    flips = np.where(rng.random(magnitude.shape) < 0.15, -1.0, 1.0)
    yield "planted with noise", magnitude * sampled.T * flips
