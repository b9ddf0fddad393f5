"""Checks of what pricing returns: outputs, edges, invariances, determinism."""

from __future__ import annotations

import numpy as np

from cwboost.families.contract import Pricer
from cwboost.testing.material import (
    N_TARGETS,
    assert_priced,
    assert_same_priced,
    bind,
    boosting_weights,
    integer_weights,
    is_randomised,
    levels,
    pixels,
    problems,
    reals,
    same_arrays,
    tolerance,
)


def check_outputs(family):
    """Outputs are -1 and +1, packed as the contract says, and equal between price and outputs."""
    for what, X, weights in problems():
        assert_priced(family, bind(family, X).price(weights), X, weights, what)


def check_edges(family):
    """Every edge is the sum of weight times output over the examples."""
    for what, X, weights in problems():
        priced = bind(family, X).price(weights)
        outputs = assert_priced(family, priced, X, weights, what)
        expected = np.einsum("ti,it->t", weights, outputs.astype(np.float64))
        error = np.abs(priced.edges - expected)
        assert (error <= tolerance(weights)).all(), (
            f"{what}: edges {priced.edges} were reported, the outputs give {expected}"
        )


def check_best_constant(family):
    """No edge is below that of the better constant learner, ``abs(sum of the weights)``.

    With weights of one sign the constant is the best of all learners, and must be found; a row
    of zeros has edge 0.
    """
    for what, X, weights in problems():
        floor = np.abs(weights.sum(axis=1)) - tolerance(weights)
        edges = bind(family, X).price(weights).edges
        assert (edges >= floor).all(), f"{what}: edges {edges} are below the constant's {floor}"
    X = pixels()
    weights = np.abs(integer_weights(len(X))) * np.array([[1.0], [-1.0], [0.0]])
    priced = bind(family, X).price(weights)
    outputs = assert_priced(family, priced, X, weights, "weights of one sign")
    assert np.array_equal(priced.edges, np.abs(weights).sum(axis=1)), (
        f"weights of one sign: edges must be {np.abs(weights).sum(axis=1)}, got {priced.edges}"
    )
    assert (outputs[:, 0] == 1).all(), "positive weights: every output must be +1"
    assert (outputs[:, 1] == -1).all(), "negative weights: every output must be -1"


def check_scaling(family):
    """Scaling the weights of a target changes no learner, and its edge by the same factor.

    The factors are powers of two, so nothing is rounded and the learners must be the same bit for
    bit. The smallest is 2**-200: a family that compares with a fixed threshold, or sums in single
    precision, fails here.
    """
    X = pixels()
    for make in (integer_weights, boosting_weights):
        weights = make(len(X))
        expected = bind(family, X).price(weights)
        for powers in ((-200, -200, -200), (200, 200, 200), (-30, 0, 30)):
            factors = np.exp2(np.array(powers, dtype=np.float64))
            scaled = bind(family, X).price(factors[:, None] * weights)
            what = f"weights times 2**{powers}"
            if family.capabilities.deterministic:
                assert np.array_equal(scaled.outputs, expected.outputs), (
                    f"{what}: other learners were found"
                )
                assert np.array_equal(scaled.edges, factors * expected.edges), (
                    f"{what}: edges must be {factors * expected.edges}, got {scaled.edges}"
                )
            assert_priced(family, scaled, X, factors[:, None] * weights, what)


def check_zero_weight(family):
    """An example of zero weight changes nothing, and neither does the sign of zero.

    Every row stands eight times in X, and one of the copies carries its weight: which one must not
    matter. A family that does not draw at random must besides find the same learners when the
    other copies are left out, or when they share the weight. (One of the two is enough: bins may
    depend on which examples there are, a least number of examples in a leaf on how many have a
    weight.) Where pricing is exact, leaving the others out must not change the edges.
    """
    X = pixels(33)
    rng = np.random.default_rng(10)
    weights = 8.0 * rng.integers(1, 4, size=(N_TARGETS, 33)) * rng.choice([-1.0, 1.0], size=33)
    copies, nothing = np.tile(X, (8, 1)), np.zeros_like(weights)
    expected = bind(family, copies).price(np.hstack([weights] + [nothing] * 7))
    moved = np.hstack([nothing] * 5 + [weights] + [nothing] * 2)
    negative = np.hstack([weights] + [-nothing] * 7)
    for what, variant in (
        ("the weight moved to an equal example", moved),
        ("-0.0 for 0.0", negative),
    ):
        assert_same_priced(family, expected, bind(family, copies).price(variant), what)

    pricer = bind(family, X)
    alone = pricer.price(weights)
    if pricer.exact:
        assert np.array_equal(alone.edges, expected.edges), (
            f"added examples of zero weight: edges {alone.edges} became {expected.edges}"
        )
    if is_randomised(family):
        return
    shared = bind(family, copies).price(np.hstack([weights / 8] * 8))
    assert any(same_arrays(expected.learners, other.learners) for other in (alone, shared)), (
        "examples of zero weight change the learners: they are others when those examples are "
        "left out, and when they get a share of the weight of an equal example"
    )


def check_determinism(family):
    """The same seed gives the same learners, round after round, at any number of threads."""
    X = reals(400, 12, seed=12)
    rounds = [
        make(400, 5, seed=seed) for seed in (0, 1) for make in (integer_weights, boosting_weights)
    ]
    expected = None
    for n_threads in (1, 1, 2, 4):
        pricer = bind(family, X, n_targets=5, n_threads=n_threads)
        results = [pricer.price(weights) for weights in rounds]
        results.append(pricer.price_shared(rounds[0]))
        if expected is not None:
            for number, (first, second) in enumerate(zip(expected, results)):
                what = f"round {number}, {n_threads} threads against 1"
                assert_same_priced(family, first, second, what)
        expected = expected or results


def check_number_of_targets(family):
    """One target and many are priced; the learners of each are those of its own row."""
    X = levels(40, 3)
    for n_targets in (1, 2, 21):
        weights = boosting_weights(40, n_targets)
        priced = bind(family, X, n_targets=n_targets).price(weights)
        assert_priced(family, priced, X, weights, f"{n_targets} targets")
        if is_randomised(family):
            continue
        alone = bind(family, X, n_targets=1).price(weights[-1:])
        assert np.array_equal(alone.outputs[0], priced.outputs[-1]), (
            f"the last of {n_targets} targets got another learner than alone"
        )


def check_repeated_pricing(family):
    """Results of earlier rounds stay as they were when the pricer is used again."""
    X = pixels()
    pricer = bind(family, X)
    weights = integer_weights(len(X))
    first = pricer.price(weights)
    kept = first.outputs.copy(), first.edges.copy(), first.learners.outputs(X)
    pricer.price(integer_weights(len(X), seed=9))
    pricer.price_shared(boosting_weights(len(X)))
    assert np.array_equal(first.outputs, kept[0]), "price() overwrote the outputs of last round"
    assert np.array_equal(first.edges, kept[1]), "price() overwrote the edges of last round"
    assert np.array_equal(first.learners.outputs(X), kept[2]), (
        "price() changed the learners of last round"
    )


def check_shared_pricing(family):
    """price_shared gives one learner whose value is the sum over targets of the absolute edges.

    Its value is at least that of the best constant.
    """
    for what, X, weights in problems():
        priced = bind(family, X).price_shared(weights)
        outputs = assert_priced(family, priced, X, weights, f"{what}, shared", n_learners=1)
        value = np.abs(weights @ outputs[:, 0].astype(np.float64)).sum()
        slack = tolerance(weights).sum()
        assert abs(priced.edges[0] - value) <= slack, (
            f"{what}, shared: {priced.edges[0]} was reported, the outputs give {value}"
        )
        if bind(family, X).exact:
            best = Pricer.price_shared(bind(family, X), weights).edges[0]
            assert value >= best - slack, (
                f"{what}, shared: {value} is less than the {best} of a learner that price() finds"
            )
    if is_randomised(family):
        return
    X = pixels()
    weights = integer_weights(len(X), 1)
    alone = bind(family, X, n_targets=1).price(weights).edges[0]
    value = bind(family, X, n_targets=1).price_shared(weights).edges[0]
    assert value >= alone - tolerance(weights)[0], (
        f"one target: price_shared finds {value}, price {alone}"
    )


assert N_TARGETS == 3  # check_best_constant and check_scaling write out a row a target
