"""Training on partitions equals training on all rows; no cluster is needed."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from derived_families import Landmarks
from partitions import assert_same_learners, local, split, train
from scipy import sparse
from sklearn.dummy import DummyClassifier
from wave_family import Waves

from cwboost import Division, MixedFamily, ProjectionFamily, SklearnFamily, StumpFamily, TreeFamily
from cwboost.calibration.calibration import LeftOut
from cwboost.dask.held_out import left_out_master
from cwboost.dask.training import PartitionedPricer
from cwboost.datasets import load_vowel
from cwboost.families.composed.mixed import check_members
from cwboost.families.outputs import pack_outputs
from cwboost.families.tree_partitions import PartitionTrees
from cwboost.input.checks import generator_of
from cwboost.input.splits import drawn_splits
from cwboost.master import Master, RestrictedMaster
from cwboost.recipe import recipe
from cwboost.recipe.holdout import HoldoutRun
from cwboost.support.clock import Clock
from cwboost.support.weights import effective_size


@pytest.fixture(scope="module")
def data():
    """Few distinct values per feature, so that bins do not round, and some are missing."""
    X, y = load_vowel(return_X_y=True)
    X, rng = np.round(X, 1).astype(np.float32), np.random.default_rng(0)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X[:500], y[:500]


def assert_equal_models(training, classifier, rtol):
    """The same learners, the same coefficients up to rounding, and the same history."""
    found, wanted = training.model.ensemble(), classifier.ensemble_
    assert_same_learners(found, wanted)
    np.testing.assert_allclose(
        found.coef().toarray(), wanted.coef().toarray(), rtol=rtol, atol=rtol
    )
    rtol = max(1e-13, 100 * rtol)
    for name in ("objective", "dual_bound", "train_error", "n_nonzero"):
        np.testing.assert_allclose(
            training.model.history[name], classifier.history_[name], rtol=rtol
        )


def test_one_partition_gives_the_bits_of_local_training(data):
    assert_equal_models(train(StumpFamily(), [data], 12), local("stump", *data, 12), rtol=0)


@pytest.mark.parametrize("C", [100.0, 1e4])
def test_many_partitions_give_the_local_model_up_to_rounding(data, C):
    X, y = data
    order = np.argsort(y < 5, kind="stable")  # the first partitions lack classes
    blocks = split(X[order], y[order], 1, 40, 0, 200)
    training = train(StumpFamily(), blocks, 12, C=C, n_workers=2)
    assert_equal_models(training, local("stump", X[order], y[order], 12, C=C), rtol=1e-11)


def test_sparse_blocks_and_bytes_give_the_same_model(data):
    X, y = np.nan_to_num(data[0]).clip(0, None).astype(np.uint8), data[1]
    dense = train(StumpFamily(), split(X, y, 200), 5)
    blocks = [(sparse.csr_matrix(part), labels) for part, labels in split(X, y, 200)]
    thin = train(StumpFamily(), blocks, 5, n_workers=2)
    assert_equal_models(dense, local("stump", X, y, 5), rtol=1e-11)
    assert_same_learners(dense.model.ensemble(), thin.model.ensemble())


def test_families_see_sparse_blocks_as_csr(data, monkeypatch):
    """Those that describe them, and those that bind to them."""
    seen, describe = [], StumpFamily.describe

    def noted(X):
        seen.extend([X.format] if sparse.issparse(X) else [])
        return X

    monkeypatch.setattr(StumpFamily, "describe", lambda family, X: describe(family, noted(X)))
    monkeypatch.setattr("cwboost.dask.host.read_only", noted)
    blocks = split(np.nan_to_num(data[0]), data[1], 200)
    train(StumpFamily(), [(sparse.csc_array(part), labels) for part, labels in blocks], 1)
    assert seen == 4 * ["csr"]


def test_weights_of_examples_and_classes(data):
    X, y = data
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    blocks = [(*b, w) for b, w in zip(split(X, y, 150), np.split(weight, [150]))]
    training = train(StumpFamily(), blocks, 6, class_weight="balanced")
    alone = local("stump", X, y, 6, weight, class_weight="balanced")
    assert_equal_models(training, alone, rtol=1e-11)


@pytest.mark.parametrize("n", [499, 500])
def test_trees_follow_the_median_weight_as_on_one_machine(data, n):
    X, y = data[0][:n], data[1][:n]
    weight = np.exp(np.random.default_rng(n).normal(size=n))
    weight[::7], weight[::50] = 0.0, 1e-9  # absent, and as good as absent
    blocks = [(*block, own) for block, own in zip(split(X, y, 150), np.split(weight, [150]))]
    training = train(TreeFamily(), blocks, 4, n_workers=2, seed=generator_of(0))
    assert training.setup.size == pytest.approx(effective_size(weight[weight > 0]), rel=1e-12)
    assert_equal_models(training, local(TreeFamily(), X, y, 4, weight, random_state=0), 1e-11)


def test_a_weight_is_a_number_of_copies(data):
    """The sizes of trees follow weights, and copies alike."""
    (X, y), rng = data, np.random.default_rng(2)
    weight = rng.integers(1, 6, len(y))
    wanted = local(TreeFamily(), X, y, 4, weight, random_state=0).ensemble_.scores(X)
    weighted = [(*b, w) for b, w in zip(split(X, y, 150), np.split(weight * 1.0, [150]))]
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight))
    for blocks in (weighted, split(X[rows], y[rows], 150)):
        training = train(TreeFamily(), blocks, 4, n_workers=2, seed=generator_of(0))
        np.testing.assert_allclose(training.model.ensemble().scores(X), wanted, atol=1e-9)


def test_examples_of_a_class_without_weight_shape_no_bin():
    X = np.random.default_rng(0).normal(size=(900, 3))
    y = np.arange(900) % 3
    X[y == 2] *= 100
    without = train(TreeFamily(max_bins=16), split(X[y < 2], y[y < 2], 300), 3)
    blocks, weights = split(X, y, 450), {0: 1.0, 1: 1.0, 2: 0.0}
    training = train(TreeFamily(max_bins=16), blocks, 3, class_weight=weights)
    assert_same_learners(training.model.ensemble(), without.model.ensemble())


@pytest.mark.parametrize("family", [StumpFamily(), TreeFamily(max_features="sqrt")])
def test_a_lost_partition_is_rebuilt_with_the_same_bits(data, family):
    training = train(family, split(*data, 250), 6, n_workers=2)
    crew = training.crew
    again = train(family, split(*data, 250), 0, n_workers=2).crew
    assert not any(name == "price" for name, _ in crew.history())  # they belong to past rounds
    for host, fresh in zip(crew.hosts, again.hosts):
        fresh.run(crew.history())
        for index, partition in host.partitions.items():
            weights = fresh.partitions[index].pairs.weights
            np.testing.assert_array_equal(weights, partition.pairs.weights)


def one_run(training, y, chooses):
    rng = training.rng.spawn(1)[0]
    settings = replace(training.settings, learning_rate=0.2, C=1e4)
    left_out = drawn_splits(np.bincount(y), None, rng)[0][0].left_out
    family = training.pricer.family
    with left_out_master(training.crew, training.setup, settings, left_out) as (master, *examples):
        inner = type(training)(PartitionedPricer(master, family, rng), master, settings, rng)
        run = HoldoutRun([inner], master.left_out_scores, LeftOut.weighed(*examples))
        return recipe.follow(run, 30, 0.2, 18 if chooses else None, Clock(0.0))


class WavesDrawnOnce(Waves):
    redraw = False


@pytest.mark.parametrize(
    "family", [StumpFamily(), TreeFamily(max_features="sqrt"), WavesDrawnOnce(), Landmarks()]
)
def test_a_holdout_run_changes_no_later_training(data, family):
    X, y = np.nan_to_num(data[0]), data[1]
    blocks, settings = split(X, y, 180), {"learning_rate": 0.1, "subsample": 0.5, "n_workers": 2}
    untouched = train(family, blocks, 8, **settings)
    training = train(family, blocks, 0, **settings)
    one_run(training, y, chooses=True)
    while training.n_rounds < 8 and training.round():
        pass
    np.testing.assert_array_equal(
        training.model.history["objective"], untouched.model.history["objective"]
    )


def test_a_holdout_run_leaves_a_fifth_out(data):
    blocks, settings = split(*data, 180), {"learning_rate": 0.1, "subsample": 0.5, "n_workers": 2}
    training = train(StumpFamily(), blocks, 0, **settings)
    scales = [local("stump", *data, 60, random_state=k).probability_scale_ for k in range(4)]
    found = one_run(training, data[1], chooses=False)
    assert found.kept_length == pytest.approx(6.0)
    assert found.scale[found.kept] == pytest.approx(np.mean(scales), rel=0.35)
    training = train(StumpFamily(), blocks, 0, **settings)
    few = one_run(training, data[1], chooses=True)
    assert 0.2 <= few.kept_length <= 6.0


def test_total_correction_reaches_the_local_optimum():
    X, y = load_vowel(return_X_y=True)
    X, y = np.round(X[:300], 1), y[:300]
    settings = {"C": 20.0, "correction": "total"}
    best = local("stump", X, y, 400, **settings)
    training = train(StumpFamily(), split(X, y, 100), 400, C=20.0, max_working_sets=2, n_workers=2)
    assert best.stop_reason_ == training.stop_reason == "optimal"
    assert training.model.history["objective"][-1] <= best.history_["objective"][-1] * (1 + 1e-6)
    assert training.model.history["gap"][-1] <= 1e-5 * training.model.history["objective"][-1]


def test_the_bytes_of_a_round_follow_the_formula(data):
    """docs/scaling.md: what travels in a round of stumps, with 64 partitions on 8 workers."""
    X, y = np.vstack([data[0]] * 3), np.tile(data[1], 3)
    blocks, n_workers, n_rounds = split(X, y, *[23] * 63), 8, 2
    before = train(StumpFamily(), blocks, 0, C=1e4, n_workers=n_workers).crew
    training = train(StumpFamily(), blocks, n_rounds, C=1e4, n_workers=n_workers)
    K, bins = len(training.setup.masses), training.setup.coordinator.bins
    codes = np.minimum(bins.n_bins + 1, 256).sum()
    assert training.n_rounds == n_rounds
    sums = n_workers * K * (16 * codes + 24)
    tables = len(blocks) * (32 * K * K + 8 * K + 24)
    received = (training.crew.received - before.received) / n_rounds
    # Beyond the numbers, pickles have headers: at most 700 bytes per worker and 50 per column.
    headers = n_workers * 700 + len(blocks) * (300 + 50 * K)
    assert sums + tables <= received <= sums + tables + headers
    sent = (training.crew.sent - before.sent) / n_rounds
    assert sent <= n_workers * (66 * K + 2500)


def test_projections_give_the_learners_of_local_training(data):
    """At most 256 examples: bins do not round. Bits of learners, coefficients up to rounding."""
    X, y, family = np.nan_to_num(data[0])[:250], data[1][:250], ProjectionFamily(10)
    alone = local(family, X, y, 6, random_state=0)
    blocks = split(X, y, 60, 0, 100)
    blocks[3] = sparse.csr_matrix(blocks[3][0]), blocks[3][1]
    training = train(family, blocks, 6, n_workers=2, seed=generator_of(0))
    found, wanted = training.model.ensemble(), alone.ensemble_
    assert_same_learners(found, wanted)
    np.testing.assert_allclose(found.coef().toarray(), wanted.coef().toarray(), rtol=1e-12)


def test_a_family_may_occur_again_with_other_parameters(data):
    trees = [TreeFamily(depth, max_features=None) for depth in (3, 4)]
    family = MixedFamily([trees[0], "stump", trees[1]])
    training = train(family, split(*data, 150), 8, n_workers=2)
    assert_equal_models(training, local(family, *data, 8), 1e-11)


def test_families_that_partitions_refuse():
    with pytest.raises(TypeError, match="cannot be trained on partitions"):
        check_members([SklearnFamily(DummyClassifier())])


def test_cells_that_a_family_counts_wrongly_are_refused_where_they_are(data, monkeypatch):
    cells = PartitionTrees.cells
    monkeypatch.setattr(PartitionTrees, "cells", lambda *given: cells(*given) + np.int32(10**6))
    with pytest.raises(ValueError, match=r"partition 0 .*: cells must be below n_cells"):
        train(TreeFamily(), split(*data, 300), 1)


OF_LEAVES = {"step_cells", "shift_to_shares"}


def test_every_member_of_a_master_works_on_one_machine_and_on_partitions(data):
    X, y = data
    X, y = X[np.argsort(y, kind="stable")], np.sort(y)
    there = train(StumpFamily(), split(X, y, 300), 3, max_working_sets=3).master
    here = RestrictedMaster(np.bincount(y), 100.0)
    outputs = pack_outputs(np.where(X[:, :2] > 0, 1, -1).astype(np.int8))
    here.add_paying(SimpleNamespace(outputs=outputs), np.ones(2), 0.0, np.arange(2))
    calls = {"dual_bound": (1.0,), "update_layer": (np.full(11, -1),), "change_C": (50.0,)}
    division = Division(None, np.zeros(len(y), np.int32), 1)
    nothing = SimpleNamespace(outputs=outputs[:0], keys=np.zeros((0, 8), np.uint8))
    for master in (here, there):
        calls["add_paying"] = nothing, np.zeros(0), 0.0, np.zeros(0, np.int64)
        for name in sorted(n for n in vars(Master) if n[0] != "_" and n not in OF_LEAVES):
            member = getattr(master, name)
            if name == "set_coef":
                member([coef * 0.5 for coef in master.coef])
                assert np.isfinite(master.objective) and np.isfinite(master.train_error)
            elif callable(member) and (master is here or name != "update_layer"):
                # Partitions update the layer that they took last, as training did.
                member(*calls.get(name, ()))
        assert master.dual_bound(max(1.0, *map(np.max, filter(len, master.edges())))) <= (
            master.objective
        )
        assert [len(v) for v in master.violations()] == [len(c) for c in master.coef]
    here.shift_to_shares(here.n_classes)
    objective = here.objective
    here.step_cells(division, here.n_classes, 0.5, 0.0)
    assert here.objective < objective


# ------------------------------------------------------------------ what is refused


def frame(**columns):
    return pd.DataFrame({"number": np.arange(4.0), "kind": pd.Categorical(list("abab")), **columns})


FOUR = [0, 1, 0, 1]
# The second of two partitions, what columns hold categories, what is said.
REFUSED = [
    ((frame()[["kind"]], FOUR), ["kind"], "partition 1: X has 1 features, partition 0 has 2"),
    ((frame(), FOUR[1:]), ["kind"], "partition 1 of .*: y must have the 4 rows of X .*, got 3"),
    ((frame(), list("abab")), ["kind"], "partition 1: y has labels of dtype"),
    ((frame(), FOUR, -np.ones(4)), ["kind"],
     "partition 1 of .*: sample_weight must hold finite numbers >= 0, got -1.0 in row 0"),
    ((frame(kind=[1.0, 2, 3, 4]), FOUR), "from_dtype",
     "partition 1: X: column 'kind' holds no cat"),
    ((frame(kind=pd.Categorical([1, 2, 1, 2])), FOUR), "from_dtype",
     "partition 1: X: column 'kind' holds categories of the kind numbers, those of "
     "partition 0 are of the kind text"),
    ((frame(number=list("wxyz")), FOUR), "from_dtype",
     "partition 0: X: column 'number' holds no cat"),
    ((frame(), FOUR), [False], "partition 0 .*must be a mask of 2 bools.*got 1"),
    ((frame(), FOUR), ["kind", "sort"], "partition 0 of the training data:.* got 'sort'; X has"),
    ((frame().rename(columns={"kind": 1}), FOUR), None,
     "partition 1 of .*all .* features have string"),
    ((frame(), FOUR), ["number"], "partition 0 of .*: X must hold .* got text in column 'kind'"),
]  # fmt: skip


@pytest.mark.parametrize("second, categorical, message", REFUSED)
def test_errors_name_column_and_partition(second, categorical, message):
    with pytest.raises((TypeError, ValueError), match=message):
        train(StumpFamily(), [(frame(), FOUR), second], 1, categorical=categorical)


@pytest.mark.parametrize("factor", [0.0, 1e308])
def test_the_total_weight_is_that_of_the_product(data, factor):
    weights = dict.fromkeys(np.unique(data[1]).tolist(), factor)
    for fit in (
        lambda: train(StumpFamily(), split(*data, 250), 1, class_weight=weights),
        lambda: local("stump", *data, 1, class_weight=weights),
    ):
        with pytest.raises(ValueError, match="sample_weight times class_weight must have a finite"):
            fit()
