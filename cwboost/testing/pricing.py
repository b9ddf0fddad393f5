"""Checks of pricing: every result under the sealed calls, and what may not change it."""

import numpy as np
from sklearn.base import clone

from cwboost.families.composed.derived_features import DerivedFeatureFamily
from cwboost.families.contract import PricingRequest
from cwboost.families.outputs import pack_outputs
from cwboost.families.sealing.forms import check_forms
from cwboost.families.sealing.pricer import bind_family
from cwboost.testing.check import check
from cwboost.testing.material import (
    N_TARGETS,
    ask,
    bind,
    boosting_weights,
    context_of,
    dense_forms,
    inputs_claimed,
    integer_weights,
    is_randomised,
    levels,
    made_by,
    on,
    pixels,
    problems,
    reals,
    same_answers,
    sparse_forms,
    tolerance,
    with_missing,
)
from cwboost.testing.rows import ONE_ROW, check_rows_of


@check(
    "Draw from context.random_state alone and add in one order, or declare deterministic=False.",
    "deterministic",
)
def check_determinism(family):
    """Check that a seed gives the same learners in every round, at any number of threads."""
    X = reals(400, 12, seed=12)
    pricers = [bind(family, X, n_targets=5, n_threads=n) for n in (1, 1, 2, 4)]
    # Draws that a seed does not decide may be the same for once.
    for weights in 2 * [integer_weights(400, 5), boosting_weights(400, 5)]:
        one, *others = (ask(pricer, weights) for pricer in pricers)
        for other in others:
            same_answers(family, one, other, "one seed, 1, 2 or 4 threads")


@check("Report the outputs that the method outputs gives, and (weights * outputs).sum() as edges.")
def check_pricing(family):
    """Check all that training checks, on every row: outputs, edges, the better constant.

    X may have few rows or many features, one feature, constant features alone, and one row. For
    weights of one sign, the better constant is the best learner.
    """
    for what, X, weights in problems():
        with on(what):
            ask(bind(family, X), weights)
    constant = pixels()
    for what, columns in (("a constant feature", slice(0, 1)), ("constant features", slice(None))):
        constant[:, columns] = constant[0, columns]
        with on(what):
            ask(bind(family, constant), integer_weights(61))
    sign = np.array([[1.0], [-1.0], [0.0]])
    for what, X in (("one sign", pixels()), ("one row", reals(1, 4)), ("two rows", reals(2, 4))):
        with on(f"weights of {what}"):
            weights = sign * np.abs(integer_weights(len(X), 1))
            edges = bind(family, X).price(weights).edges
            best = np.abs(weights).sum(axis=1)
            assert np.array_equal(edges, best), f"edges must be {best}, got {edges}"


@check("Give NaN one side, or leave missing_values at False.", "missing_values")
def check_missing_values(family):
    """Check pricing on NaN and infinities, even on X of NaN alone, and predictions for new gaps."""
    gaps = with_missing(pixels())
    infinite = np.where(np.isnan(gaps), np.where(pixels(seed=9) < 100, -np.inf, np.inf), gaps)
    for what, X in (
        ("X with NaN", gaps),
        ("X with infinities", infinite),
        ("real numbers with NaN", with_missing(reals(50, 3))),
        ("X that is NaN throughout", np.full((10, reals().shape[1]), np.nan)),
    ):
        with on(what):
            ask(bind(family, X), integer_weights(len(X)))
    made_by(family, pixels()).predict(np.full((4, pixels().shape[1]), np.nan))


@check("Count entries that are not stored as 0, or leave sparse_input False.", "sparse_input")
def check_sparse_input(family):
    """Check that CSR and CSC, as arrays or matrices, give the learners of the dense matrix."""
    dense = levels(60, 8, n_levels=5)
    dense = dense * np.random.default_rng(40).integers(0, 2, size=dense.shape)
    if family.capabilities.missing_values:
        dense[3, 2] = dense[40, 2] = np.nan
    weights = integer_weights(60)
    expected = ask(bind(family, dense), weights)
    for what, X in sparse_forms(dense):
        with on(what):
            answers = ask(bind(family, X), weights)
            same_answers(family, expected, answers, what)
            learners = answers[0].learners
            assert np.array_equal(learners.outputs(dense), learners.outputs(X)), "outputs differ"
            check_forms(learners, family, X)


@check(ONE_ROW)
def check_rows_claimed(plugin):
    """Check the same on every other kind of input that the plugin claims: gaps and sparse rows."""
    for kind, X in inputs_claimed(plugin).items():
        with on(kind):
            check_rows_of(plugin, X)


@check("Copy X by np.ascontiguousarray(X, np.float64); do not assume adjacent rows of weights.")
def check_layouts(family):
    """Check that X may have any order, strides and dtype; values that these hold price alike.

    The rows of weights may be padded, and are read-only.
    """
    kinds = [pixels(), reals().astype(np.float32).astype(np.float64)]
    kinds += [with_missing(kinds[0])] if family.capabilities.missing_values else []
    for X in kinds:
        weights = integer_weights(len(X))
        expected = ask(bind(family, X), weights)
        for what, variant in dense_forms(X):
            with on(f"X of {what}"):
                same_answers(family, expected, ask(bind(family, variant), weights), what)
        padded = np.full((N_TARGETS, len(X) + 5), np.nan)
        padded[:, : len(X)] = weights
        answers = ask(bind(family, X), padded[:, : len(X)])
        same_answers(family, expected, answers, "padded weights")


@check("Draw from context.random_state in every call, or set redraw = False.")
def check_redraws(family):
    """Check that derived features that are drawn in every round are not always the same."""
    if not isinstance(family, DerivedFeatureFamily) or not family.redraw:
        return
    watched, draws = clone(family), []
    watched.draw = lambda context: draws.append(family.draw(context)) or draws[-1]
    pricer = bind_family(watched, pixels(), context_of(pixels(), 0))
    for seed in range(4):
        pricer.price(boosting_weights(61, seed=seed))
    first, *others = draws
    assert any(not np.array_equal(first[name], draw[name]) for draw in others for name in first), (
        "draw returns the same derived features in every round, whatever the weights"
    )


@check(
    "Keep the reference to random_state and no other state, and return new arrays from every call."
)
def check_generator_is_the_only_state(family):
    """Check that pricing depends on the weights and the generator's state alone.

    A checkpoint stores the generator's state. After the state is restored, the same pricer must
    find the same learners, and so must a new pricer bound to a generator in the same initial
    state. A family that copies the generator, remembers earlier rounds or other pricers, or
    overwrites what it has returned, fails.
    """
    X, weights = pixels(), integer_weights(61)
    rng, resumed = np.random.default_rng(0), np.random.default_rng(0)
    pricer = bind(family, X, seed=rng)
    for seed in range(2):
        pricer.price(integer_weights(61, seed=seed))
    state = rng.bit_generator.state
    expected = ask(pricer, weights)
    kept = expected[0].outputs.copy(), expected[0].edges.copy()
    ask(pricer, integer_weights(61, seed=9))
    ask(bind(family, pixels(40, 7, seed=11)), integer_weights(40))
    for name, values in zip(("outputs", "edges"), kept):
        now = getattr(expected[0], name)
        assert np.array_equal(now, values), f"price() overwrote {name} of the last round"
    assert np.array_equal(pack_outputs(expected[0].learners.outputs(X)), kept[0]), (
        "price() changed learners of the last round"
    )
    rng.bit_generator.state = state
    same_answers(family, expected, ask(pricer, weights), "the same pricer, its generator restored")
    other = bind(family, X, seed=resumed)
    resumed.bit_generator.state = state
    same_answers(family, expected, ask(other, weights), "a new pricer with the generator's state")


@check("Compare sums with each other, never with a fixed number.")
def check_scaling(family):
    """Check that powers of two, down to 2**-200, scale edges and keep learners."""
    X = pixels()
    for make in (integer_weights, boosting_weights):
        weights = make(len(X))
        expected = bind(family, X).price(weights)
        for powers in ((-200, -200, -200), (200, 200, 200), (-30, 0, 30)):
            factors = np.exp2(np.array(powers, dtype=np.float64))
            scaled = bind(family, X).price(factors[:, None] * weights)
            if family.capabilities.deterministic:
                what = f"weights times 2**{powers}"
                assert np.array_equal(scaled.outputs, expected.outputs), f"{what}: learners differ"
                assert np.array_equal(scaled.edges, factors * expected.edges), (
                    f"{what}: edges must be {factors * expected.edges}, got {scaled.edges}"
                )


@check("Multiply what you compute from an example by its weight.")
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
    first = np.hstack([weights] + [nothing] * 7)
    variants = {
        "the weight moved to an equal example": np.hstack(
            [nothing] * 5 + [weights] + [nothing] * 2
        ),
        "-0.0 for 0.0": np.where(first == 0, -0.0, first),
    }
    expected = bind(family, copies).price(first).edges

    def same(edges):
        return bool((np.abs(edges - expected) <= tolerance(weights)).all())

    for what, variant in variants.items():
        edges = bind(family, copies).price(variant).edges
        assert not family.capabilities.deterministic or same(edges), (
            f"{what}: the edges differ, {expected} and {edges}"
        )
    pricer = bind(family, X)
    alone = pricer.price(weights).edges
    assert not pricer.exact or same(alone), (
        f"added examples of zero weight changed edges {alone} to {expected}"
    )
    if not is_randomised(family):
        shared = bind(family, copies).price(np.hstack([weights / 8] * 8)).edges
        assert same(alone) or same(shared), (
            "examples of zero weight change the edges: these differ both without those examples "
            "and with the weight divided among equal examples"
        )


@check("Find the learners that you would find without the request.")
def check_requests(family):
    """Check that a request, of rows that alone count, saves time only."""
    for what, X in (("reals", reals(500, 6)), ("levels", levels(500, 6))):
        n_samples = X.shape[0]
        pricers = [bind(family, X) for _ in range(2)]
        for rows in (np.array([5]), np.arange(2, n_samples, n_samples // 40)):
            weights = np.zeros((N_TARGETS, n_samples))
            weights[:, rows] = boosting_weights(len(rows))
            with on(f"{what}, {len(rows)} rows that count"):
                answers = ask(pricers[0], weights, PricingRequest(rows))
                same_answers(family, ask(pricers[1], weights), answers, "with a request")


@check("Price each row of weights, len(weights) in all, for itself.")
def check_number_of_targets(family):
    """Check pricing of one and of many targets: a target gets the learner it gets alone.

    Or one of a larger edge: a family may let every target choose from what it draws for all. The
    weights may be of fewer targets than bind was told of.
    """
    X = levels(40, 3)
    for n_targets in (1, 2, 21):
        weights = boosting_weights(40, n_targets)
        pricer = bind(family, X, n_targets=n_targets)
        pricer.price(weights[: n_targets // 2 + 1])
        priced = pricer.price(weights)
        if is_randomised(family):
            continue
        alone = bind(family, X, n_targets=1).price(weights[-1:])
        is_better = not pricer.exact and priced.edges[-1] > alone.edges[0]
        assert is_better or np.array_equal(alone.outputs[0], priced.outputs[-1]), (
            f"the learner of the last of {n_targets} targets differs from the one it gets alone"
        )


@check("Let -h be a learner for every h, or do not declare symmetric.", "symmetric")
def check_symmetric(family):
    """Check that the best learner of negated weights has the same edge, as its negative has.

    A family that draws by the weights may draw others: their edges are only positive.
    """
    for X in (pixels(), reals(40, 5)):
        weights = integer_weights(len(X))
        edges, negated = (bind(family, X).price(sign * weights).edges for sign in (1.0, -1.0))
        same = (edges > 0) & (negated > 0) if is_randomised(family) else edges == negated
        assert np.all(same), f"the weights have the edges {edges}, their negatives {negated}"


@check("Return one learner; its edge is the sum of abs(weights @ outputs).")
def check_shared_pricing(family):
    """Check that price_shared finds no less than constants and price, if pricing is exact."""
    for what, X, weights in problems():
        value = bind(family, X).price_shared(weights).edges[0]
        pricer = bind(family, X)
        if not pricer.exact:
            continue
        outputs = pricer.price(weights).learners.outputs(X).astype(np.float64)
        least = np.abs(weights.sum(axis=1)).sum()
        least = max(least, np.abs(weights @ outputs).sum(axis=0).max())
        assert value >= least - tolerance(weights).sum(), (
            f"{what}, shared: {value} is less than {least} of a constant or a learner of price()"
        )
    if not is_randomised(family):
        X, weights = pixels(), integer_weights(61, 1)
        shared, alone = (
            getattr(bind(family, X, n_targets=1), method)(weights).edges[0]
            for method in ("price_shared", "price")
        )
        assert shared >= alone - tolerance(weights)[0], (
            f"one target: price_shared finds {shared}, price {alone}"
        )
