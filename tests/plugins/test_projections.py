"""The projection family: reproducible bits, directions, hostile arrays."""

import numpy as np
import pytest
from cwboost.plugins.projections import ProjectionFamily
from models import bind
from scipy import sparse

from cwboost import unpack_outputs
from cwboost.kernels import Projector, SortedFeatures, seeded_directions


@pytest.mark.parametrize("n_columns", [1, 3, 8, 31, 32, 45, 70])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_projections_are_sums_in_the_order_of_features(rng, n_columns, dtype):
    X = rng.integers(0, 200, (71, 23)).astype(dtype)
    X[rng.random(X.shape) < 0.3] = 0
    X[::3, 4:] = 0  # rows with few non-zeros are processed by their non-zeros
    W, centre = rng.normal(size=(23, n_columns)), rng.normal(size=23)
    expected, offset = np.zeros((71, n_columns)), np.zeros(n_columns)
    for k in range(23):
        expected += X[:, k, None].astype(np.float64) * W[k]
        offset += centre[k] * W[k]
    expected = (expected - offset).astype(np.float32).T
    project = Projector(W, centre)
    np.testing.assert_array_equal(project(X), expected)
    np.testing.assert_array_equal(project(np.asfortranarray(X), 2), expected)
    np.testing.assert_array_equal(project(X[5:6]), expected[:, 5:6])
    for kind in (sparse.csr_array, sparse.csc_matrix):
        np.testing.assert_array_equal(project(kind(X), 2), expected)
    np.testing.assert_array_equal(Projector(W[:, -1:], centre)(X)[0], expected[-1])


def test_unused_features_change_no_bit_even_if_they_are_infinite(rng):
    W = rng.normal(size=(30, 21))
    W[:20, :8] = W[5:, 8:16] = W[3, 16:] = 0  # panels of eight columns differ in their features
    X = rng.normal(size=(70, 30))
    X[3, 2], X[4, 25], X[69, 7] = np.nan, np.inf, -np.inf
    found = Projector(W)(X)
    np.testing.assert_array_equal(found, Projector(W)(sparse.csr_array(X)))
    assert np.isnan(found[:, 3]).all() and np.isnan(found[:8, 69]).all()
    assert np.isfinite(np.delete(found, [3, 4, 69], axis=1)).all()


def test_scores_without_keeping_the_directions(rng, monkeypatch):
    X, weights = rng.normal(size=(60, 12)), rng.normal(size=(30, 60))
    learners = bind(ProjectionFamily(10), X, 30).price(weights).learners
    coef = rng.normal(size=(30, 2))
    outputs, scores = learners.outputs(X), learners.scorer(coef)(X)
    module = "cwboost.families.composed.derived_learners."
    for name, value in {"BATCHES_KEPT": 0, "ENTRIES": 12 * 8, "CHUNK": 11 * 8}.items():
        monkeypatch.setattr(module + name, value)
    np.testing.assert_array_equal(learners.outputs(X), outputs)
    np.testing.assert_allclose(learners.scorer(coef)(X), scores, atol=1e-12)


def test_seeds_always_give_the_same_directions():
    """Golden numbers: a change of the generator would change every stored model."""
    W = seeded_directions(np.array([0, 2**64 - 1], np.uint64), np.full(4, 2.0))
    words = []
    for k in range(8):  # splitmix64 with seed 0, from its definition
        z = (k + 1) * 0x9E3779B97F4A7C15 % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        words.append(z ^ z >> 31)
    assert words[0] == 0xE220A8397B1DCDAF, "the published first number"
    flips = [word.bit_count() - 32 for word in words[::2]]
    fills = [(word >> 11) / 2**53 - 0.5 for word in words[1::2]]
    assert W[:, 0].tolist() == [(a + b) / 2 for a, b in zip(flips, fills)]


def test_units_of_features_matter_little(rng):
    X = rng.normal(size=(500, 5))
    weights = np.where(X @ [1, -1, 0.5, 0, 2] > 0, 1.0, -1.0)[None]
    plain = bind(ProjectionFamily(200), X, 1).price(weights).edges[0]
    units = np.array([1e-12, 1.0, 3e5, 1e90, 1e-90])
    other = bind(ProjectionFamily(200), X * units + units, 1).price(weights).edges[0]
    single = SortedFeatures(X).search(weights).edges[0]
    assert min(plain, other) > single and abs(plain - other) < 10


def test_constant_and_infinite_features(rng):
    X = rng.normal(size=(80, 6))
    X[:, 1] = 1e15 / 3
    X[:, 2] = 0
    X[3, 4], X[4, 4], X[3, 5] = np.inf, -np.inf, np.inf
    weights = rng.normal(size=(4, 80))
    priced = bind(ProjectionFamily(30), X, 4).price(weights)
    assert (priced.learners.scale[0] > 0).tolist() == [True, False, False, True, True, True]
    outputs = priced.learners.outputs(X)
    np.testing.assert_array_equal(outputs, unpack_outputs(priced.outputs, 80))
    np.testing.assert_allclose((weights @ outputs).diagonal(), priced.edges, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scale", -1.0, "'scale' must hold numbers in"),
        ("scale", 1e200, "'scale' must hold numbers in"),
        ("scale", np.nan, "'scale' must hold numbers in"),
        ("centre", 1e300, "'centre' must not be far"),
        ("centre", np.nan, "'centre' must not be far"),
    ],
)
def test_hostile_arrays(rng, name, value, message):
    X, weights = rng.normal(size=(30, 4)), rng.normal(size=(2, 30))
    arrays = bind(ProjectionFamily(), X, 2).price(weights).learners.arrays()
    arrays[name] = arrays[name].copy()
    arrays[name][0, 0] = value
    with pytest.raises(ValueError, match=message):
        ProjectionFamily.learners_type.from_arrays(arrays, 4)
