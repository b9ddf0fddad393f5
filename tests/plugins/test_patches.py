"""Patches of images, a distribution of its own: what they gain, and where they train."""

import sys
from pathlib import Path

import numpy as np
import pytest
from partitions import split, train
from sklearn.datasets import load_digits

import cwboost
from cwboost import CWBoostClassifier, load_model
from cwboost.families.registry import WEAK_LEARNERS

SOURCE = Path(__file__).resolve().parents[2] / "plugins/patches/src"


@pytest.fixture(scope="module")
def PatchFamily():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SOURCE))
        patch.setattr(WEAK_LEARNERS, "_registered", dict(WEAK_LEARNERS._registered))
        from cwboost_patches import PatchFamily

        yield cwboost.register_family(PatchFamily)
    del sys.modules["cwboost_patches"]


@pytest.fixture(scope="module")
def data():
    X, y = load_digits(return_X_y=True)
    return X[:900], y[:900], X[900:], y[900:]


def test_patches_make_fewer_errors_than_stumps_and_are_saved(PatchFamily, data, tmp_path):
    X, y, X_test, y_test = data
    settings = {"init": None, "n_estimators": 60, "random_state": 0}
    stumps = CWBoostClassifier("stump", **settings).fit(X, y)
    patches = CWBoostClassifier(PatchFamily(), **settings).fit(X, y)
    assert 1 - patches.score(X_test, y_test) < 0.9 * (1 - stumps.score(X_test, y_test))
    patches.save(tmp_path / "model.cwb")
    loaded = load_model(tmp_path / "model.cwb")
    np.testing.assert_array_equal(loaded.predict(X_test), patches.predict(X_test))


def test_patches_train_on_partitions(PatchFamily, data):
    X, y, *_ = data
    found = [train(PatchFamily(n_filters=20), split(X, y, *sizes), 8) for sizes in ((), (300, 200))]
    objectives = [training.model.history["objective"] for training in found]
    np.testing.assert_allclose(*objectives, rtol=0.03)  # the bins are quantiles of partitions
    assert objectives[1][-1] < 0.7 * objectives[1][0]


def test_images_of_another_shape_are_refused(PatchFamily, data):
    with pytest.raises(ValueError, match="image_shape must be the rows and columns of 64"):
        CWBoostClassifier(PatchFamily(image_shape=(4, 4)), init=None).fit(*data[:2])
