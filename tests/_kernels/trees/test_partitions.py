"""Growth from the sums of partitions: the trees of one machine, bit for bit."""

from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from cwboost.plugins.trees import TreeFamily
from models import context

from cwboost import StumpFamily
from cwboost.families import tree_partitions
from cwboost.families.partitioned import PartitionContext, PartitionWeights, Tasks
from cwboost.kernels import weight_scales

N, D, K = 2_500, 9, 3
SETTINGS = [
    {},
    {"max_features": 2, "min_leaf_weight": 4, "max_depth": 5},
    {"max_features": None, "criterion": "edge", "max_depth": 4},
    {"min_leaf_weight": 0.0, "max_depth": 3},
]


def features(kind, rng):
    X = np.round(rng.normal(size=(N, D)), 1)
    X[:, 0] = rng.integers(0, 30, size=N)
    if kind == "gaps":
        X[rng.random(X.shape) < 0.2] = np.nan
        X[:, 3] = np.nan
    return sp.csr_array(X * (rng.random(X.shape) < 0.3)) if kind == "sparse" else X


def together(family, X, weights, known, divides=False, n_workers=1):
    """Price on three partitions, or divide their examples, as some workers do.

    Return the result of the conversation, and outputs and cells on each partition.
    """
    parts = np.split(np.arange(N), [100, 1_300])
    blocks = [X[rows] for rows in parts]
    if sp.issparse(X):
        blocks[0] = blocks[0].toarray()
    coordinator = family.coordinator([family.describe(block) for block in blocks], known)
    coordinator.n_workers = n_workers
    scales = weight_scales(np.abs(weights).sum(axis=1))
    contexts = [PartitionContext(places=rows, n_total=N) for rows in parts]
    pricers = list(map(coordinator.bind, blocks, contexts))
    given = [PartitionWeights(np.ascontiguousarray(weights[:, rows]), scales) for rows in parts]
    rng = known.random_state
    if divides:
        conversation = coordinator.divide(len(weights), rng)
    else:
        conversation = coordinator.choose(scales, rng)
    answer = None
    while True:
        try:
            question = conversation.send(answer)
        except StopIteration as end:
            learners = end.value.learners
            found = [(p.outputs(learners), p.cells(learners)) for p in pricers]
            return end.value, parts, found
        if isinstance(question, Tasks):
            answer = [task(coordinator) for task in question.tasks]
            continue
        replies = [pricer.summarise(own, question) for pricer, own in zip(pricers, given)]
        answer = coordinator.merge(coordinator.merge(*replies[:2]), replies[2])


# Nodes are split by sums alone, by sums and rows in several messages, or by rows below the root.
@pytest.mark.parametrize("n_workers", [1, 3])
@pytest.mark.parametrize(("seed", "fewest"), [(0, 0), (1, 5_000), (2, 2**22)])
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("kind", ["numbers", "gaps", "sparse"])
def test_trees_of_partitions_are_those_of_one_machine(
    monkeypatch, kind, settings, seed, fewest, n_workers
):
    monkeypatch.setattr(tree_partitions, "FEWEST_BYTES", fewest)
    monkeypatch.setattr(tree_partitions, "MOST_BYTES", fewest)
    X = features(kind, np.random.default_rng(seed))
    weights = np.random.default_rng(seed).normal(size=(K, N)) ** 3
    family = TreeFamily(**settings)
    one, many = (context(K, seed) for _ in range(2))
    pricer = family.bind(X, one)
    alone = pricer.price(weights)
    with patch.object(tree_partitions, "grow_below", wraps=tree_partitions.grow_below) as rows:
        chosen, parts, here = together(family, X, weights, many, n_workers=n_workers)
    assert rows.called == (fewest > 0)
    assert len(alone.learners.trees.feature) > 3 * K
    np.testing.assert_equal(chosen.learners.arrays(), alone.learners.arrays())
    assert np.array_equal(alone.edges, chosen.edges)
    signed = chosen.learners.outputs(X) > 0
    for rows, (packed, _) in zip(parts, here):
        assert np.array_equal(np.packbits(signed[rows], axis=0, bitorder="little").T, packed)
    division = pricer.divide(weights)
    chosen, parts, here = together(family, X, weights, many, divides=True, n_workers=n_workers)
    np.testing.assert_equal(chosen.learners.arrays(), division.learners.arrays())
    assert chosen.n_cells == division.n_cells
    for rows, (_, cells) in zip(parts, here):
        assert np.array_equal(division.cells[rows], cells[0])


@pytest.mark.parametrize("n_copies", [1, 90, 240, 500])
def test_trees_are_the_same_with_room_for_few_saved_histograms_or_none(n_copies):
    rng = np.random.default_rng(2)
    X, weights = np.hstack([features("numbers", rng)] * n_copies), rng.normal(size=(1, N)) ** 3
    family = TreeFamily(max_features=None, max_depth=6)
    alone = family.bind(X, context(1)).price(weights)
    chosen = together(family, X, weights, context(1))[0]
    assert len(alone.learners.trees.feature) > 20
    np.testing.assert_equal(chosen.learners.arrays(), alone.learners.arrays())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["numbers", "gaps", "sparse"])
def test_stumps_of_partitions_have_the_edges_of_one_machine(kind, seed):
    X = features(kind, np.random.default_rng(seed))
    weights = np.random.default_rng(seed).normal(size=(K, N)) ** 3
    alone = StumpFamily().bind(X, context(K, seed)).price(weights)
    chosen, parts, here = together(StumpFamily(), X, weights, context(K, seed))
    np.testing.assert_allclose(chosen.edges, alone.edges, rtol=1e-11)
    outputs = chosen.learners.outputs(X)
    np.testing.assert_allclose((weights.T * outputs).sum(axis=0), alone.edges, rtol=1e-11)
    for rows, (packed, _) in zip(parts, here):
        assert np.array_equal(np.packbits(outputs[rows] > 0, axis=0, bitorder="little").T, packed)


def test_features_that_are_constant_everywhere_give_constants():
    weights = np.array([np.ones(N), -np.ones(N)])
    chosen = together(TreeFamily(), np.ones((N, 2)), weights, context(2))[0]
    assert chosen.learners.trees.output.tolist() == [1, -1]
    assert chosen.edges.tolist() == [N, N]
