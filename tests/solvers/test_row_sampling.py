"""Samples of the examples for pricing: unbiased weights, exact zeros elsewhere."""

import numpy as np
from cwboost._kernels.fcd.row_sampling import draw_rows

from cwboost.master import RestrictedMaster
from cwboost.solvers import row_sampling
from cwboost.solvers.row_sampling import RowSampler


def test_rows_are_drawn_by_their_places():
    """Whatever the partition, each with the same probability, and one for sure."""
    places, n_drawn = np.arange(100), 0
    for seed in range(2000):
        drawn = draw_rows(places, 100, 0.3, seed)
        parts = [own[draw_rows(own, 100, 0.3, seed)] for own in np.split(places, [37])]
        assert np.array_equal(np.sort(np.concatenate(parts)), drawn)
        n_drawn += len(drawn)
    assert abs(n_drawn / 2000 - 30.7) < 5 * np.sqrt(21 / 2000)
    assert draw_rows(places, 100, 0.0, 142).tolist() == [42]


def test_sampled_weights_are_unbiased():
    rng = np.random.default_rng(1)
    master = RestrictedMaster([20, 30, 10], 100.0, rng.exponential(size=60) ** 2)
    sampler, n_draws = RowSampler(0.3, 3), 3000
    sums = np.zeros_like(master.weights)
    for _ in range(n_draws):
        weights, rows = sampler.draw(master, rng)
        assert not np.delete(weights, rows, axis=1).any()
        sums += weights
    # An example's weights, over their expectation, have a standard deviation below 1 / sqrt(p).
    allowed = 5 / np.sqrt(0.3 * n_draws) * np.abs(master.weights)
    assert (np.abs(sums / n_draws - master.weights) <= allowed).all()


def test_draws_share_places_and_room(monkeypatch):
    master = RestrictedMaster([20, 30, 10], 100.0)
    sampler, rng, given = RowSampler(0.3, 3), np.random.default_rng(1), []

    def drawn(places, *args):
        given.append(places)
        return draw_rows(places, *args)

    monkeypatch.setattr(row_sampling, "draw_rows", drawn)
    first, second = (sampler.draw(master, rng)[0] for _ in range(2))
    assert first is second
    assert given[0] is given[1] and given[0].tolist() == list(range(60))


def test_weights_of_the_priced_classes():
    """Those of all examples are the master's own; of a sample only what pricing reads is kept."""
    master = RestrictedMaster([2, 3], 1.0)
    weights, rows = RowSampler(1.0, 2).draw(master, None)
    assert rows is None
    assert np.shares_memory(weights, master.weights)
    weights, rows = RowSampler(0.5, 1).draw(master, np.random.default_rng(0))
    np.testing.assert_array_equal(weights[:, rows], 2.0 * master.weights[1:, rows])
