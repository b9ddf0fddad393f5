"""Edges from packed outputs agree with sums in NumPy, and a false one is found."""

import numpy as np
import pytest
from cwboost._kernels.common.packed_edges import (
    FALSE_EDGE,
    WEAK_EDGE,
    find_false_edge,
    find_false_shared_edge,
)

from cwboost import pack_outputs


def material(n, n_targets=5, seed=0):
    """Weights in padded rows, a learner for every target, with their edges."""
    rng = np.random.default_rng(seed)
    weights = np.full((n_targets, n + 3), np.nan)[:, :n]
    weights[:] = np.exp(5 * rng.normal(size=(n_targets, n))) * rng.choice([-1, 1], (n_targets, n))
    signs = rng.choice([-1, 1], (n, n_targets))
    edges = np.array([row @ own for row, own in zip(weights, signs.T)])
    return weights, signs, edges


SIZES = [1, 7, 8, 9, 64, 1003, 70_001]


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n", SIZES)
def test_true_edges_pass_and_false_ones_are_found(n, n_threads):
    weights, signs, edges = material(n)
    packed = pack_outputs(signs)
    if n % 8:
        packed[:, -1] |= 256 - (1 << n % 8)  # bits after the last example do not count
    weights.flags.writeable = packed.flags.writeable = False
    assert find_false_edge(weights, packed, edges, False, n_threads) is None
    for j in range(len(edges)):
        size = np.abs(weights[j]).sum()
        for wrong in (edges[j] + 1e-9 * size, edges[j] - 1e-9 * size, np.nan, np.inf):
            changed = edges.copy()
            changed[j] = wrong
            kind, k, edge = find_false_edge(weights, packed, changed, True, n_threads)
            assert (kind, k) == (FALSE_EDGE, j)
            assert abs(edge - edges[j]) <= 1e-13 * n * size


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n", SIZES)
def test_shared_edges(n, n_threads):
    weights, signs, _ = material(n)
    packed = pack_outputs(signs[:, :1])
    edge = np.array([np.abs(weights @ signs[:, 0]).sum()])
    assert find_false_shared_edge(weights, packed, edge, n_threads) is None
    kind, j, found = find_false_shared_edge(weights, packed, edge * (1 + 1e-6), n_threads)
    assert (kind, j) == (FALSE_EDGE, 0) and np.isclose(found, edge[0])


def test_a_learner_must_not_be_weaker_than_a_constant():
    weights = np.array([[3.0, 1.0, -1.0], [1.0, 1.0, 1.0]])
    signs = np.array([[1, 1], [1, 1], [1, -1]])  # the edge 3 of a constant, and 1
    edges, packed = np.array([3.0, 1.0]), pack_outputs(signs)
    assert find_false_edge(weights, packed, edges, False) is None
    assert find_false_edge(weights, packed, edges, True) == (WEAK_EDGE, 1, 3.0)
