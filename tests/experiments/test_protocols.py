"""The paper's protocols: splits, features, the choice of C."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import Memory
from sklearn.utils import Bunch
from tqdm import tqdm

from cwboost.datasets import load
from cwboost.experiments.methods import METHODS
from cwboost.experiments.protocols import PROTOCOLS, Batch, PerClass, Protocol, Share, prepare
from cwboost.experiments.runner import RoundClock, choose_C


def numbered(n_train=60, n_test=30, k=3):
    """Return a data set whose only feature is the index of the example, to trace splits."""
    y = np.arange(n_train + n_test) % k
    X = np.arange(n_train + n_test, dtype=float)[:, None]
    return Bunch(X_train=X[:n_train], y_train=y[:n_train], X_test=X[n_train:], y_test=y[n_train:])


def test_share_pools_and_splits_without_loss_or_overlap():
    bunch = numbered()
    split = Share(0.75)(bunch, 0, np.random.default_rng(0))
    train, test = split.X_train[:, 0], split.X_test[:, 0]
    assert len(train) == 68 and len(test) == 22
    assert np.array_equal(np.sort(np.r_[train, test]), np.arange(90))
    assert np.array_equal(split.y_train, train % 3)


def test_per_class_counts_and_where_they_are_drawn_from():
    bunch = numbered()
    rng = np.random.default_rng(0)
    original = PerClass(5, original_test=True)(bunch, 0, rng)
    assert np.array_equal(np.bincount(original.y_train), [5, 5, 5])
    assert original.X_train.max() < 60
    assert np.array_equal(original.X_test, bunch.X_test)
    pooled = PerClass(5, original_test=False)(bunch, 0, rng)
    assert np.array_equal(np.bincount(pooled.y_train), [5, 5, 5])
    everything = np.r_[pooled.X_train, pooled.X_test][:, 0]
    assert np.array_equal(np.sort(everything), np.arange(90))
    with pytest.raises(ValueError, match="class 0 must have 25 examples, got 20"):
        PerClass(25, original_test=True)(bunch, 0, rng)


def test_batches_follow_the_source():
    split = Batch(rows=20)(numbered(), 2, None)
    assert np.array_equal(split.X_train[:, 0], np.arange(40, 60))
    assert len(split.X_test) == 30
    assert Batch(rows=20)(numbered(), 3, None) is None


@pytest.mark.parametrize(
    ("name", "features", "shape", "size"),
    [("SCENE15", "codebook", (32, 32), 5400), ("CIFAR10-GIST", "gist", (3, 32, 32), 512)],
)
def test_images_become_features(name, features, shape, size):
    rng = np.random.default_rng(0)
    assert PROTOCOLS[name].features == features
    X = rng.integers(0, 256, size=(12, np.prod(shape))).astype(np.uint8)
    bunch = Bunch(X=X, y=np.arange(12) % 3, image_shape=shape)
    small = Protocol("small", name, "scenes", Share(0.75), features=features)
    split = prepare(small, bunch, 0, memory=Memory(None))
    assert split.X_train.shape == (9, size) and split.X_test.shape == (3, size)


def test_chosen_C_has_the_lowest_validation_error():
    bunch = load("VOWEL")
    split = prepare(PROTOCOLS["VOWEL"], bunch, 0, memory=Memory(None))
    chosen = choose_C(METHODS["CW"], split, 10, {"random_state": 0}, tqdm(disable=True))
    errors = chosen["validation_error"]
    assert list(errors) == ["100", "1000", "10000", "100000"]
    assert errors[f"{chosen['C']:g}"] == min(errors.values())
    assert max(errors.values()) > min(errors.values())
    # A column of CW belongs to one class.
    assert chosen["selection_nonzero"] == chosen["selection_learners"]
    assert min(chosen["selection_seconds"].values()) > 0


def test_clock_stops_at_its_limit(monkeypatch):
    seconds = itertools.count()  # a processor clock that advances by one per call
    monkeypatch.setattr("cwboost.experiments.runner.process_time", lambda: float(next(seconds)))
    bar = tqdm(disable=True)
    clock = RoundClock(bar, limit=2.5)
    state = SimpleNamespace(seconds=7.0)
    assert [clock.on_round_end(state) for _ in range(3)] == [False, False, True]
    assert clock.stopped and clock.cpu_seconds == [1.0, 2.0, 3.0] and clock.seconds == [7.0] * 3
    endless = RoundClock(bar)
    assert endless.on_round_end(state) is False and not endless.stopped
