"""Growth from the sums of partitions: the trees of one machine, bit for bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from cwboost.plugins.trees import TreeFamily
from models import context

from cwboost import PricingRequest, StumpFamily
from cwboost.families.partitioned import PartitionContext, PartitionWeights, scales_of

N, D, K = 2_500, 9, 3
SETTINGS = [
    {},
    {"max_features": 2, "min_samples_leaf": 4, "max_depth": 5},
    {"max_features": None, "criterion": "edge", "max_depth": 4},
    {"trim": 0.4},
    {"categories": "subsets", "max_features": None},
]


def features(kind, rng):
    X = np.round(rng.normal(size=(N, D)), 1)
    X[:, 0] = rng.integers(0, 30, size=N)
    if kind == "gaps":
        X[rng.random(X.shape) < 0.2] = np.nan
        X[:, 3] = np.nan
    return sp.csr_array(X * (rng.random(X.shape) < 0.3)) if kind == "sparse" else X


def together(family, X, weights, known, request=PricingRequest()):
    """Price on three partitions, as a cluster does."""
    parts = np.split(np.arange(N), [100, 1_300])
    plan = family.plan([family.describe(X[rows]) for rows in parts], known)
    scales = scales_of(np.abs(weights).sum(axis=1))
    pricers = [plan.bind(X[rows], PartitionContext(places=rows, n_total=N)) for rows in parts]
    given = [PartitionWeights(np.ascontiguousarray(weights[:, rows]), scales) for rows in parts]
    conversation, answer = plan.choose(scales, known.random_state, request), None
    while True:
        try:
            question = conversation.send(answer)
        except StopIteration as end:
            found = [(p.outputs(end.value.learners), p.cells(end.value.learners)) for p in pricers]
            return end.value, parts, found
        replies = [pricer.summarise(own, question) for pricer, own in zip(pricers, given)]
        answer = plan.merge(plan.merge(*replies[:2]), replies[2])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("with_cells", [False, True])
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("kind", ["numbers", "gaps", "sparse", "categories"])
def test_trees_of_partitions_are_those_of_one_machine(kind, settings, with_cells, seed):
    X = features(kind, np.random.default_rng(seed))
    weights = np.random.default_rng(seed).normal(size=(K, N)) ** 3
    n_categories = np.where(np.arange(D) == 0, 30, 0) if kind == "categories" else None
    family = TreeFamily(**settings)
    one, many = (context(K, seed, n_categories=n_categories) for _ in range(2))
    request = PricingRequest(with_cells=with_cells)
    alone = family.bind(X, one).price(weights, request)
    chosen, parts, here = together(family, X, weights, many, request)
    assert len(alone.learners.trees.feature) > 3 * K
    np.testing.assert_equal(chosen.learners.arrays(), alone.learners.arrays())
    assert np.array_equal(alone.edges, chosen.edges)
    signed = chosen.learners.outputs(X) > 0
    for rows, (packed, cells) in zip(parts, here):
        assert np.array_equal(np.packbits(signed[rows], axis=0, bitorder="little").T, packed)
        assert not with_cells or np.array_equal(alone.cells[:, rows], cells)
    assert (alone.cells is not None) == with_cells


@pytest.mark.parametrize("n_copies", [1, 90, 240, 500])
def test_trees_are_the_same_with_room_for_few_saved_histograms_or_none(n_copies):
    rng = np.random.default_rng(2)
    X, weights = np.hstack([features("numbers", rng)] * n_copies), rng.normal(size=(1, N)) ** 3
    family = TreeFamily(max_features=None, max_depth=6)
    alone = family.bind(X, context(1)).price(weights)
    chosen = together(family, X, weights, context(1))[0]
    assert len(alone.learners.trees.feature) > 20
    np.testing.assert_equal(chosen.learners.arrays(), alone.learners.arrays())


def test_a_constant_beats_a_tree_of_trimmed_weights_on_partitions_too():
    rng = np.random.default_rng(11)
    X, n_constant = rng.normal(size=(N, 3)), 0
    for _ in range(10):
        weights = np.abs(rng.normal(size=(1, N))) * 0.1
        weights[:, :20] = -rng.exponential(size=20)
        weights[:, :20] *= 0.6 * weights[:, 20:].sum() / -weights[:, :20].sum()
        family = TreeFamily(trim=0.9)
        alone = family.bind(X, context(1)).price(weights)
        chosen = together(family, X, weights, context(1))[0]
        assert chosen.edges[0] >= abs(weights.sum()) * (1 - 1e-12)
        n_constant += len(alone.learners.trees.feature) == 1
        assert len(chosen.learners.trees.feature) == 1 or chosen.edges[0] > abs(weights.sum())
    assert n_constant > 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["numbers", "gaps", "sparse", "categories"])
def test_stumps_of_partitions_have_the_edges_of_one_machine(kind, seed):
    X = features(kind, np.random.default_rng(seed))
    weights = np.random.default_rng(seed).normal(size=(K, N)) ** 3
    known = {}
    if kind == "categories":
        is_set = np.arange(D) == 0
        known = {"categorical": is_set, "n_categories": np.where(is_set, 30, 0)}
    alone = StumpFamily().bind(X, context(K, seed, **known)).price(weights)
    chosen, parts, here = together(StumpFamily(), X, weights, context(K, seed, **known))
    np.testing.assert_allclose(chosen.edges, alone.edges, rtol=1e-11)
    outputs = chosen.learners.outputs(X)
    np.testing.assert_allclose((weights.T * outputs).sum(axis=0), alone.edges, rtol=1e-11)
    assert (kind == "categories") == (chosen.learners.category_sets is not None)
    for rows, (packed, _) in zip(parts, here):
        assert np.array_equal(np.packbits(outputs[rows] > 0, axis=0, bitorder="little").T, packed)


def test_features_that_are_constant_everywhere_give_constants():
    weights = np.array([np.ones(N), -np.ones(N)])
    chosen = together(TreeFamily(), np.ones((N, 2)), weights, context(2))[0]
    assert chosen.learners.trees.output.tolist() == [1, -1]
    assert chosen.edges.tolist() == [N, N]
