"""Samples of the examples for pricing: probabilities, unbiased weights, exact zeros elsewhere."""

import numpy as np
import pytest
from cwboost._kernels.fcd.row_sampling import draw_rows, draw_uniformly, take_rows

from cwboost import CWBoostClassifier
from cwboost.datasets import load_vowel
from cwboost.master import RestrictedMaster
from cwboost.solvers.row_sampling import RowSampler


@pytest.mark.parametrize("expected", [0.5, 7.0, 49.5, 100.0])
def test_probabilities_are_proportional_to_sizes_and_at_most_one(expected):
    size = np.random.default_rng(0).exponential(size=100) ** 3
    rows, factors = draw_rows(size, expected, np.zeros(100))
    np.testing.assert_array_equal(rows, np.arange(100))
    assert np.sum(1 / factors) == pytest.approx(expected, rel=1e-12)
    drawn_at_will = factors > 1
    ratios = (size * factors)[drawn_at_will]
    np.testing.assert_allclose(ratios, ratios.max(initial=0), rtol=1e-12)
    assert size[~drawn_at_will].min(initial=np.inf) >= ratios.max(initial=0) * (1 - 1e-12)


def test_examples_without_weight_are_never_drawn():
    size = np.array([0.0, 3.0, 0.0, 1.0, 0.0])
    assert draw_rows(size, 4.0, np.zeros(5))[0].tolist() == [1, 3]
    rows, factors = draw_rows(size, 1e-6, np.full(5, 0.9))  # none is drawn: the largest
    assert (rows.tolist(), factors.tolist()) == ([1], [1.0])
    assert draw_rows(np.zeros(3), 2.0, np.zeros(3))[0].tolist() == [0]


def test_rows_are_drawn_by_their_places():
    """Whatever the partition, each with the same probability, and one for sure."""
    places, n_drawn = np.arange(100), 0
    for seed in range(2000):
        drawn = draw_uniformly(places, 100, 0.3, seed)
        parts = [own[draw_uniformly(own, 100, 0.3, seed)] for own in np.split(places, [37])]
        assert np.array_equal(np.sort(np.concatenate(parts)), drawn)
        n_drawn += len(drawn)
    assert abs(n_drawn / 2000 - 30.7) < 5 * np.sqrt(21 / 2000)
    assert draw_uniformly(places, 100, 0.0, 142).tolist() == [42]


@pytest.mark.parametrize("sampling", ["uniform", "mvs"])
def test_sampled_weights_are_unbiased(sampling):
    rng = np.random.default_rng(1)
    master = RestrictedMaster([20, 30, 10], 100.0, rng.exponential(size=60) ** 2)
    sampler, n_draws = RowSampler(0.3, sampling), 3000
    sums = np.zeros_like(master.weights)
    for _ in range(n_draws):
        weights, rows = sampler.draw(master, rng)
        assert not np.delete(weights, rows, axis=1).any()
        sums += weights
    size = master.own_sums
    np.testing.assert_allclose(size, np.abs(master.weights).max(axis=0), rtol=1e-12)
    # An example's weights, over their expectation, have a standard deviation below 1 / sqrt(p).
    least = 0.3 if sampling == "uniform" else (size * 18 / size.sum()).min()
    allowed = 5 / np.sqrt(least * n_draws) * np.abs(master.weights)
    assert (np.abs(sums / n_draws - master.weights) <= allowed).all()


def test_every_example_is_priced_with_a_share_of_one():
    master = RestrictedMaster([2, 3], 1.0)
    weights, rows = RowSampler(1.0, "mvs").draw(master, None)
    assert rows is None
    assert np.shares_memory(weights, master.weights)


def test_training_claims_no_bound_and_does_not_depend_on_threads():
    data = load_vowel()

    def fit(**settings):
        clf = CWBoostClassifier("stump", n_estimators=8, subsample=0.1, random_state=0, **settings)
        return clf.fit(data.data, data.target)

    one, two = fit(sampling="mvs"), fit(sampling="mvs", n_jobs=2)
    np.testing.assert_array_equal(one.history_["objective"], two.history_["objective"])
    assert np.isnan(one.history_["dual_bound"]).all()
    assert one.history_["objective"][-1] != fit().history_["objective"][-1]


def test_samples_of_few_and_many_rows_by_turns():
    rng = np.random.default_rng(4)
    weights, out, before = rng.normal(size=(3, 70)), np.zeros((3, 65)), np.empty(0, np.int64)
    for n in (5, 40, 60, 3, 9):
        rows = np.sort(rng.permutation(65)[:n])
        factors = rng.uniform(1.0, 3.0, size=n)
        take_rows(weights[:, :65], rows, factors, before, out)
        expected = np.zeros((3, 65))
        expected[:, rows] = weights[:, rows] * factors
        np.testing.assert_array_equal(out, expected)
        assert not np.signbit(out[expected == 0]).any()
        before = rows
