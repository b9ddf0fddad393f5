"""Image features: sizes, invariances, responses to patterns."""

import numpy as np
import pytest

from cwboost.experiments.features import codebook, gist
from cwboost.experiments.features import image_features as features
from cwboost.experiments.features.codebook import dense_descriptors
from cwboost.experiments.features.gist import gist_features
from cwboost.experiments.features.hog import hog_features


def grating(side, cycles, angle, phase=0.0):
    """Return a sine grating with `cycles` per side in direction `angle`."""
    y, x = np.mgrid[:side, :side] / side
    wave = np.cos(2 * np.pi * cycles * (x * np.cos(angle) + y * np.sin(angle)) + phase)
    return np.round(127 + 100 * wave).astype(np.uint8)


# ---------------------------------------------------------------- GIST


@pytest.mark.parametrize("orientation", range(8))
def test_gist_responds_to_the_direction_of_a_grating(orientation):
    image = grating(64, 64 * 0.3, np.pi * orientation / 8)
    descriptor = gist_features(image[None])[0].reshape(4, 8, 16)
    assert descriptor.shape == (4, 8, 16)
    assert descriptor[0].sum(axis=1).argmax() == orientation


def test_gist_does_not_depend_on_phase_or_on_the_chunk(monkeypatch):
    images = np.array([grating(32, 6, 0.4, phase) for phase in (0.0, 1.5, 3.0)])
    whole = gist_features(images)
    assert whole.shape == (3, 512) and whole.dtype == np.float32
    assert np.allclose(whole[0], whole[2], rtol=0.15, atol=0.05 * whole.max())
    monkeypatch.setattr(gist, "CHUNK", 2)
    assert np.array_equal(whole, gist_features(images))


# ---------------------------------------------------------------- HOG


def test_hog_is_that_of_scikit_image():
    image_hog = pytest.importorskip("skimage.feature").hog
    images = np.random.default_rng(0).random((2, 20, 20))
    found = hog_features(images, 9, 5, 180.0)
    options = {"orientations": 9, "pixels_per_cell": (5, 5), "cells_per_block": (2, 2)}
    assert np.allclose(found, [image_hog(image, **options) for image in images], atol=1e-12)


# ---------------------------------------------------------------- code words


def test_descriptors_see_the_direction_of_an_edge():
    images = np.zeros((2, 32, 32), dtype=np.uint8)
    images[0, :, 16:] = 200
    images[1, 16:, :] = 200
    descriptors, centres = dense_descriptors(images)
    assert descriptors.shape == (2, 25, 128)
    assert np.allclose(centres[0], (0.25, 0.25)) and np.allclose(centres[-1], (0.75, 0.75))
    by_orientation = descriptors.reshape(2, 25, 16, 8).sum(axis=(1, 2))
    # Brightness grows to the right (0 of 8) in the first, downwards (2 of 8) in the second.
    assert by_orientation[0].argmax() == 0
    assert by_orientation[1].argmax() == 2
    lengths = np.linalg.norm(descriptors, axis=2)
    assert np.allclose(lengths[lengths > 0], 1, atol=1e-5)


def test_codebook_histograms(monkeypatch):
    monkeypatch.setattr(codebook, "N_PATCHES", 200)
    rng = np.random.default_rng(3)
    images = np.array([grating(32, rng.integers(1, 6), a) for a in rng.uniform(0, 3, 12)])
    words = codebook.learn_words(images, 6, 0)
    found = codebook.word_histograms(images, words)
    assert found.shape == (12, 27 * 6) and found.dtype == np.float32
    assert np.allclose(found.reshape(12, 27, 6)[:, :6].sum(axis=2), 1)
    monkeypatch.setattr(codebook, "CHUNK", 5)
    assert np.array_equal(found, codebook.word_histograms(images, words))
    assert np.array_equal(words, codebook.learn_words(images, 6, 0))


def test_codebook_features_are_learnt_from_the_training_images_alone():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 256, size=(5, 1024)).astype(np.uint8)
    others = [rng.integers(0, 256, size=(3, 1024)).astype(np.uint8) for _ in range(2)]
    found = [features.codebook_features(X, other, (32, 32), 0, n_words=4) for other in others]
    assert np.array_equal(found[0][0], found[1][0])
    assert found[0][1].shape == (3, 27 * 4)
