"""Bins that partitions share, from quantiles of each."""

import numpy as np
import pytest

from cwboost.kernels import BinnedMatrix, Bins, FeatureSketch

BINS = 64


@pytest.fixture(params=[1, 4], ids=["one partition", "four partitions"])
def parts(request):
    x = np.random.default_rng(0).normal(size=(12_000, 2)).astype(np.float32)
    return np.array_split(x, request.param)


@pytest.fixture
def bins(parts):
    return Bins.from_sketches([FeatureSketch.of(part, 4 * BINS) for part in parts], BINS)


def test_bins_hold_about_equal_numbers(parts, bins):
    codes = np.hstack([BinnedMatrix(part, bins)._columns for part in parts])
    for of_feature in codes:
        counts = np.bincount(of_feature, minlength=BINS)
        assert counts.min() > 0.6 * counts.mean() and counts.max() < 1.5 * counts.mean()
