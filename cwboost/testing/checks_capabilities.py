"""Checks of declared capabilities: missing values, sparse input, partitions and others."""

import pickle
import tracemalloc

import numpy as np
from scipy import sparse
from sklearn.base import clone

from cwboost.families.contract import BindContext
from cwboost.families.outputs import pack_outputs
from cwboost.families.partitioned import Chosen, ChosenDivision, PartitionContext, PartitionWeights
from cwboost.families.sealing.forms import check_forms
from cwboost.families.sealing.pricer import candidates_of
from cwboost.families.sealing.sample import read_only
from cwboost.kernels import weight_scales
from cwboost.testing.material import (
    N_TARGETS,
    WHOLE,
    assert_priced,
    assert_signs,
    bind,
    boosting_weights,
    fitted,
    integer_weights,
    is_randomised,
    levels,
    pixels,
    problems,
    reals,
    same_arrays,
    tolerance,
    with_missing,
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
    if family.capabilities.missing_values:
        X = with_missing(X)
    constraints = np.array([[1, 0], [-1, 0], [0, 0]], dtype=np.int8)
    pricer = bind(family, X, monotonic=constraints)
    for _ in range(5):
        priced = pricer.price(weights, WHOLE)
        assert_priced(family, priced, X, weights, "constraints")
        for sign, step in zip(constraints[:, 0], _steps(priced.learners).T):
            assert np.all(sign * step >= 0), f"outputs break the constraint {sign:+d} on feature 0"
        weights = weights * rng.uniform(0.5, 2.0, size=90)
    _check_exact_under_a_constraint(family, X)


def _check_exact_under_a_constraint(family, X):
    """Check that exact pricing misses no learner that keeps the constraint, also on sparse X."""
    is_lost = np.where(np.isnan(X[:, 0]), 2.0, -2.0)
    weights = np.vstack([integer_weights(len(X), 8), is_lost, -is_lost])
    free = bind(family, X, n_targets=len(weights)).price(weights, WHOLE).learners
    kept = free.take(np.flatnonzero((_steps(free) >= 0).all(axis=0))).outputs(X).T
    weights = np.vstack([weights, kept])
    constraints = np.tile(np.array([[1, 0]], dtype=np.int8), (len(weights), 1))
    for form in [X, sparse.csr_array(X)] if family.capabilities.sparse_input else [X]:
        pricer = bind(family, form, n_targets=len(weights), monotonic=constraints)
        priced = pricer.price(weights, WHOLE)
        assert_priced(family, priced, form, weights, "constraints")
        short = (weights @ kept.T).max(axis=1) - priced.edges if pricer.exact else np.zeros(1)
        assert (short <= tolerance(weights)).all(), (
            f"pricing missed learners that keep the constraint +1: edges are {short} too small"
        )


def _steps(learners) -> np.ndarray:
    """Return how outputs change as the first of two features rises, one column per learner."""
    rising = np.linspace(-4.0, 4.0, 201)
    outputs = [
        learners.outputs(np.column_stack([rising, np.full(201, other)])).astype(np.int64)
        for other in (-1.0, 0.0, 1.0)
    ]
    return np.concatenate([np.diff(rows, axis=0) for rows in outputs])


def check_interactions(family):
    """Check that a learner reads features of one of two disjoint sets, if the weights want both."""
    rng = np.random.default_rng(71)
    X, others = rng.standard_normal((2, 90, 4))
    sets = np.array([[True, True, False, False], [False, False, True, True]])
    weights = np.sign(X[:, [0, 1, 0]] * X[:, [2, 3, 3]]).T * rng.integers(1, 9, size=90)
    pricer = bind(family, X, interactions=sets)
    priced = pricer.price(weights, WHOLE)
    assert_priced(family, priced, X, weights, "interactions")
    found = [priced.learners.outputs]
    if family.capabilities.divides:
        found.append(pricer.divide(weights, WHOLE).learners.cells)
    for values in found:
        same = [(values(np.where(own, X, others)) == values(X)).all(axis=0) for own in sets]
        assert np.logical_or(*same).all(), "a learner reads features of two sets"


def check_symmetric(family):
    """Check that the best learner of negated weights has the same edge, as its negative has.

    A family that draws by the weights may draw others: their edges are only positive.
    """
    for X in (pixels(), reals(40, 5)):
        weights = integer_weights(len(X))
        edges, negated = (
            bind(family, X).price(sign * weights, WHOLE).edges for sign in (1.0, -1.0)
        )
        same = (edges > 0) & (negated > 0) if is_randomised(family) else edges == negated
        assert np.all(same), (
            f"symmetric: the weights have the edges {edges}, their negatives {negated}"
        )


def check_missing_values(family):
    """Check that pricing and prediction accept NaN in every layout, even X of NaN alone.

    Infinities come with it: training refuses them unless missing values are handled.
    """
    whole = with_missing(pixels())
    infinite = np.where(np.isnan(whole), np.inf * np.sign(pixels(seed=9) - 100), whole)
    for what, X in (
        ("X with NaN", whole),
        ("X with infinities", infinite),
        ("X of real numbers with NaN", with_missing(reals(50, 3))),
        ("one feature with NaN", with_missing(reals(30, 1))),
        ("float32 X with NaN", whole.astype(np.float32)),
        ("X that is NaN throughout", np.full((10, reals().shape[1]), np.nan)),
    ):
        weights = integer_weights(len(X))
        priced = bind(family, X).price(weights, WHOLE)
        assert_priced(family, priced, X, weights, what)
        for variant in (np.asfortranarray(X), X[::-1][::-1]):
            again = bind(family, variant).price(weights, WHOLE)
            if family.capabilities.deterministic:
                assert np.array_equal(again.edges, priced.edges), f"{what}: edges depend on layout"
        rebuilt = family.learners_type.from_arrays(priced.learners.arrays(), X.shape[1])
        assert np.array_equal(rebuilt.outputs(X), priced.learners.outputs(X)), (
            f"{what}: stored learners predict differently"
        )
    X = pixels()
    learners, missing = fitted(family, X), np.full((4, X.shape[1]), np.nan)
    outputs = learners.outputs(missing)
    assert_signs(outputs, (4, len(learners)), "NaN where training had none")
    check_forms(learners, family, missing)


def check_sparse_input(family):
    """Check that CSR and CSC, as arrays or matrices, give the learners of the dense matrix."""
    dense = levels(60, 8, n_levels=5)
    dense = dense * np.random.default_rng(40).integers(0, 2, size=dense.shape)
    if family.capabilities.missing_values:
        dense[3, 2] = dense[40, 2] = np.nan
    weights = integer_weights(60)
    expected = bind(family, dense).price(weights, WHOLE)
    for what, X in _sparse_variants(dense):
        priced = bind(family, X).price(weights, WHOLE)
        assert_priced(family, priced, X, weights, what)
        if family.capabilities.deterministic:
            assert np.array_equal(priced.outputs, expected.outputs), f"{what}: outputs differ"
            assert np.array_equal(priced.edges, expected.edges), f"{what}: edges differ"
        learners = priced.learners
        assert np.array_equal(learners.outputs(dense), learners.outputs(X)), (
            f"{what}: outputs(X) differ between sparse and dense X"
        )
        check_forms(learners, family, X)


def _sparse_variants(dense):
    csr = sparse.csr_array(dense)
    yield "CSR array", csr
    yield "CSC array", sparse.csc_array(dense)
    yield "CSR matrix", sparse.csr_matrix(dense)
    yield "float32 CSR", csr.astype(np.float32)
    shift = np.arange(dense.shape[1]) % 2
    explicit = sparse.csr_array(dense + shift)
    explicit.data -= shift[explicit.indices]
    yield "CSR with stored zeros", explicit
    yield "read-only CSC", read_only(sparse.csc_array(dense))


def check_sparse_memory(family):
    """Check that sparse X stays sparse: pricing needs less than one byte per matrix entry.

    Only allocations that Python traces are counted; they include those of NumPy.
    """
    n_samples, n_features = 30_000, 3_000
    X = sparse.random_array(
        (n_samples, n_features), density=1e-3 / 3, format="csr", rng=np.random.default_rng(42)
    )
    weights = boosting_weights(n_samples, 2)
    already = tracemalloc.is_tracing()
    if not already:
        tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        priced = bind(family, X, n_targets=2).price(weights, WHOLE)
        priced.learners.outputs(X)
        used = tracemalloc.get_traced_memory()[1] - before
    finally:
        if not already:
            tracemalloc.stop()
    limit = n_samples * n_features
    assert used <= limit, (
        f"{used / 1e6:.0f} MB were allocated for a matrix of {X.nnz} non-zeros; "
        f"one byte per matrix entry would be {limit / 1e6:.0f} MB"
    )


def check_partitions(family):
    """Check that pricing on partitions gives the learners of one partition, in any merging order.

    Several trainings ask one coordinator. Questions, summaries and learners are pickled on their
    way, as on a cluster. Edges and outputs are those of the learners, on every partition.
    """
    for name, X, weights in problems():
        if len(X) >= 20 and "boosting" in name:
            _check_partitions_of(family, X, weights, f"{name}, on partitions")


def _check_partitions_of(family, X, weights, what):
    parts = np.split(X, [7, 8, len(X) // 2])
    coordinator = _coordinator(family, parts)
    whole = _OnPartitions(coordinator, [X], what)
    expected = whole.priced(weights)
    for one in candidates_of(family, len(X)):
        chooses = _coordinator(one, parts)
        own, lent = (
            _OnPartitions(chooses, parts, what, binds=binds).priced(weights)
            for binds in (chooses, coordinator)
        )
        assert same_arrays(own[0], lent[0]), (
            f"{what}: the candidate {one!r} finds other learners on partitions that the family's "
            "coordinator has bound"
        )
    for order in (1, -1):  # further trainings, in rounds of other weights too
        several = _OnPartitions(coordinator, parts, what, order)
        several.priced(weights[::-1])
        learners, found = several.priced(weights)
        assert same_arrays(expected[0], learners), (
            f"{what}: the learners of {len(parts)} partitions are not those of one"
        )
        assert np.array_equal(expected[1], found), f"{what}: edges are {expected[1]} and {found}"
        if family.capabilities.divides:
            one, other = whole.division(weights), several.division(weights)
            assert same_arrays(one, other), (
                f"{what}: the division of {len(parts)} partitions is not that of one"
            )


class _OnPartitions:
    """Pricers of partitions, and conversations with them whose summaries are merged in an order.

    They are bound by the coordinator `binds`, None for the one that converses.
    """

    def __init__(self, coordinator, parts, what, order=1, binds=None):
        self._coordinator, self._parts, self._what, self._order = coordinator, parts, what, order
        self._ends = np.cumsum([len(part) for part in parts])
        n_total, self._pricers = int(self._ends[-1]), []
        for part, places in zip(parts, np.split(np.arange(n_total), self._ends[:-1])):
            context = PartitionContext(places=places, n_total=n_total)
            self._pricers.append(_pickled(binds or coordinator).bind(part, context))

    def priced(self, weights):
        """Return learners and edges of a round."""
        what, scales = self._what, weight_scales(np.abs(weights).sum(axis=1))
        conversation = self._coordinator.choose(scales, np.random.default_rng(0))
        chosen = self._hold(conversation, weights, scales)
        assert isinstance(chosen, Chosen), f"{what}: choose returned a {type(chosen).__name__}"
        learners = _pickled(chosen.learners)
        outputs = learners.outputs(np.concatenate(self._parts))
        rounded = np.rint(weights * scales[:, None]) / scales[:, None]
        exact = np.einsum("ti,it->t", rounded, outputs)
        assert np.allclose(chosen.edges, exact, rtol=1e-12, atol=1e-12), (
            f"{what}: the edges of the learners are {exact}, {chosen.edges} were reported"
        )
        for pricer, part in zip(self._pricers, self._parts):
            packed = pricer.outputs(learners)
            assert np.array_equal(packed, pack_outputs(learners.outputs(part))), (
                f"{what}: the partition's outputs and learners.outputs differ"
            )
        return learners, chosen.edges

    def division(self, weights):
        """Return the learner of a division."""
        what, scales = self._what, np.ones(len(weights))
        conversation = self._coordinator.divide(len(weights), np.random.default_rng(0))
        chosen = self._hold(conversation, weights, scales)
        assert isinstance(chosen, ChosenDivision), (
            f"{what}: divide returned a {type(chosen).__name__}"
        )
        learners = _pickled(chosen.learners)
        for pricer, part in zip(self._pricers, self._parts):
            cells = pricer.cells(learners)
            assert np.array_equal(cells, learners.cells(part).T), (
                f"{what}: the partition's cells and learners.cells differ"
            )
            assert cells.max() < chosen.n_cells, f"{what}: cells must be below {chosen.n_cells}"
        return learners

    def _hold(self, conversation, weights, scales):
        """Hold a conversation; return its result."""
        own = [
            PartitionWeights(rows, scales) for rows in np.split(weights, self._ends[:-1], axis=1)
        ]
        question = next(conversation)
        while True:
            asked = _pickled(question)
            summaries = [p.summarise(w, asked) for p, w in zip(self._pricers, own)]
            try:
                question = conversation.send(self._merged(summaries[:: self._order]))
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
    rng = np.random.default_rng(1)
    context = BindContext(n_targets=N_TARGETS, random_state=rng)
    descriptions = [_pickled(clone(family).describe(part)) for part in parts]
    return clone(family).coordinator(descriptions, context)


def _pickled(value):
    return pickle.loads(pickle.dumps(value))
