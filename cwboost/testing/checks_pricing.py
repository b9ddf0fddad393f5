"""Checks of pricing results: outputs, edges, invariances, determinism."""

import numpy as np
from scipy import sparse
from sklearn.base import clone

from cwboost.families.contract import Pricer, PricingRequest
from cwboost.families.sealing.forms import check_forms
from cwboost.families.sealing.pricer import candidates_of, check_division
from cwboost.testing.material import (
    N_TARGETS,
    WHOLE,
    answers,
    assert_priced,
    assert_same_answers,
    bind,
    boosting_weights,
    context_of,
    integer_weights,
    is_randomised,
    levels,
    pixels,
    problems,
    reals,
    tolerance,
    with_missing,
)


def check_edges(family):
    """Check outputs and edges.

    Outputs are -1 and +1, packed correctly, and equal in price and outputs. Every edge is the sum
    of weight times output over the examples.
    """
    for what, X, weights in problems():
        _check_edges(family, bind(family, X).price(weights, WHOLE), X, weights, what)


def _check_edges(family, priced, X, weights, what) -> None:
    outputs = assert_priced(family, priced, X, weights, what)
    expected = np.einsum("ti,it->t", weights, outputs.astype(np.float64))
    error = np.abs(priced.edges - expected)
    assert (error <= tolerance(weights)).all(), (
        f"{what}: reported edges are {priced.edges}, but the outputs give {expected}"
    )


def check_requests(family):
    """Check that a request, of rows that alone count, saves time only.

    Learners, outputs of all examples and edges are those of pricing without it.
    """
    for what, X in _matrices(family):
        n_samples = X.shape[0]
        pricers = [bind(family, X) for _ in range(2)]
        for rows in (np.array([5]), np.arange(2, n_samples, n_samples // 40)):
            weights = np.zeros((N_TARGETS, n_samples))
            weights[:, rows] = boosting_weights(len(rows))
            found, expected = (
                answers(family, pricer, weights, request)
                for pricer, request in zip(pricers, (PricingRequest(rows), WHOLE))
            )
            _check_edges(family, found[0], X, weights, f"{what}, {len(rows)} rows that count")
            assert_same_answers(family, expected, found, f"{what}, {len(rows)} rows that count")


def _matrices(family):
    """Yield named matrices of hundreds of examples, of every kind that the family takes."""
    ties = levels(500, 6)
    yield "reals", reals(500, 6)
    yield "levels", ties
    if family.capabilities.missing_values:
        yield "levels with NaN", with_missing(ties)
    if family.capabilities.sparse_input:
        yield "sparse levels", sparse.csr_array(ties)


def check_divisions(family):
    """Check that a division has the cells of its learner, which takes outputs per cell.

    If a request has rows, no other examples count, whatever their weights.
    """
    X = pixels()
    rows = np.arange(2, len(X), 3)
    weights = integer_weights(len(X))
    zeroed = np.zeros_like(weights)
    zeroed[:, rows] = weights[:, rows]
    found = [bind(family, X).divide(w, PricingRequest(rows)) for w in (weights, zeroed)]
    assert_same_answers(family, found[:1], found[1:], "other weights outside the rows that count")
    for what, X, weights, facts in _divided(family):
        division = bind(family, X, **facts).divide(weights, WHOLE)
        check_division(division, family.learners_type, len(X), AssertionError)
        cells = division.cells
        assert np.array_equal(division.learners.cells(X)[:, 0], cells), (
            f"{what}: cells(X) must be the cells of the division"
        )
        outputs = np.random.default_rng(0).integers(-127, 128, (division.n_cells, 3))
        cover = np.bincount(cells, minlength=division.n_cells).astype(np.float32)
        graded = division.learners.graded(outputs.astype(np.int8), cover)
        assert graded.is_graded, f"{what}: learners with outputs per cell must be graded"
        assert np.array_equal(graded.outputs(X)[:, 0], outputs[cells]), (
            f"{what}: graded learners must have the outputs of their cells"
        )
        signs = np.where(outputs < 0, -1, 1)[cells]
        assert np.array_equal(graded.signs().outputs(X), signs), (
            f"{what}: signs() must have the signs of the outputs"
        )
        _check_graded(graded, cover, family, X, what)


def _divided(family):
    """Yield named training matrices with weights and facts, of every kind that the family takes."""
    for problem in problems():
        yield *problem, {}
    if family.capabilities.missing_values:
        yield "missing values", with_missing(pixels()), integer_weights(61), {}


def _check_graded(graded, cover, family, X, what) -> None:
    """Check the other methods of learners with three outputs each."""
    outputs, n = graded.outputs(X), len(graded)
    read = type(graded).from_arrays(graded.arrays(), X.shape[1])
    assert np.array_equal(read.outputs(X), outputs), f"{what}: from_arrays changes graded learners"
    places = np.arange(n)[::-1]
    joined = type(graded).concatenate([graded, graded.take(places)])
    expected = np.concatenate([outputs, outputs[:, places]], axis=1)
    assert np.array_equal(joined.outputs(X), expected), (
        f"{what}: take or concatenate changes graded learners"
    )
    for learners, copies in ((graded, 1), (read, 1), (joined, 2)):
        flat, wanted = learners.flat_form(), np.sort(np.tile(cover[cover > 0], copies))
        kept = None if flat is None or flat.cover is None else flat.cover[flat.cover > 0]
        assert flat is None or (kept is not None and np.array_equal(np.sort(kept), wanted)), (
            f"{what}: the flat form must have the cover that graded was given, {wanted}, got {kept}"
        )
    coef = np.random.default_rng(1).random((n, 3))
    check_forms(graded, family, X, coef)
    score = graded.scorer(sparse.csr_array(coef))
    row_by_row = np.vstack([score(X[i : i + 1]) for i in range(X.shape[0])])
    assert np.array_equal(score(X, n_threads=2), row_by_row), f"{what}: bits differ by rows"


def check_best_constant(family):
    """Check that no edge is below ``abs(sum of the weights)``, that of the better constant.

    For weights of one sign a constant is the best learner and must be found. A row of zeros has
    edge 0.
    """
    for what, X, weights in problems():
        floor = np.abs(weights.sum(axis=1)) - tolerance(weights)
        edges = bind(family, X).price(weights, WHOLE).edges
        assert (edges >= floor).all(), f"{what}: edges {edges} are below the constant's {floor}"
    X = pixels()
    weights = np.abs(integer_weights(len(X))) * np.array([[1.0], [-1.0], [0.0]])
    priced = bind(family, X).price(weights, WHOLE)
    outputs = assert_priced(family, priced, X, weights, "weights of one sign")
    assert np.array_equal(priced.edges, np.abs(weights).sum(axis=1)), (
        f"weights of one sign: edges must be {np.abs(weights).sum(axis=1)}, got {priced.edges}"
    )
    assert (outputs[:, 0] == 1).all(), "positive weights: every output must be +1"
    assert (outputs[:, 1] == -1).all(), "negative weights: every output must be -1"


def check_scaling(family):
    """Check that scaling a target's weights scales its edge and keeps its learner.

    The factors are powers of two, which round nothing, so the learners must have the same bits.
    The smallest factor is 2**-200: a family that compares with a fixed threshold, or sums in
    single precision, fails.
    """
    X = pixels()
    for make in (integer_weights, boosting_weights):
        weights = make(len(X))
        expected = bind(family, X).price(weights, WHOLE)
        for powers in ((-200, -200, -200), (200, 200, 200), (-30, 0, 30)):
            factors = np.exp2(np.array(powers, dtype=np.float64))
            scaled = bind(family, X).price(factors[:, None] * weights, WHOLE)
            what = f"weights times 2**{powers}"
            if family.capabilities.deterministic:
                assert np.array_equal(scaled.outputs, expected.outputs), (
                    f"{what}: the learners differ"
                )
                assert np.array_equal(scaled.edges, factors * expected.edges), (
                    f"{what}: edges must be {factors * expected.edges}, got {scaled.edges}"
                )
            assert_priced(family, scaled, X, factors[:, None] * weights, what)


def check_zero_weight(family):
    """Check that neither an example of zero weight nor the sign of zero has an effect.

    X holds eight copies of every row, one of which carries the weight: moving the weight to
    another copy must not change the edges by more than rounding. The edges must also be those
    without the other copies or those with the weight divided among the copies, the first if
    pricing is exact. One of the two is enough otherwise: bins may depend on the examples present,
    and a minimum number of examples per leaf on the number of positive weights.
    """
    X = pixels(33)
    rng = np.random.default_rng(10)
    weights = 8.0 * rng.integers(1, 4, size=(N_TARGETS, 33)) * rng.choice([-1.0, 1.0], size=33)
    copies, nothing = np.tile(X, (8, 1)), np.zeros_like(weights)
    expected = bind(family, copies).price(np.hstack([weights] + [nothing] * 7), WHOLE)
    moved = np.hstack([nothing] * 5 + [weights] + [nothing] * 2)
    negative = np.hstack([weights] + [-nothing] * 7)
    slack = tolerance(weights)

    def same(edges):
        return bool((np.abs(edges - expected.edges) <= slack).all())

    for what, variant in (
        ("the weight moved to an equal example", moved),
        ("-0.0 for 0.0", negative),
    ):
        found = bind(family, copies).price(variant, WHOLE)
        assert not family.capabilities.deterministic or same(found.edges), (
            f"{what}: the edges differ, {expected.edges} and {found.edges}"
        )

    pricer = bind(family, X)
    alone = pricer.price(weights, WHOLE)
    assert not pricer.exact or same(alone.edges), (
        f"added examples of zero weight changed edges {alone.edges} to {expected.edges}"
    )
    if is_randomised(family):
        return
    shared = bind(family, copies).price(np.hstack([weights / 8] * 8), WHOLE)
    assert same(alone.edges) or same(shared.edges), (
        "examples of zero weight change the edges: these differ both without those examples "
        "and with the weight divided among equal examples"
    )


def check_determinism(family):
    """Check that a seed gives the same learners in every round at any number of threads."""
    X = reals(400, 12, seed=12)
    rounds = [integer_weights(400, 5), boosting_weights(400, 5)]
    expected = None
    for n_threads in (1, 1, 2, 4):
        pricer = bind(family, X, n_targets=5, n_threads=n_threads)
        results = [answers(family, pricer, weights) for weights in rounds]
        if expected is not None:
            for number, (first, second) in enumerate(zip(expected, results)):
                what = f"round {number}, {n_threads} threads against 1"
                assert_same_answers(family, first, second, what)
        expected = expected or results


def check_number_of_targets(family):
    """Check pricing of one and of many targets: a target gets the learner it gets alone.

    Or one of a larger edge: a family may let every target choose from what it draws for all. The
    weights may be of fewer targets than bind was told of.
    """
    X = levels(40, 3)
    for n_targets in (1, 2, 21):
        weights = boosting_weights(40, n_targets)
        pricer = bind(family, X, n_targets=n_targets)
        fewer = weights[: n_targets // 2 + 1]
        assert_priced(family, pricer.price(fewer, WHOLE), X, fewer, f"{len(fewer)} targets")
        priced = pricer.price(weights, WHOLE)
        assert_priced(family, priced, X, weights, f"{n_targets} targets")
        if is_randomised(family):
            continue
        alone = bind(family, X, n_targets=1).price(weights[-1:], WHOLE)
        is_better = not pricer.exact and priced.edges[-1] > alone.edges[0]
        assert is_better or np.array_equal(alone.outputs[0], priced.outputs[-1]), (
            f"the learner of the last of {n_targets} targets differs from the one it gets alone"
        )


def check_repeated_pricing(family):
    """Check that a new call of price() does not change the results of earlier rounds."""
    X = pixels()
    pricer = bind(family, X)
    weights = integer_weights(len(X))
    first = pricer.price(weights, WHOLE)
    kept = first.outputs.copy(), first.edges.copy(), first.learners.outputs(X)
    pricer.price(integer_weights(len(X), seed=9), WHOLE)
    pricer.price_shared(boosting_weights(len(X)), WHOLE)
    assert np.array_equal(first.outputs, kept[0]), "price() overwrote outputs of the last round"
    assert np.array_equal(first.edges, kept[1]), "price() overwrote edges of the last round"
    assert np.array_equal(first.learners.outputs(X), kept[2]), (
        "price() changed learners of the last round"
    )


def check_rebound(family):
    """Check that rebound() returns what bind() does, and that the pricers work side by side."""
    X = pixels()
    first = bind(family, X)
    others = [family, *candidates_of(family, len(X))]
    again = [first.rebound(one, context_of(X, seed=1)) for one in others]
    if None in again:
        return
    expected = [bind(family, X), *(bind(one, X, seed=1) for one in others)]
    for number in range(3):
        weights = boosting_weights(len(X), seed=number)
        for k, (pricer, own) in enumerate(zip((first, *again), expected)):
            what = "rebound()" if k else "bind()"
            found = answers(family, pricer, weights)
            assert_priced(family, found[0], X, weights, f"pricer of {what}")
            assert_same_answers(
                family, answers(family, own, weights), found, f"round {number} of {what}"
            )


def check_candidates(family):
    """Check that candidates are families of the same kind and capabilities, which price."""
    X = pixels()
    weights = boosting_weights(len(X))
    for one in candidates_of(family, len(X)):
        priced = bind(one, X).price(weights, WHOLE)
        assert_priced(one, priced, X, weights, f"candidate {one!r}")


def check_bind_rows(family):
    """Check that bind_rows() does what bind() of a copy of these rows does."""
    X = pixels()
    order = np.random.default_rng(5).permutation(len(X))
    for what, rows in ("all rows", order), ("some rows", order[::3]):
        weights = boosting_weights(len(rows))
        found = clone(family).bind_rows(X, rows, context_of(X[rows], seed=0))
        expected = answers(family, bind(family, X[rows]), weights)
        found = answers(family, found, weights)
        assert_same_answers(family, expected, found, f"bind_rows of {what}")


def check_shared_pricing(family):
    """Check price_shared: one learner, valued by its absolute edges summed over the targets.

    The value is at least that of the best constant.
    """
    for what, X, weights in problems():
        priced = bind(family, X).price_shared(weights, WHOLE)
        outputs = assert_priced(family, priced, X, weights, f"{what}, shared", n_learners=1)
        value = np.abs(weights @ outputs[:, 0].astype(np.float64)).sum()
        slack = tolerance(weights).sum()
        assert abs(priced.edges[0] - value) <= slack, (
            f"{what}, shared: reported value is {priced.edges[0]}, but the outputs give {value}"
        )
        if bind(family, X).exact:
            best = Pricer.price_shared(bind(family, X), weights, WHOLE).edges[0]
            assert value >= best - slack, (
                f"{what}, shared: {value} is less than {best} of a learner found by price()"
            )
    if is_randomised(family):
        return
    X = pixels()
    weights = integer_weights(len(X), 1)
    alone = bind(family, X, n_targets=1).price(weights, WHOLE).edges[0]
    value = bind(family, X, n_targets=1).price_shared(weights, WHOLE).edges[0]
    assert value >= alone - tolerance(weights)[0], (
        f"one target: price_shared finds {value}, price {alone}"
    )


assert N_TARGETS == 3  # check_best_constant and check_scaling write out one row per target
