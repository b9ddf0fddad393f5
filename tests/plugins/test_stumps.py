"""The stump family: outputs, sampling of features, hostile arrays."""

import numpy as np
import pytest
from cwboost.plugins.stumps import StumpFamily, StumpLearners
from models import bind
from scipy import sparse


def random_learners(rng, n_stumps=40, n_features=6):
    return StumpLearners(
        feature=rng.integers(-1, n_features, n_stumps),
        threshold=rng.choice([-np.inf, -1.0, 0.0, 0.5, 3.0, np.inf], n_stumps),
        polarity=rng.choice([-1, 1], n_stumps),
        missing=rng.choice([-1, 1], n_stumps),
        n_features=n_features,
    )


def test_outputs_in_chunks_of_rows(rng, monkeypatch):
    learners, X = random_learners(rng), rng.normal(size=(50, 6))
    whole = learners.outputs(X)
    monkeypatch.setattr("cwboost.plugins.stumps.learners.CHUNK", 7 * len(learners))
    np.testing.assert_array_equal(learners.outputs(X), whole)


def test_missing_value_unseen_in_training_gets_the_better_constant(rng):
    X, weights = rng.normal(size=(40, 2)), rng.normal(size=(6, 40))
    learners = bind(StumpFamily(), X, 6).price(weights).learners
    split = learners.feature >= 0
    assert split.any()
    outputs = learners.outputs(np.full((1, 2), np.nan))[0]
    np.testing.assert_array_equal(outputs[split], np.sign(weights.sum(axis=1))[split])


@pytest.mark.parametrize(("max_features", "n_drawn"), [(2, 2), (50, 9)])
def test_number_of_features_drawn(rng, max_features, n_drawn):
    X, weights = rng.normal(size=(60, 9)), rng.normal(size=(30, 60))
    pricer = bind(StumpFamily(max_features), X, 30)
    assert not pricer.exact
    seen = set()
    for _ in range(25):
        feature = pricer.price(weights).learners.feature
        used = set(feature[feature >= 0].tolist())
        assert 1 <= len(used) <= n_drawn
        seen |= used
    assert len(seen) == 9, "all features are drawn in the long run"


def test_wrong_number_of_features(rng):
    learners = random_learners(rng)
    for X in (np.zeros((3, 5)), sparse.csr_array((3, 7))):
        with pytest.raises(ValueError, match="X must have 6 features"):
            learners.outputs(X)
    with pytest.raises(ValueError, match="batches"):
        StumpLearners.concatenate([learners, random_learners(rng, 2, 5)])


def test_constrained_stumps_have_the_thresholds_of_free_ones(rng):
    X = rng.normal(size=(60, 1))
    weights = np.where(X[:, 0] > 0.3, 1.0, -1.0)[None]
    free, constrained = (
        bind(StumpFamily(), X, 1, monotonic=rule).price(weights).learners
        for rule in (None, np.ones((1, 1), dtype=np.int8))
    )
    np.testing.assert_array_equal(constrained.threshold, free.threshold)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("feature", np.array([0, 6], np.int32), "feature must be -1 to 5, got 6 in entry 1"),
        ("feature", np.array([-2, 0], np.int32), "feature must .* got -2 in entry 0"),
        ("threshold", np.array([0.0, np.nan]), "threshold must be numbers, got NaN in entry 1"),
        ("polarity", np.array([1, 0], np.int8), "polarity must be -1 or 1, got 0 in entry 1"),
        ("missing", np.array([-128, 1], np.int8), "missing must be -1 or 1, got -128"),
    ],
)
def test_hostile_arrays(rng, name, value, message):
    with pytest.raises(ValueError, match=message):
        StumpLearners.from_arrays(random_learners(rng, 2).arrays() | {name: value}, 6)
