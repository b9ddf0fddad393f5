"""Checks of what a family claims: exact pricing, constraints, cells, partitions and others."""

import pickle
import tracemalloc
from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.base import clone

from cwboost.families.contract import BindContext, PricingRequest, WeakLearners
from cwboost.families.outputs import pack_outputs
from cwboost.families.partitioned import (
    Chosen,
    ChosenDivision,
    PartitionContext,
    PartitionWeights,
    Tasks,
)
from cwboost.families.sealing.forms import check_forms
from cwboost.families.sealing.pricer import candidates_of
from cwboost.kernels import weight_scales
from cwboost.testing.check import check
from cwboost.testing.material import (
    N_TARGETS,
    ask,
    bind,
    boosting_weights,
    context_of,
    integer_weights,
    levels,
    on,
    pixels,
    problems,
    reals,
    same_answers,
    same_arrays,
    tolerance,
    with_missing,
)

N_SAMPLED = 96


@check("Search all learners, or leave exact at False.", "exact")
def check_exact_pricing(family, brute_force=None):
    """Check that no learner of the family has a larger edge than the one price() returns.

    On small matrices and weights of several kinds, pricing is compared with all learners that
    `brute_force` enumerates, and with many learners that the family finds for other weights. Then
    optima are planted: if the signs of the weights equal the outputs of a learner of the family,
    its edge is the sum of the absolute weights, the largest possible, and pricing must reach it.
    """
    for what, X in _small_matrices(family):
        candidates = sampled = _sampled_outputs(family, X)
        if brute_force is not None:
            candidates = np.hstack([sampled, _enumerated(brute_force, family, X)])
        for kind, weights in _weights_of_kinds(sampled):
            pricer = bind(family, X, n_targets=len(weights))
            assert pricer.exact, f"{what}: the pricer is exact on some matrices only"
            edges = pricer.price(weights).edges
            best = (weights @ candidates).max(axis=1)
            short = best - edges - tolerance(weights)
            worst = int(np.argmax(short))
            assert short[worst] <= 0, (
                f"{what}, {kind}: pricing found an edge of {edges[worst]}, but another learner of "
                f"the family has {best[worst]}"
            )


def _small_matrices(family) -> Iterator[tuple[str, np.ndarray]]:
    """Yield named matrices small enough to enumerate: at most 24 rows and 3 columns."""
    constant = levels(20, 3, seed=13)
    constant[:, 1:2] = constant[0, 1:2]
    yield "few levels", levels()
    yield "no ties", reals(19, 3)
    yield "a constant feature", constant
    yield "one feature", reals(12, 1, seed=14)
    yield "two levels", levels(24, 3, n_levels=2, seed=15)
    yield "one example", reals(1, 2, seed=16)
    if family.capabilities.missing_values:
        yield "missing values", with_missing(levels(24, 3, seed=17))
        yield "missing values, no ties", with_missing(reals(21, 2, seed=18))


def _sampled_outputs(family, X) -> np.ndarray:
    """Return outputs of learners that the family finds for random weights, and of constants."""
    half = N_SAMPLED // 2
    weights = [boosting_weights(len(X), half, seed=19), integer_weights(len(X), half, seed=20)]
    pricer = bind(family, X, n_targets=N_SAMPLED, seed=1)
    outputs = np.unique(pricer.price(np.vstack(weights)).learners.outputs(X), axis=1)
    ones = np.ones((len(X), 1), dtype=np.int8)
    return np.hstack([outputs, ones, -ones]).astype(np.float64)


def _enumerated(brute_force, family, X) -> np.ndarray:
    every = brute_force(family, X)
    outputs = np.asarray(every.outputs(X) if isinstance(every, WeakLearners) else every)
    if outputs.ndim != 2 or len(outputs) != len(X) or not np.isin(outputs, (-1, 1)).all():
        raise ValueError(
            "brute_force must return WeakLearners or their outputs, an array of -1 and +1 with "
            f"one row for each of {len(X)} examples, got shape {outputs.shape}"
        )
    return outputs.astype(np.float64)


def _weights_of_kinds(sampled) -> Iterator[tuple[str, np.ndarray]]:
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


@check("Do not sample rows or bin features, or leave exact at False.", "exact", has_own_widths=True)
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
        expected = bind(family, small).price(summed).edges
        edges = bind(family, large).price(weights).edges
        short = np.flatnonzero(edges < expected - tolerance(weights))
        assert not len(short), (
            f"{large.shape[0]} rows, {large.shape[1]} columns: pricing found an edge of "
            f"{edges[short[0]]}, the same problem on 30 distinct rows and 3 columns has "
            f"{expected[short[0]]}"
        )


@check(
    "Refuse splits that break it, or leave monotonic at False.", "monotonic", has_own_widths=True
)
def check_monotonic(family):
    """Check that outputs keep monotonic constraints that the weights oppose.

    The weights of the first target want outputs that fall with the first feature, those of the
    second outputs that rise; the constraints demand the opposite. The third target has none. Exact
    pricing finds every learner that keeps a constraint by itself; missing values have no order.
    """
    rng = np.random.default_rng(70)
    X = rng.standard_normal((90, 2))
    weights = np.sign(X[:, 0]) * np.array([[-1.0], [1.0], [1.0]]) * rng.integers(1, 9, size=90)
    X = with_missing(X) if family.capabilities.missing_values else X
    constraints = np.array([[1, 0], [-1, 0], [0, 0]], dtype=np.int8)
    pricer = bind(family, X, monotonic=constraints)
    for _ in range(5):
        learners = pricer.price(weights).learners
        for sign, step in zip(constraints[:, 0], _steps(learners).T):
            assert np.all(sign * step >= 0), f"outputs break the constraint {sign:+d} on feature 0"
        weights = weights * rng.uniform(0.5, 2.0, size=90)
    is_lost = np.where(np.isnan(X[:, 0]), 2.0, -2.0)
    weights = np.vstack([integer_weights(len(X), 8), is_lost, -is_lost])
    free = bind(family, X, n_targets=len(weights)).price(weights).learners
    kept = free.take(np.flatnonzero((_steps(free) >= 0).all(axis=0))).outputs(X).T
    weights = np.vstack([weights, kept])
    constraints = np.tile(np.array([[1, 0]], dtype=np.int8), (len(weights), 1))
    for form in [X, sparse.csr_array(X)] if family.capabilities.sparse_input else [X]:
        pricer = bind(family, form, n_targets=len(weights), monotonic=constraints)
        short = (weights @ kept.T).max(axis=1) - pricer.price(weights).edges
        assert not pricer.exact or (short <= tolerance(weights)).all(), (
            f"pricing missed learners that keep the constraint +1: edges are {short} too small"
        )


def _steps(learners) -> np.ndarray:
    """Return how outputs change as the first of two features rises, one column per learner."""
    rising = np.linspace(-4.0, 4.0, 201)
    rows = [np.column_stack([rising, np.full(201, other)]) for other in (-1.0, 0.0, 1.0)]
    return np.concatenate([np.diff(learners.outputs(X).astype(int), axis=0) for X in rows])


@check("Let a learner read one set, or leave it at False.", "interactions", has_own_widths=True)
def check_interactions(family):
    """Check that a learner reads features of one of two disjoint sets, if the weights want both."""
    rng = np.random.default_rng(71)
    X, others = rng.standard_normal((2, 90, 4))
    sets = np.array([[True, True, False, False], [False, False, True, True]])
    weights = np.sign(X[:, [0, 1, 0]] * X[:, [2, 3, 3]]).T * rng.integers(1, 9, size=90)
    for answer in ask(bind(family, X, interactions=sets), weights):
        values = answer.learners.cells if hasattr(answer, "cells") else answer.learners.outputs
        same = [(values(np.where(own, X, others)) == values(X)).all(axis=0) for own in sets]
        assert np.logical_or(*same).all(), "a learner reads features of two sets"


@check("Do not make X dense, or leave sparse_input at False.", "sparse_input", has_own_widths=True)
def check_sparse_memory(family):
    """Check that sparse X stays sparse: pricing needs less than one byte per matrix entry.

    Only allocations that Python traces are counted; they include those of NumPy.
    """
    rng = np.random.default_rng(42)
    X = sparse.random_array((30_000, 3_000), density=1e-3 / 3, format="csr", rng=rng)
    weights, already = boosting_weights(30_000, 2), tracemalloc.is_tracing()
    if not already:
        tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        context = context_of(X, 0, n_targets=2)
        clone(family).bind(X, context).price(weights, PricingRequest()).learners.outputs(X)
        used = tracemalloc.get_traced_memory()[1] - before
    finally:
        if not already:
            tracemalloc.stop()
    assert used <= 90e6, (
        f"{used / 1e6:.0f} MB were allocated for a matrix of {X.nnz} non-zeros; one byte per "
        "matrix entry would be 90 MB"
    )


@check("Return in divide the cells that the learner's method cells returns.", "divides")
def check_divisions(family):
    """Check that a division has the cells of its learner, which takes outputs per cell.

    If a request has rows, no other examples count, whatever their weights.
    """
    X, weights = pixels(), integer_weights(61)
    rows = np.arange(2, 61, 3)
    zeroed = np.zeros_like(weights)
    zeroed[:, rows] = weights[:, rows]
    pair = [[bind(family, X).divide(w, PricingRequest(rows))] for w in (weights, zeroed)]
    same_answers(family, *pair, "other weights outside the rows that count")
    several = list(problems())
    if family.capabilities.missing_values:
        several.append(("numbers with gaps", with_missing(X), weights))
    for what, X, weights in several:
        with on(what):
            _check_graded(bind(family, X).divide(weights), family, X)


def _check_graded(division, family, X) -> None:
    """Check learners with three outputs per cell."""
    cells, n_cells = division.cells, division.n_cells
    outputs = np.random.default_rng(0).integers(-127, 128, (n_cells, 3)).astype(np.int8)
    cover = np.bincount(cells, minlength=n_cells).astype(np.float32)
    graded = division.learners.graded(outputs, cover)
    assert graded.is_graded, "learners with outputs per cell must be graded"
    given = graded.outputs(X)
    assert np.array_equal(given[:, 0], outputs[cells]), "outputs must be those of the cells"
    signs = np.where(outputs < 0, -1, 1)[cells]
    assert np.array_equal(graded.signs().outputs(X), signs), "signs() must have their signs"
    read = type(graded).from_arrays(graded.arrays(), X.shape[1])
    assert np.array_equal(read.outputs(X), given), "from_arrays changes graded learners"
    joined = type(graded).concatenate([graded, graded.take(np.array([0]))])
    assert np.array_equal(joined.outputs(X), np.concatenate([given, given], axis=1)), (
        "take or concatenate changes graded learners"
    )
    for learners, copies in ((graded, 1), (read, 1), (joined, 2)):
        flat, known = learners.flat_form(), np.sort(np.tile(cover[cover > 0], copies))
        kept = None if flat is None or flat.cover is None else flat.cover[flat.cover > 0]
        assert flat is None or (kept is not None and np.array_equal(np.sort(kept), known)), (
            f"the flat form must have the cover that graded was given, {known}, got {kept}"
        )
    coef = np.random.default_rng(1).random((1, 3))
    check_forms(graded, family, X, coef)
    score = graded.scorer(sparse.csr_array(coef))
    row_by_row = np.vstack([score(X[i : i + 1]) for i in range(X.shape[0])])
    assert np.array_equal(score(X, n_threads=2), row_by_row), "bits of scores differ by rows"


@check("Return a new pricer that draws from context.random_state, or None.", "rebound")
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
        for pricer, own in zip((first, *again), expected):
            what = f"round {number} of {'rebound' if pricer is not first else 'bind'}()"
            same_answers(family, ask(own, weights), ask(pricer, weights), what)


@check("Return clones of the family, with other values of its parameters.", "candidates")
def check_candidates(family):
    """Check that candidates are families of the same kind and capabilities, which price."""
    for one in candidates_of(family, len(pixels())):
        with on(f"the candidate {one!r}"):
            ask(bind(one, pixels()), boosting_weights(61))


@check("Take X[rows] in their order, or leave bind_rows to the base class.", "bind_rows")
def check_bind_rows(family):
    """Check that bind_rows() does what bind() of a copy of these rows does."""
    X, order = pixels(), np.random.default_rng(5).permutation(61)
    for what, rows in (("all rows", order), ("some rows", order[::3])):
        weights = boosting_weights(len(rows))
        expected = ask(bind(family, X[rows]), weights)
        answers = ask(bind(family, X, rows=rows), weights)
        same_answers(family, expected, answers, f"bind_rows of {what}")


@check("Let summaries be sums of PartitionWeights.rounded().", "partitioned")
def check_partitions(family):
    """Check that pricing on partitions gives the learners of one partition, in any merging order.

    Several trainings ask one coordinator. Questions, summaries and learners are pickled on their
    way, as on a cluster. Edges and outputs are those of the learners, on every partition.
    """
    for name, X, weights in problems():
        if len(X) >= 20 and "boosting" in name:
            with on(f"{name}, on partitions"):
                _check_partitions_of(family, X, weights)


def _check_partitions_of(family, X, weights) -> None:
    parts = np.split(X, [7, 8, len(X) // 2])
    coordinator = _coordinator(family, parts)
    whole = _OnPartitions(coordinator, [X])
    expected = whole.priced(weights)
    for one in candidates_of(family, len(X)):
        chooses = _coordinator(one, parts)
        own, lent = (
            _OnPartitions(chooses, parts, binds=binds).priced(weights)
            for binds in (chooses, coordinator)
        )
        assert same_arrays(own[0], lent[0]), (
            f"the candidate {one!r} finds other learners on partitions that the family's "
            "coordinator has bound"
        )
    for order in (1, -1):  # further trainings, in rounds of other weights too
        several = _OnPartitions(coordinator, parts, order)
        several.priced(weights[::-1])
        learners, edges = several.priced(weights)
        assert same_arrays(expected[0], learners), (
            "the learners of several partitions differ from those of one"
        )
        assert np.array_equal(expected[1], edges), "the edges differ"
        if family.capabilities.divides:
            assert same_arrays(whole.division(weights), several.division(weights)), (
                "the division of several partitions is not that of one"
            )


class _OnPartitions:
    """Pricers of partitions, and conversations with them whose summaries are merged in an order.

    They are bound by the coordinator `binds`, None for the one that converses.
    """

    def __init__(self, coordinator, parts, order=1, binds=None):
        self._coordinator, self._parts, self._order = coordinator, parts, order
        self._ends = np.cumsum([len(part) for part in parts])
        n_total, self._pricers = int(self._ends[-1]), []
        for part, places in zip(parts, np.split(np.arange(n_total), self._ends[:-1])):
            context = PartitionContext(places=places, n_total=n_total)
            self._pricers.append(_pickled(binds or coordinator).bind(part, context))

    def priced(self, weights):
        """Return learners and edges of a round."""
        scales = weight_scales(np.abs(weights).sum(axis=1))
        conversation = self._coordinator.choose(scales, np.random.default_rng(0))
        chosen = self._hold(conversation, weights, scales)
        assert isinstance(chosen, Chosen), f"choose returned a {type(chosen).__name__}"
        learners = _pickled(chosen.learners)
        outputs = learners.outputs(np.concatenate(self._parts))
        rounded = np.rint(weights * scales[:, None]) / scales[:, None]
        exact = np.einsum("ti,it->t", rounded, outputs)
        assert np.allclose(chosen.edges, exact, rtol=1e-12, atol=1e-12), (
            f"the edges of the learners are {exact}, {chosen.edges} were reported"
        )
        for pricer, part in zip(self._pricers, self._parts):
            assert np.array_equal(pricer.outputs(learners), pack_outputs(learners.outputs(part))), (
                "the partition's outputs and learners.outputs differ"
            )
        return learners, chosen.edges

    def division(self, weights):
        """Return the learner of a division."""
        conversation = self._coordinator.divide(len(weights), np.random.default_rng(0))
        chosen = self._hold(conversation, weights, np.ones(len(weights)))
        assert isinstance(chosen, ChosenDivision), f"divide returned a {type(chosen).__name__}"
        learners = _pickled(chosen.learners)
        for pricer, part in zip(self._pricers, self._parts):
            cells = pricer.cells(learners)
            assert np.array_equal(cells, learners.cells(part).T), (
                "the partition's cells and learners.cells differ"
            )
            assert cells.max() < chosen.n_cells, f"cells must be below {chosen.n_cells}"
        return learners

    def _hold(self, conversation, weights, scales):
        """Hold a conversation; return its result."""
        own = [
            PartitionWeights(part, scales) for part in np.split(weights, self._ends[:-1], axis=1)
        ]
        question = next(conversation)
        while True:
            asked = _pickled(question)
            if isinstance(asked, Tasks):
                answer = [task(_pickled(self._coordinator)) for task in asked.tasks]
            else:
                summaries = [p.summarise(w, asked) for p, w in zip(self._pricers, own)]
                answer = self._merged(summaries[:: self._order])
            try:
                question = conversation.send(answer)
            except StopIteration as end:
                return end.value

    def _merged(self, summaries):
        """Merge two halves, of which each is merged, as workers and the client do."""
        if len(summaries) == 1:
            return _pickled(summaries[0])
        half = len(summaries) // 2
        halves = self._merged(summaries[:half]), self._merged(summaries[half:])
        return self._coordinator.merge(*halves)


def _coordinator(family, parts):
    context = BindContext(n_targets=N_TARGETS, random_state=np.random.default_rng(1))
    descriptions = [_pickled(clone(family).describe(part)) for part in parts]
    return clone(family).coordinator(descriptions, context)


def _pickled(value):
    return pickle.loads(pickle.dumps(value))
