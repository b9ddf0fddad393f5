"""Trees whose lower levels single partitions grow; no cluster is needed."""

import numpy as np
import pytest
from cwboost.plugins.trees import partitioned
from cwboost.plugins.trees.partition import PartitionTrees
from cwboost.plugins.trees.subtrees import Subtrees, assigned, joined_rows
from partitions import split, train

from cwboost import TreeFamily
from cwboost.datasets import load_vowel

RANDOM = {"splitter": "random", "max_features": "sqrt"}
"""Single partitions grow the lower levels of trees with random thresholds only."""

SETTINGS = {"C": 1e4, "learning_rate": 0.3, "subsample": 0.5}


@pytest.fixture(scope="module")
def data():
    """Few distinct values per feature, so that bins do not round, and some are missing."""
    X, y = load_vowel(return_X_y=True)
    X, rng = np.round(X, 1).astype(np.float32), np.random.default_rng(0)
    X[rng.random(X.shape) < 0.05] = np.nan
    order = rng.permutation(len(y))
    return X[order], y[order]


@pytest.fixture
def divisions(monkeypatch):
    """The subtrees of every round."""
    found, of = [], Subtrees.of
    monkeypatch.setattr(
        Subtrees, "of", classmethod(lambda cls, parts: found.append(of(parts)) or found[-1])
    )
    return found


def assert_equal_learners(one, other):
    for name, array in one.model.ensemble().learners.arrays().items():
        found = other.model.ensemble().learners.arrays()[name]
        np.testing.assert_array_equal(array, found, err_msg=name)


def test_the_model_does_not_depend_on_the_workers(data, divisions):
    blocks = split(*data, 300, 200, 250)
    one, two, four = (
        train(TreeFamily(**RANDOM), blocks, 5, n_workers=n, **SETTINGS) for n in (1, 2, 4)
    )
    assert len(divisions) == 15
    assert_equal_learners(one, two)
    assert_equal_learners(one, four)


@pytest.mark.parametrize("sizes", [[100], [300, 200, 250], [1, 1, 400]])
def test_the_first_trees_do_not_depend_on_the_partitions(data, divisions, sizes):
    """Later ones may: weights are rounded differently, which decides between equal splits."""
    settings = {**SETTINGS, "subsample": 1.0}
    whole, parts = (
        train(TreeFamily(**RANDOM), b, 1, **settings) for b in ([data], split(*data, *sizes))
    )
    assert len(divisions) == 2
    assert_equal_learners(whole, parts)


@pytest.mark.parametrize("few", ["LEAST_NODES", "MOST_BYTES", "MOST_FEATURES"])
def test_errors_are_those_of_growth_level_by_level(data, divisions, monkeypatch, few):
    X, y = data
    training, test = (X[:700], y[:700]), (X[700:], y[700:])
    errors, blocks = [], split(*training, 350)
    for value in (None, 10**9 if few == "LEAST_NODES" else 5):
        if value is not None:
            monkeypatch.setattr(partitioned, few, value)
        models = [
            train(TreeFamily(**RANDOM), blocks, 40, seed=k, **SETTINGS).model for k in range(3)
        ]
        assert len(divisions) == 3 * 40
        wrong = [m.ensemble().scores(test[0]).argmax(axis=1) != test[1] for m in models]
        errors.append(np.mean(wrong))
    assert errors[0] == pytest.approx(errors[1], abs=0.025)


def test_outputs_are_those_of_the_learners(data):
    """Partitions answer from the leaves that they know; the scores are those of the model."""
    X, y = data
    training = train(TreeFamily(min_samples_leaf=3, **RANDOM), split(X, y, 400), 5, **SETTINGS)
    ensemble = training.model.ensemble()
    first = 0
    for partition in (p for host in training.crew.hosts for p in host.partitions.values()):
        n = partition.pairs.n_samples
        rows = slice(first, first + n)
        own = np.argsort(y[rows], kind="stable")
        found = partition.pairs.scores_now()[:, :n].T
        np.testing.assert_allclose(found, ensemble.scores(X[rows][own]), atol=1e-9)
        first += n


def test_a_lost_partition_is_rebuilt_with_the_same_bits(data):
    training = train(TreeFamily(**RANDOM), split(*data, 400), 4, n_workers=2, **SETTINGS)
    crew = training.crew
    again = train(TreeFamily(**RANDOM), split(*data, 400), 0, n_workers=2, **SETTINGS).crew
    for host, fresh in zip(crew.hosts, again.hosts):
        fresh.run(crew.history())
        for index, partition in host.partitions.items():
            weights = fresh.partitions[index].pairs.weights
            np.testing.assert_array_equal(weights, partition.pairs.weights)


@pytest.mark.parametrize("lost_at", ["rows", "subtrees", "leaves"])
def test_a_rebuilt_partition_gets_the_codes_again(data, monkeypatch, lost_at):
    """A partition is lost before the answer to a question of the third round."""
    settings = {"n_workers": 2, **SETTINGS}
    whole = train(TreeFamily(**RANDOM), split(*data, 400), 4, **settings).model.ensemble().arrays()
    summarise, asked = PartitionTrees.summarise, []

    def rebuilt(self, weights, question):
        if self._own and question[0] == lost_at:
            asked.append(question)
            if len(asked) == 3:
                self._known, self._leaves = None, (None, None)
        return summarise(self, weights, question)

    monkeypatch.setattr(PartitionTrees, "summarise", rebuilt)
    again = train(TreeFamily(**RANDOM), split(*data, 400), 4, **settings).model.ensemble().arrays()
    for name, array in whole.items():
        np.testing.assert_array_equal(array, again[name], err_msg=name)


def test_nodes_are_assigned_evenly():
    nodes, sizes = np.arange(5, 10), np.array([100.0, 60, 50, 40, 30])
    chosen = assigned(nodes, sizes, [0, 7])
    assert [own.tolist() for own in chosen.values()] == [[5, 8], [6, 7, 9]]


def test_rows_of_all_partitions_are_joined_node_by_node():
    parts = {
        4: (np.array([1, 2, 9, 0], np.int32), np.array([1.0, 2, 9, 0]), np.array([0, 2, 3])),
        0: (np.array([5, 0], np.int32), np.array([5.0, 0]), np.array([0, 0, 1])),
    }
    rows, w, starts = joined_rows(parts, {0: 0, 4: 10})
    assert (rows[:4].tolist(), w[:4].tolist()) == ([11, 12, 5, 19], [1, 2, 5, 9])
    assert starts.tolist() == [0, 2, 4]


def test_the_bytes_of_a_round_follow_the_formula(data, divisions):
    """What travels in a round of trees whose first level alone is grown from all partitions."""
    blocks, P, W = split(*data, *[240] * 3), 4, 2
    settings = {**SETTINGS, "subsample": 1.0}
    family = TreeFamily(trim=0.0, **RANDOM)
    before = train(family, blocks, 0, n_workers=W, **settings).crew
    training = train(family, blocks, 1, n_workers=W, **settings)
    K, k, n_rows = len(training.problem.masses), 3, len(data[0])
    (own,) = divisions
    n, grown = len(own.nodes), own.sizes.sum()
    nodes = 3 * K + grown - n  # two children of every root, and the subtrees without their roots
    leaves, codes = (nodes + K) // 2, 16 * n_rows
    kept = [
        int(p.pricer._leaves[1].size) for h in training.crew.hosts for p in h.partitions.values()
    ]
    assert sum(kept) == K * n_rows
    of_worker = 32 * K + 6 * K * k + 2 * 24 * K * k + 16 * leaves
    of_partition = P * 80 + 32 * K * K + 8 * K + 24
    most = W * of_worker + P * of_partition + 9 * K * n_rows + codes + 12 * n + 11 * grown
    received = training.crew.received - before.received
    # Three quarters of the rows are of others' nodes, or of pure ones; arrays have headers.
    assert 0.8 * most <= received <= most + 1500 * W + 6000 * P
    found = len(training.model.ensemble().learners.feature)
    most = 8 * K + 6 * K * k + 11 * K + 48 * n + codes + 11.2 * nodes + 22 * found
    most += 18 * K * n_rows / W  # twice in the first round: each worker gets those of its nodes
    sent = training.crew.sent - before.sent
    assert 0.8 * W * most <= sent <= W * (most + 34 * K + 30000)
